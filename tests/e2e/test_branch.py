"""Branches: several continuations of one recorded state, from a command line as users have it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.task_table import read_tasks
from synth.task import Task
from tests.documents import TEXTS
from tests.e2e.command import synth
from tests.e2e.expert_endpoint import Expert, endpoint
from tests.e2e.test_kill import kill_after_progress, start

ERRING = "model.mistakes=[wrong_argument,forgotten_step,stray_write,premature_answer]"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def parents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of an expert that errs in most rollouts; families with users who answer are in it."""
    home = tmp_path_factory.mktemp("branch")
    overrides = ("env=ehr_db", "tasks.count=30", "runtime=inline", "output.dir=run")
    synth("run", *overrides, ERRING, "model.mistake_rate=0.8", cwd=home)
    return home


def rows(path: Path) -> list[dict[str, Any]]:
    with Dataset.open(path) as dataset:
        return [dict(row) for row in dataset.rows()]


def turns_of(row: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """The messages before turn ``count``."""
    places = [n for n, message in enumerate(row["messages"]) if message["role"] == "assistant"]
    return row["messages"][: places[count]]


def branched(home: Path, out: str, *arguments: str) -> list[dict[str, Any]]:
    synth("branch", "run", "--out", out, "runtime=inline", *arguments, cwd=home)
    return rows(home / out)


def test_an_expert_goes_on_from_where_another_erred(parents: Path):
    known = {row["trajectory_id"]: row for row in rows(parents / "run")}
    made = branched(parents, "first", "--samples", "3", ERRING, "model.mistake_rate=0.5")
    failed = {key for key, row in known.items() if row["reward"] < 1}
    groups = Counter((row["parent_id"], row["branch_step"]) for row in made)
    assert set(groups.values()) == {3}
    assert failed <= {parent for parent, _ in groups}
    assert len({row["trajectory_id"] for row in made}) == len(made)
    for row in made:
        parent, step = known[row["parent_id"]], row["branch_step"]
        assert (row["task_id"], row["seed"]) == (parent["task_id"], parent["seed"])
        assert turns_of(row, step) == turns_of(parent, step)
        assert parent["provider_fields"][step]["mistake"]
    assert {0.0, 1.0} <= {row["reward"] for row in made}, "some mend it and some err again"
    assert len({json.dumps(row["messages"]) for row in made}) > len(groups)
    synth("replay", "first", cwd=parents)


def test_pairs_of_branches_begin_in_one_state(parents: Path):
    """A pair is of one turn of one parent, or of the parent and its branch."""
    made = branched(parents, "pairs", "--samples", "2")
    to = ("--to", "trl-dpo", "--keep-submit", "--out", "dpo.parquet")
    synth("export", "run", "pairs", *to, cwd=parents)
    by_prompt = {json.dumps(turns_of(row, row["branch_step"])): row for row in made}
    found = 0
    for pair in pq.ParquetFile(parents / "dpo.parquet").read().to_pylist():
        assert pair["chosen_reward"] > pair["rejected_reward"]
        prompt = [json.loads(message) for message in pair["prompt"]]
        found += json.dumps(prompt) in by_prompt
        assert pair["chosen"][0] != pair["rejected"][0]
    assert found >= 5, "pairs part at the turn that was branched"


def test_branches_at_writes_and_at_a_turn(parents: Path):
    known = {row["trajectory_id"]: row for row in rows(parents / "run")}
    where = ("--where", "reward = 1 and len(events) > 0", "--samples", "1")
    for row in branched(parents, "writes", "--at", "each_write", *where):
        parent = known[row["parent_id"]]
        changed = {entry["id"] for entry in parent["call_changes"]}
        turn = [message for message in parent["messages"] if message["role"] == "assistant"]
        calls = turn[row["branch_step"]]["tool_calls"]
        assert changed & {call["id"] for call in calls}
    whole = branched(parents, "zero", "--at", "0", "--where", "reward < 1", "--samples", "1")
    assert {row["branch_step"] for row in whole} == {0}
    assert all(row["reward"] == 1 for row in whole), "an expert without mistakes begins anew"


def test_each_turn_of_a_rollout_has_a_value(parents: Path):
    where = "reward = 1 and provider_fields::varchar not like '%mistake%'"
    branched(parents, "turns", "--at", "each_turn", "--where", where, "--samples", "1")
    shown = synth("inspect", "run", "turns", "--values", "--json", cwd=parents)
    turns: dict[str, list[int]] = {}
    for step in json.loads(shown.stdout)["steps"]:
        turns.setdefault(step["parent_id"], []).append(step["branch_step"])
        assert (step["value"], step["gain"]) == (1.0, 0.0), "the expert goes on as it began"
    for row in rows(parents / "run"):
        if row["trajectory_id"] in turns:
            assert turns[row["trajectory_id"]] == list(range(row["num_turns"]))
    assert len(turns) >= 3


def test_a_branch_is_branched_again(parents: Path):
    branched(parents, "once", "--samples", "1", ERRING, "model.mistake_rate=1.0")
    first = {row["trajectory_id"]: row for row in rows(parents / "once")}
    done = synth("branch", "once", "--samples", "1", "--out", "twice", cwd=parents, code=None)
    assert done.returncode in {0, 3}, done.stderr
    second = rows(parents / "twice")
    assert second
    assert all(row["parent_id"] in first for row in second)
    synth("replay", "twice", cwd=parents)


def test_a_model_at_an_endpoint_goes_on_from_any_turn(parents: Path):
    """The endpoint keeps no state and is not asked about the turns of the parent."""
    tasks = [Task.from_json(raw) for raw in read_tasks(parents / "run" / "tasks.parquet")]
    expert = Expert(tasks)
    with endpoint(expert) as url:
        model = ("model=openai", "model.name=expert", f"model.base_url={url}")
        model += ("model.api_key_env=null", "preflight=false")
        where = "reward = 1 and provider_fields::varchar not like '%mistake%'"
        made = branched(parents, "http", "--at", "1", "--where", where, *model)
    assert made
    assert all(row["model"] == "expert" and row["reward"] == 1 for row in made)
    assert expert.requests == sum(row["num_turns"] - 1 for row in made)
    assert all(row["input_tokens"] for row in made), "only its own turns cost tokens"
    first = [event for event in made[0]["events"] if event["event"] == "completion"]
    assert "usage" not in first[0]
    assert "usage" in first[1]
    synth("replay", "http", cwd=parents)


def test_a_resume_needs_the_rollouts_that_were_branched(parents: Path, tmp_path: Path):
    shutil.copytree(parents / "run", tmp_path / "run")
    process = start("branch", "run", "--out", "cut", "runtime=inline", cwd=tmp_path)
    kill_after_progress(process, tmp_path / "cut", 1, 0)
    (tmp_path / "run").rename(tmp_path / "moved")
    done = synth("run", "--resume", "cut", cwd=tmp_path, code=2)
    assert "run" in done.stderr
    assert "Traceback" not in done.stderr
    shutil.copytree(parents / "first", tmp_path / "run")
    done = synth("run", "--resume", "cut", cwd=tmp_path, code=2)
    assert "holds other rollouts than it did" in done.stderr
    synth("run", "--resume", "cut", "branch.path=moved", cwd=tmp_path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere",), "nowhere: no such directory"),
        (
            ("run", "--at", "never"),
            "must be first_wrong, each_write, each_turn or the number of a turn",
        ),
        (("run", "--at", "90"), "there is nothing to branch: 30 of 30 rollouts have no turn"),
        (("run", "--where", "reward > 2"), "it has no such row"),
        (("run", "tasks.count=3"), "a branch begins as its recorded run did"),
        (("run", "model=replay", "model.path=run"), "nothing to say after the branch"),
    ],
)
def test_bad_input_is_one_message_and_nothing_is_written(
    parents: Path, arguments: tuple[str, ...], words: str
):
    done = synth("branch", *arguments, "--out", "none", cwd=parents, code=2)
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (parents / "none").exists()


def test_what_cannot_be_branched_is_named(parents: Path):
    """An expert that would not have come there by itself cannot go on from there."""
    where = "reward < 1 and provider_fields::varchar like '%stray_write%'"
    done = synth(
        *("branch", "run", "--at", "5", "--where", where, "--out", "odd", "runtime=inline"),
        cwd=parents,
        code=3,
    )
    # no other rollout is left
    assert "would not have come to turn 5" in done.stdout


def test_branches_cannot_be_played_back_as_a_model(parents: Path):
    branched(parents, "source", "--samples", "2")
    done = synth(
        "run", "model=replay", "model.path=source", "output.dir=again", cwd=parents, code=2
    )
    assert "holds branches" in done.stderr


def test_the_commands_of_the_guide_work(parents: Path, tmp_path: Path):
    shutil.copytree(parents / "run", tmp_path / "out" / "run")
    page = TEXTS["docs/guides/branches.md"]
    lines = [
        line
        for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
        for line in block.replace("\\\n", "").splitlines()
        if line.startswith("synth ")
        and "localhost" not in line
        and not line.startswith("synth run")
    ]
    assert len(lines) >= 5
    for line in lines:
        synth(*shlex.split(line, comments=True)[1:], cwd=tmp_path)
