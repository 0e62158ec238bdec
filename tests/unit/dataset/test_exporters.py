"""Exports of a real run directory, read back with what will read them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from synth.errors import DatasetError, OperatorError
from synth.ext.exporters import find_exporter
from synth.ext.exporters.cli import main
from tests.sample_rows import all_kinds, asks, call, masked, result, row, says, write_run


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(tmp_path):
    return write_run(tmp_path / "ehr", all_kinds())


def lines(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def load(path, cache):
    datasets = pytest.importorskip("datasets")
    return datasets.load_dataset(
        "parquet", data_files=str(path), split="train", cache_dir=str(cache)
    )


@pytest.fixture
def offline(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def test_trl_sft_loads_with_exact_arguments_and_absent_keys(run, tmp_path, capsys, offline):
    """Objects as arguments, no null-filled keys, no private keys; the row with a masked turn is
    left out and told.
    """
    assert main([str(run), "--to", "trl-sft"]) == 0
    loaded = load("ehr.trl-sft.parquet", tmp_path / "cache")
    assert loaded.column_names == ["messages", "tools"]
    assert loaded.to_list() == [{"messages": row(0)["messages"], "tools": row(0)["tools"]}]
    out, err = capsys.readouterr()
    assert out == "1 example from 6 rows, written to ehr.trl-sft.parquet\n"
    assert ": a turn that must not be trained on" in err
    assert ": split test" in err
    assert ": unscored" in err
    assert ": no success: a gate failed" in err


def test_openai_jsonl_is_what_the_service_takes(run, capsys):
    """Arguments are JSON text, unknown keys are gone, a masked turn has weight 0 and is the only
    one with a weight.
    """
    assert main([str(run), "--to", "openai-jsonl", "--out", "new/folder/x.jsonl"]) == 0
    first, second = lines("new/folder/x.jsonl")
    assert first.keys() == {"messages", "tools", "parallel_tool_calls"}
    assert first["tools"] == row(0)["tools"]
    assert first["parallel_tool_calls"] is True
    asked = first["messages"][2]
    assert asked.keys() == {"role", "tool_calls"}
    assert asked["tool_calls"][0]["function"]["arguments"] == '{"name":"O\'Brien"}'
    assert first["messages"][3].keys() == {"role", "tool_call_id", "content"}
    assert first["messages"][-1] == says("Noted: 72 bpm for Zoë O'Brien.")
    assert [message.get("weight") for message in second["messages"]] == [
        None,
        None,
        0,
        None,
        None,
        None,
        None,
    ]
    assert json.loads(second["messages"][2]["tool_calls"][0]["function"]["arguments"]) == {
        "__malformed__": '{"medication_id": 12'
    }


def test_openai_jsonl_ends_with_the_assistant_and_keeps_the_sampling_choice(run):
    """A rollout that ran out of turns ends in a tool result, which the service refuses as a last
    message.
    """
    assert (
        main(
            [
                str(run),
                "--to",
                "openai-jsonl",
                "--min-reward",
                "0.5",
                "--where",
                "stop_reason = 'max_turns'",
            ]
        )
        == 0
    )
    (example,) = lines("ehr.openai-jsonl.jsonl")
    assert example["messages"][-1]["role"] == "assistant"
    assert example["messages"][-1]["tool_calls"][0]["function"]["name"] == "record_vitals"
    assert example["parallel_tool_calls"] is False


def test_openai_jsonl_without_tools_and_without_anything_to_train_on(tmp_path):
    """The service refuses an empty list of tools, and an example whose turns all have weight 0."""
    rows = [
        row(0, messages=[{"role": "user", "content": "a\u2028b"}, says("c\x85d")], tools=[]),
        row(1, messages=[{"role": "user", "content": "a"}, says("b", train=False)]),
        row(2, messages=[{"role": "user", "content": "a"}]),
        row(
            3,
            messages=[
                {"role": "user", "content": "a"},
                asks(call("1", "x"), call("2", "y")),
                result("1", "x", 1),
            ],
        ),
    ]
    assert main([str(write_run(tmp_path / "run", rows)), "--to", "openai-jsonl"]) == 0
    plain, parallel = lines("run.openai-jsonl.jsonl")
    assert plain == {
        "messages": [
            {"role": "user", "content": "a\u2028b"},
            {"role": "assistant", "content": "c\x85d"},
        ]
    }
    assert len(parallel["messages"]) == 2


def compacted():
    """Two rows; in the first, turn 1 was made under a summary of turn 0."""
    opening = [{"role": "user", "content": "Do it."}]
    turns = [
        [asks(call("1", "x")), result("1", "x", 1)],
        [asks(call("2", "y")), result("2", "y", 2)],
        [says("Done.")],
    ]
    recap = [{"role": "user", "content": "Do it. (x gave 1)"}]
    seen = [
        {"first_turn": 0, "last_turn": 1, "messages": [*opening, *turns[0], *turns[1]]},
        {
            "first_turn": 2,
            "last_turn": 2,
            "messages": [*recap, {**turns[1][0], "train": False}, turns[1][1], *turns[2]],
        },
    ]
    return [row(0, messages=[*opening, *turns[0], *turns[1], *turns[2]], segments=seen), row(1)]


def test_segments_train_each_turn_once_under_what_the_model_saw(tmp_path, capsys):
    """Weight 0 for turns that are there as context only; a row that was never compacted is one
    example in both views.
    """
    write_run(tmp_path / "run", compacted())
    assert main(["run", "--to", "openai-jsonl"]) == 0
    assert len(lines("run.openai-jsonl.jsonl")) == 2
    assert ": compacted during the rollout: the model never saw" in capsys.readouterr().err
    assert main(["run", "--to", "openai-jsonl", "--view", "segments", "--force"]) == 0
    first, second, other = lines("run.openai-jsonl.jsonl")
    assert "compacted" not in capsys.readouterr().err
    assert [each.get("weight") for each in first["messages"]] == [None] * 4
    assert first["messages"][-1]["tool_calls"][0]["id"] == "2"
    assert second["messages"][0]["content"] == "Do it. (x gave 1)"
    assert [(each["role"], each.get("weight")) for each in second["messages"]] == [
        ("user", None), ("assistant", 0), ("tool", None), ("assistant", None)
    ]  # fmt: skip
    assert other["messages"][-1]["content"] == row(1)["messages"][-1]["content"]


def test_trl_trains_segments_as_prompt_and_completion(tmp_path, offline):
    """What comes before a stretch of turns is its prompt, so a turn that must not be trained on
    costs no row.
    """
    write_run(tmp_path / "run", [*compacted(), masked(2)])
    assert main(["run", "--to", "trl-sft", "--view", "segments"]) == 0
    loaded = load("run.trl-sft.parquet", tmp_path / "cache")
    assert loaded.column_names == ["prompt", "completion", "tools"]
    first, second, plain, after = loaded.to_list()
    assert [each["role"] for each in first["completion"]] == ["assistant", "tool", "assistant"]
    assert [each["role"] for each in second["prompt"]] == ["user", "assistant", "tool"]
    assert second["completion"] == [says("Done.")]
    assert plain["prompt"] + plain["completion"] == row(1)["messages"]
    assert after["prompt"][-1]["role"] == "tool"
    assert any(each.get("train") is False for each in after["prompt"])
    assert not any(each.get("train") is False for each in after["completion"])


def test_an_exporter_says_which_views_it_knows(run, tmp_path, monkeypatch):
    (tmp_path / "plain_exporter.py").write_text(
        "from synth.ext.exporters import Exporter\n"
        "class Plain(Exporter):\n    name, description, suffix = 'plain', 'x', '.txt'\n"
        "    def rows(self, rows): return iter(())\n    def write(self, examples, out): return 0\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(OperatorError, match="--view: plain knows full, not segments"):
        main([str(run), "--to", "plain_exporter:Plain", "--view", "segments"])


def test_all_takes_every_scored_row_but_never_an_unscored_one(run):
    assert main([str(run), "--to", "openai-jsonl", "--all"]) == 0
    assert len(lines("ehr.openai-jsonl.jsonl")) == 4


def test_another_split_is_asked_for_by_name(run, capsys):
    assert main([str(run), "--to", "trl-sft", "--split", "test", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report == {
        "exporter": "trl-sft",
        "out": "ehr.trl-sft.parquet",
        "examples": 1,
        "matched": 6,
        "account": report["account"],
        "remark": report["remark"],
    }
    assert "SFTConfig(max_length=1024)" in report["remark"]
    assert report["account"]["counts"]["row"] == {
        "found": 6,
        "used": 1,
        "changed": 0,
        "left_out": 5,
    }
    assert {(each["outcome"], each["why"]) for each in report["account"]["entries"]} == {
        ("left_out", "split train")
    }


def test_nothing_to_export_is_an_error_that_says_why_and_writes_nothing(run, tmp_path):
    with pytest.raises(
        OperatorError, match=r"(?s)nothing to export: 1 rows match.*a gate failed.*--min-reward"
    ):
        main([str(run), "--to", "trl-sft", "--where", "stop_reason = 'max_turns'"])
    with pytest.raises(OperatorError, match="no row matches"):
        main([str(run), "--to", "trl-sft", "--where", "false"])
    assert [path.name for path in tmp_path.iterdir()] == ["ehr"]


def test_an_existing_file_is_replaced_by_force_only(run, tmp_path):
    target = tmp_path / "x.jsonl"
    target.write_text("mine")
    arguments = [str(run), "--to", "openai-jsonl", "--out", str(target)]
    with pytest.raises(OperatorError, match="--force replaces it"):
        main(arguments)
    assert target.read_text() == "mine"
    assert main([*arguments, "--force"]) == 0
    assert len(lines(target)) == 2


@pytest.mark.parametrize(
    "inside", ["data/more.parquet", "data", "errors.parquet", "manifest.json", "world/x"]
)
def test_the_dataset_itself_is_never_written_to(run, inside):
    """Not even by force: load_dataset would take a file in data/ for a shard."""
    with pytest.raises(OperatorError, match="choose another --out"):
        main([str(run), "--to", "trl-sft", "--out", str(run / inside), "--force"])


def test_standard_output_has_the_lines_and_nothing_else(run, tmp_path, capsys):
    assert main([str(run), "--to", "trl-sft", "--out", "-"]) == 0
    out, err = capsys.readouterr()
    assert [set(json.loads(line)) for line in out.splitlines()] == [{"messages", "tools"}]
    assert ", written to -\n" in err
    assert [path.name for path in tmp_path.iterdir()] == ["ehr"]


def test_a_folder_is_given_the_file_under_its_usual_name(run, tmp_path):
    (tmp_path / "there").mkdir()
    assert main([str(run), "--to", "trl-sft", "--out", "there"]) == 0
    assert (tmp_path / "there" / "ehr.trl-sft.parquet").is_file()


def test_a_folder_that_cannot_be_written_is_named(run, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OperatorError, match=r"cannot write file/x\.parquet"):
        main([str(run), "--to", "trl-sft", "--out", "file/x.parquet"])


def test_a_failed_export_leaves_nothing_behind(run, tmp_path, monkeypatch):
    """An exporter that breaks half-way: no file, no temporary one."""
    (tmp_path / "breaks.py").write_text(
        "from synth.ext.exporters.chat_lines import OpenAIJsonl\n"
        "class Breaks(OpenAIJsonl):\n"
        "    def rows(self, rows):\n"
        "        yield next(super().rows(rows))\n"
        "        raise ValueError('half-way')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "there").mkdir()
    for out in ("x.jsonl", "new/folder/x.jsonl", "there/new/x.jsonl"):
        with pytest.raises(ValueError, match="half-way"):
            main([str(run), "--to", "breaks:Breaks", "--out", out])
    assert not (tmp_path / "new").exists()
    assert not list((tmp_path / "there").iterdir()), "and what was there stays"
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["breaks.py"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("trl-stf", "did you mean trl-sft?"),
        ("nothing-like-it", "openai-jsonl"),
        ("no_such_module:X", "PYTHONPATH"),
        ("json:dumps", "must name a subclass"),
        ("json:Nothing", "json has no attribute 'Nothing'"),
        (":X", "not of the form package.module:attribute"),
    ],
)
def test_a_target_that_is_none_is_one_clear_message(name, words):
    with pytest.raises(OperatorError) as caught:
        find_exporter(name)
    assert words in str(caught.value)


def test_a_module_that_breaks_on_import_is_told_in_its_own_words(tmp_path, monkeypatch):
    (tmp_path / "broken_module.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(OperatorError, match=r"importing 'broken_module' failed: ZeroDivisionError"):
        find_exporter("broken_module:X")
    sys.modules.pop("broken_module", None)


def test_a_partial_dataset_is_exported_with_a_notice(tmp_path, capsys):
    run = write_run(tmp_path / "ehr", [row(0)], jobs=2, status="partial")
    assert main([str(run), "--to", "trl-sft"]) == 0
    assert "note: this run is partial: the rows so far are exported" in capsys.readouterr().err


def test_a_wrong_condition_is_the_readers_error(run):
    with pytest.raises(DatasetError, match="no_such_column"):
        main([str(run), "--to", "trl-sft", "--where", "no_such_column = 1"])


def test_a_success_whose_weighted_scores_are_low_is_exported(tmp_path, capsys, offline):
    """A world's @reward shades the reward of a success; it does not make a failure of it."""
    shaded = write_run(tmp_path / "shaded", [row(0, reward=0.9, outcome="success")])
    assert main([str(shaded), "--to", "trl-sft"]) == 0
    assert capsys.readouterr().out.startswith("1 example from 1 rows")
    with pytest.raises(OperatorError, match="1 reward below 1"):
        main([str(shaded), "--to", "trl-sft", "--min-reward", "1.0", "--force"])


def test_min_reward_is_a_number(run):
    with pytest.raises(OperatorError, match="--min-reward"):
        main([str(run), "--to", "trl-sft", "--min-reward", "nan"])


def test_many_rows_stay_in_order(tmp_path, offline):
    """More than one row group."""
    rows = [
        row(at, messages=[{"role": "user", "content": str(at)}, says("ok")]) for at in range(600)
    ]
    assert main([str(write_run(tmp_path / "run", rows)), "--to", "trl-sft"]) == 0
    loaded = load("run.trl-sft.parquet", tmp_path / "cache")
    assert [messages[0]["content"] for messages in loaded["messages"]] == [
        str(at) for at in range(600)
    ]
