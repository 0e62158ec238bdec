"""Text-to-SQL questions through the real loop: over HTTP, many at a time, with an analyst that errs
as models do.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from synth.config import from_dict
from synth.core.dataset.reader import Dataset
from synth.prepare import prepare
from synth.task import Task
from tests.bird_folder import ASKED, bird_folder
from tests.e2e.analyst import FAILING, KINDS, Analyst, kind_of, spoilt
from tests.e2e.command import stable_rows, synth
from tests.e2e.expert_endpoint import endpoint
from tests.e2e.handing_in import handing_in


def planned(world: Path, count: int) -> list[Task]:
    run = prepare(
        from_dict({"env": {"path": str(world)}, "tasks": {"count": count, "universes": 2}})
    )
    return [run.plan.task(at) for at in range(run.plan.tasks)]


LOW = (
    "agent.middleware=[compaction,offload]",
    "agent.compaction.threshold_tokens=300",
    "agent.compaction.keep_turns=1",
    "agent.offload.max_chars=200",
    "agent.offload.head_chars=60",
    "agent.offload.tail_chars=20",
)


def played(home: Path, count: int) -> tuple[list[Task], Analyst]:
    """Have the analyst answer the questions, 64 at a time."""
    world = handing_in(home / "worlds")
    tasks = planned(world, count)
    analyst = Analyst(tasks)
    with endpoint(analyst) as url:
        synth(
            "run",
            f"env.path={world}",
            f"tasks.count={count}",
            "tasks.universes=2",
            "model=openai",
            "model.name=expert",
            f"model.base_url={url}",
            "model.api_key_env=null",
            "runtime=inline",
            "runtime.concurrency=64",
            "agent.error_style=advice",
            "output.dir=asked",
            *LOW,
            cwd=home,
            timeout=3000,
        )
    return tasks, analyst


def check(home: Path, tasks: list[Task], analyst: Analyst) -> None:
    by_id = {task.id: task for task in tasks}
    with Dataset.open(home / "asked") as dataset:
        rows = list(dataset.rows())
        assert dataset.status == "complete"
        assert dataset.errors() == []
    assert len(rows) == len(tasks)
    assert {row["stop_reason"] for row in rows} == {"user_ended"}
    kinds: Counter[str] = Counter()
    for row in rows:
        kind = kind_of(by_id[row["task_id"]])
        kinds[kind] += 1
        assert row["reward"] == (0.0 if kind in FAILING else 1.0), (
            kind,
            row["task_id"],
            row["verdicts"],
        )
        _check_mistake(row, by_id[row["task_id"]], kind)
    assert analyst.advised > 9 * analyst.lost
    scores = json.loads(synth("inspect", "asked", "--json", cwd=home).stdout)["sql"]
    levels = [level for level in scores if "difficulty" in level]
    assert [level["difficulty"] for level in levels] == ["simple", "moderate", "challenging", "all"]
    families = [level for level in scores if "family" in level]
    assert {level["family"] for level in families} == {row["family"] for row in rows}
    for parts in (levels[:-1], families):
        assert sum(level["questions"] for level in parts) == scores[-1]["questions"] == len(rows)
    assert scores[-1]["validated"] >= scores[-1]["execution_accuracy"]
    right = sum(count for kind, count in kinds.items() if kind not in FAILING)
    assert scores[-1]["suite_accuracy"] == pytest.approx(right / len(rows))
    assert scores[-1]["f1"] >= scores[-1]["suite_accuracy"] - 1e-9
    manifest = json.loads((home / "asked" / "manifest.json").read_text("utf-8"))
    assert manifest["counts"]["sql"] == scores


def _check_mistake(row: dict[str, object], task: Task, kind: str) -> None:
    """The transcript shows the mistake, what was said of it, and that the analyst went on."""
    categories = row["error_categories"]
    gate = task.gates[1].options["query"]
    if kind == "malformed call":
        assert categories == ["malformed_call"]
    elif kind == "unknown tool":
        assert categories == ["unknown_tool"]
    elif kind in {"wrong column", "wrong table"} and spoilt(gate, kind) != gate:
        assert categories == [
            "column_not_found" if kind == "wrong column" else "table_not_found"
        ], gate
        results = [json.dumps(each) for each in row["events"] if each["event"] == "tool_result"]  # type: ignore[union-attr]
        assert any("did you mean" in each for each in results)
    else:
        assert categories == []


@pytest.mark.parametrize("count", [130, pytest.param(500, marks=pytest.mark.long)])
def test_questions_of_every_family_in_contexts_cut_short(tmp_path: Path, count: int):
    """Over two databases, with each kind of mistake, turns summarised and results put aside on most
    rollouts; no rollout is lost.
    """
    tasks, analyst = played(tmp_path, count)
    assert len({(task.universe, task.prompt) for task in tasks}) == count
    assert len({task.family for task in tasks}) == 65
    assert {kind_of(task) for task in tasks} == {*KINDS, "right"}
    check(tmp_path, tasks, analyst)
    rows = stable_rows(tmp_path / "asked")
    compacted = [any(each["event"] == "compaction" for each in row["events"]) for row in rows]
    put_aside = [any("offloaded" in each for each in row["events"]) for row in rows]
    assert sum(compacted) > 0.9 * count
    assert sum(put_aside) > 0.9 * count
    assert analyst.summaries >= sum(compacted)
    assert analyst.read >= sum(put_aside)


def test_birds_questions(tmp_path: Path):
    """The expert answers each; what cannot be asked is told, and a replay finds the same
    answers.
    """
    bird_folder(tmp_path / "bird")
    job = (
        "run",
        "tasks=bird",
        "tasks.path=bird",
        f"tasks.count={len(ASKED)}",
        "runtime=inline",
        "output.dir=out",
    )
    done = synth(*job, cwd=tmp_path)
    assert "questions: 26 of 30 used" in done.stderr
    rows = stable_rows(tmp_path / "out")
    assert [row["reward"] for row in rows] == [1.0] * len(ASKED)
    assert {row["family"]: row["universe"] for row in rows} == {
        "california_schools": 0,
        "card_games": 1,
        "formula_1": 2,
    }
    synth("replay", "out", cwd=tmp_path)
    scores = json.loads(synth("inspect", "out", "--json", cwd=tmp_path).stdout)["sql"]
    levels = [level for level in scores if "difficulty" in level]
    assert {level["family"] for level in scores if "family" in level} == {
        row["family"] for row in rows
    }
    assert [(level["difficulty"], level["questions"]) for level in levels] == [
        ("simple", 14),
        ("moderate", 8),
        ("challenging", 2),
        ("unrated", 2),
        ("all", 26),
    ]
