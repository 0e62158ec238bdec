"""Figures of variety, counted by hand, and where they stand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import synth
from synth.core.config.compose import compose
from synth.core.dataset.store.manifest import read_manifest
from synth.core.dataset.store.task_table import TaskTable, read_prompts, write_tasks
from synth.core.dataset.variety import Variety, variety_table
from synth.core.report.summary import summarize
from synth.core.types.difficulty import difficulty, work
from synth.prepare import prepare
from tests.sample_rows import asks, call, row, says, user, write_run

LONG = "Please look up the last visit of {} and tell me whether it was paid in full and by whom"


def turns(said: str, *calls: tuple[str, int], more: int = 0) -> list[dict[str, object]]:
    made = [asks(call(f"c{place}", name, x=value)) for place, (name, value) in enumerate(calls)]
    return [user(said), *made, *[user("yes")] * more, says("Done.")]


def counted(rows: list[tuple[str, list[dict[str, object]]]]) -> dict[str, object]:
    variety = Variety()
    for task, messages in rows:
        variety.add(task, messages)
    return variety.to_json()


def test_requests_are_counted_once_for_each_task():
    figures = counted(
        [
            ("a", turns(LONG.format("Ann"))),
            ("a", turns(LONG.format("Ann"))),  # another sample
            ("b", turns(LONG.format("Ann").upper())),  # the same words
            ("c", turns(LONG.format("Bo"))),  # one word in the middle: 14 of 20 shingles
            ("d", turns("Stop the warfarin.")),
        ]
    )
    assert figures["tasks"] == 4
    assert figures["requests"] == {
        "distinct": 3,
        "near_duplicates": 1,
        "near_duplicate_share": 0.25,
    }
    assert figures["wordings"] is None  # nothing is known about slots


def test_a_word_changed_at_the_end_is_a_near_duplicate():
    figures = counted([("a", turns(LONG.format("Ann"))), ("b", turns(f"{LONG.format('Ann')} now"))])
    assert figures["requests"]["near_duplicates"] == 1  # pyright: ignore


def test_sequences_steps_and_turns_are_counted_for_each_row():
    figures = counted(
        [
            ("a", turns("One.", ("find", 1), ("stop", 2))),
            ("a", turns("One.", ("find", 1), ("stop", 3), more=2)),
            ("b", turns("Two.", ("find", 1), ("stop", 2))),
            ("c", turns("Three.")),
        ]
    )
    assert figures["tool_sequences"] == 2
    assert figures["tool_sequences_with_arguments"] == 3
    assert figures["tool_calls"] == {"0": 1, "2": 3}
    assert figures["user_turns"] == {"1": 3, "3": 1}


def test_distinct_n_is_the_share_of_distinct_runs_of_words():
    figures = counted([("a", turns("a b a b")), ("b", turns("a b"))])
    assert figures["distinct_2"] == pytest.approx(2 / 4)  # ab, ba, ab; ab
    assert figures["distinct_3"] == pytest.approx(2 / 2)
    empty = counted([])
    assert empty["distinct_2"] is None
    assert variety_table(empty) == []


def test_a_composed_task_counts_for_the_family_of_each_request():
    variety = Variety()
    families = ["lend+renew", "renew+stock", "stock"]
    for number, family in enumerate(families):
        for _ in range(2):  # two samples of a task
            variety.add(f"t{number}", turns("One."), family, "library")
    found = variety.to_json()["families"]
    assert found == {
        "distinct": 3,
        "largest": "renew",
        "largest_tasks": 2,
        "largest_share": pytest.approx(2 / 3),
    }
    variety.add("t9", turns("Two."), "lend", "shop")  # a family of another world
    found = variety.to_json()["families"]
    assert (found["distinct"], found["largest"]) == (4, "library/renew")
    assert ("families of requests", "4, the largest library/renew (50.0% of the tasks)") in (
        variety_table(variety.to_json())
    )


def test_difficulty_is_that_of_the_plan_as_a_whole_and_by_kind(tmp_path: Path):
    run = tmp_path / "run"
    options = [
        "env=ehr_db",
        "tasks.families=[recall_if_above,pulse_then_appointment]",
        "tasks.count=6",
    ]
    planned = prepare(compose([*options, "tasks.compose={2: 0.5}"])[0].config).plan
    synth.run([*options, "tasks.compose={2: 0.5}", "runtime=inline", f"output.dir={run}"])
    asked = [planned.task(index) for index in range(6)]
    figures = read_manifest(run)["variety"]
    levels = Counter(str(difficulty(task)) for task in asked)
    assert figures["difficulty"] == dict(sorted(levels.items(), key=lambda item: int(item[0])))
    turns = Counter(str(work(task.gold)["turns"]) for task in asked)
    assert figures["work"]["turns"] == dict(sorted(turns.items()))
    assert figures["work"]["branches"].keys() != {"0"}  # which a proof has taken out of gold
    names = dict(variety_table(figures))
    assert names["difficulty of a task"].startswith(f"{min(map(int, levels))} to ")
    assert "difficulty: conditions" in names
    assert "difficulty: query clauses" not in names


def test_difficulty_of_a_run_without_it_is_read_off_its_gold(tmp_path: Path):
    run = tmp_path / "run"
    synth.run(["env=library", "tasks.count=9", "runtime=inline", f"output.dir={run}"])
    rows = list(TaskTable(run / "tasks.parquet").rows())
    for one in rows:
        del one["checks"]["end"]["work"]
    write_tasks(run / "tasks.parquet", rows)
    assert summarize(synth.load(run))["variety"] == read_manifest(run)["variety"]


def test_messages_as_json_count_as_their_values(tmp_path: Path):
    sample = row(0)["messages"]
    texts = [json.dumps(message, separators=(",", ":")) for message in sample]
    assert counted([("a", sample)]) == counted([("a", texts)])  # pyright: ignore


def test_a_run_has_the_same_figures_in_manifest_card_and_inspect(tmp_path: Path):
    run = tmp_path / "run"
    synth.run(
        ["env=library", "tasks.count=24", "tasks.samples=2", "runtime=inline", f"output.dir={run}"]
    )
    figures = read_manifest(run)["variety"]
    assert summarize(synth.load(run))["variety"] == figures
    assert (figures["tasks"], figures["rows"]) == (24, 48)
    prompts = read_prompts(run / "tasks.parquet").values()
    assert figures["requests"]["distinct"] == len(set(prompts))
    assert 0 < figures["wordings"]["distinct"] < figures["requests"]["distinct"]
    assert 0 < figures["entities"] <= 24
    card = (run / "README.md").read_text("utf-8")
    for name, value in variety_table(figures):
        assert f"| {name} | {value} |" in card


@pytest.mark.parametrize("foreign", [True, False])
def test_a_damaged_or_foreign_table_of_tasks_hides_only_what_is_in_it(
    tmp_path: Path, *, foreign: bool
):
    run = write_run(tmp_path / "run", [row(0)])
    (run / "tasks.parquet").write_bytes(b"no parquet")
    if foreign:
        pq.write_table(pa.table({"task_id": ["7a5c0000"]}), run / "tasks.parquet")
    figures = summarize(synth.load(run))["variety"]
    assert figures["requests"]["distinct"] == 1
    assert figures["wordings"] is None
