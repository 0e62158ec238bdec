"""The main job through real Ray, and the same inline: plan, rows, files, replay."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from synth.core.dataset.reader import Dataset
from tests.e2e.command import stable_rows, synth
from tests.e2e.test_audit import assert_a_line_each, lines
from tests.e2e.test_executions import assert_true

JOB = (
    *("run", "tasks.count=48", "tasks.samples=2", "seed=7", "output.rows_per_shard=40"),
    *("tasks.universes=2", "database.audit=true"),
)
"""A task of each of the 48 families, since families take turns."""

ROWS = 96


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same job with two Ray workers, and inline."""
    home = tmp_path_factory.mktemp("runs")
    ways = {"two": ("runtime.workers=2",), "inline": ("runtime=inline",)}
    for name, options in ways.items():
        done = synth(*JOB, *options, f"output.dir={name}", cwd=home)
        assert "next: synth inspect" in done.stdout
    return {name: home / name for name in ways}


@pytest.mark.ray
def test_every_planned_job_is_there_once_with_full_reward(runs: dict[str, Path]):
    rows = stable_rows(runs["two"])
    assert [row["job_index"] for row in rows] == list(range(ROWS))
    assert len({row["trajectory_id"] for row in rows}) == ROWS
    assert {row["reward"] for row in rows} == {1.0}
    assert {(row["stop_reason"], row["user_model"]) for row in rows} == {("user_ended", "scripted")}


@pytest.mark.ray
def test_rows_do_not_depend_on_the_runtime(runs: dict[str, Path]):
    """Workers build the universes that they need."""
    assert stable_rows(runs["two"]) == stable_rows(runs["inline"])


@pytest.mark.ray
def test_metrics_of_workers_merge_and_each_audits_its_calls(runs: dict[str, Path]):
    assert_true(runs["two"])
    audited = lines(runs["two"])
    assert_a_line_each(runs["two"], audited)
    files = list((runs["two"] / "logs").glob("audit-*.jsonl"))
    assert len(files) == len({line["worker"] for line in audited})


@pytest.mark.ray
def test_the_manifest_counts_what_is_there(runs: dict[str, Path]):
    manifest = json.loads((runs["two"] / "manifest.json").read_text())
    assert manifest["status"] == "complete"
    assert manifest["counts"]["rows"] == ROWS
    shards = sorted((runs["two"] / "data").glob("*.parquet"))
    assert [each.name for each in shards] == [f"train-{k:05d}-of-00003.parquet" for k in range(3)]
    assert sum(pq.read_metadata(each).num_rows for each in shards) == ROWS
    assert not (runs["two"] / ".synth").exists()


@pytest.mark.ray
def test_datasets_reads_arguments_as_exact_objects(
    runs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    import datasets

    loaded = datasets.load_dataset(str(runs["two"]), cache_dir=str(tmp_path / "cache"))["train"]
    assert len(loaded) == ROWS
    for row in loaded:
        for message in row["messages"]:
            assert isinstance(message["content"], str)
            assert all(value is not None for value in message.values())
            for call in message.get("tool_calls", []):
                assert isinstance(call["function"]["arguments"], dict)
                assert None not in call["function"]["arguments"].values()


@pytest.mark.ray
def test_replay_finds_everything_identical(runs: dict[str, Path]):
    done = synth("replay", str(runs["two"]), "--json", cwd=runs["two"])
    report = json.loads(done.stdout)
    assert report["identical"]
    assert report["trajectories"] == ROWS
    assert report["tool_calls"] > ROWS


def test_replay_names_one_altered_tool_result(tmp_path: Path):
    synth("run", "tasks.count=12", "runtime=inline", "output.dir=run", cwd=tmp_path)
    shard = next((tmp_path / "run" / "data").glob("*.parquet"))
    table = pq.read_table(shard)
    messages = table.column("messages").to_pylist()
    altered = next(at for at, text in enumerate(messages[5]) if json.loads(text)["role"] == "tool")
    message = json.loads(messages[5][altered])
    messages[5][altered] = json.dumps({**message, "content": message["content"] + " "})
    column = pa.array(messages, type=pa.list_(pa.string())).cast(
        table.schema.field("messages").type
    )
    pq.write_table(
        table.set_column(
            table.schema.get_field_index("messages"), table.schema.field("messages"), column
        ),
        shard,
    )
    done = synth("replay", "run", cwd=tmp_path, code=1)
    assert table.column("trajectory_id")[5].as_py() in done.stdout
    assert message["tool_call_id"] in done.stdout
    assert message["name"] in done.stdout


@pytest.mark.ray
def test_the_directory_is_complete_and_holds_no_path_or_key_of_the_machine(runs: dict[str, Path]):
    names = {each.name for each in runs["two"].iterdir()}
    assert {"README.md", "data", "tasks.parquet", "world", "config.yaml", "manifest.json"} <= names
    assert len(list((runs["two"] / "world").glob("*.tar.zst"))) == 1
    assert pq.read_metadata(runs["two"] / "tasks.parquet").num_rows == 48


@pytest.mark.parametrize("world", ["ehr_db", "shop"])
def test_nobody_says_done_who_changed_nothing(world: str, tmp_path: Path):
    """Issue 38: the expert said "Done." after a refusal."""
    job = (f"env={world}", "tasks.count=60", "runtime=inline", "output.dir=run")
    synth("run", *job, cwd=tmp_path)
    last = [
        next(one["content"] for one in reversed(row["messages"]) if one["role"] == "assistant")
        for row in Dataset.open(tmp_path / "run").rows(["messages", "state_diff"])
        if not row["state_diff"]
    ]
    assert len(last) > 5
    assert not [text for text in last if text.startswith(("Done", "All done", "That is done"))]
