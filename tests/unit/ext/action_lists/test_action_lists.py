"""A list of 22 tasks about a service desk: the ten sound ones are completed and proved, and each
planted mistake is found and named.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from envs.world.loader import load_world
from synth.core.types.steps import AskStep, CallStep, ConfirmStep, FollowUpStep, ReplyStep
from synth.core.validation.check import Options
from synth.errors import OperatorError, TaskError
from synth.ext.action_lists.cli import ListReport, check_list
from synth.ext.action_lists.entries import Kind
from synth.ext.action_lists.tasks import (
    ActionListOptions,
    ActionListSource,
    ListSettings,
    ListTasks,
    list_tasks,
)
from synth.task import Task
from synth.testing import TaskSourceConformance

WORLD = Path(__file__).parent / "desk"
LIST = Path(__file__).parent / "desk_tasks.json"

SOUND = {
    "exchange", "exchange-without-reads", "cancel-and-address", "return-all", "address",
    "count", "sum", "price", "handover", "refusal",
}  # fmt: skip
MISTAKES = {
    "unknown-tool": (Kind.UNKNOWN_TOOL, "Did you mean cancel_pending_order?"),
    "wrong-name": (Kind.WRONG_ARGUMENTS, "unknown argument 'order'"),
    "wrong-type": (Kind.WRONG_ARGUMENTS, "is not of type 'array'"),
    "no-such-id": (Kind.FAILS_ON_DATA, "gold call 2 (cancel_pending_order)"),
    "refused": (Kind.FAILS_ON_DATA, "Order #D4401 is delivered, not pending"),
    "unsupported": (Kind.UNSUPPORTED_OUTPUT, "'977.13'"),
    "unknowable": (Kind.UNKNOWABLE_VALUE, "order_id='#D4406'"),
    "unknown-words": (Kind.UNKNOWABLE_VALUE, "street='77 Elm Court'"),
    "no-change": (Kind.NO_CHANGE, "no row differs"),
    "nothing": (Kind.NOTHING_TO_JUDGE, "does nothing would earn"),
    "price": (Kind.DUPLICATE_ID, "stands there twice"),
    "odd": (Kind.UNREADABLE, "its fields are id, prompt, tools"),
}


def opened(path: Path, consent: Any = "auto") -> ListTasks:
    world = load_world(WORLD)
    with world.template() as template:
        return ActionListSource(ActionListOptions(str(path), consent)).open(world, template)


def tasks_of(pool: ListTasks) -> Iterator[Task]:
    for family in pool.families:
        for index in range(pool.capacity(family.id)):
            yield pool.task(family.id, index, 0)


@pytest.fixture(scope="module")
def pool() -> ListTasks:
    return opened(LIST)


@pytest.fixture(scope="module")
def tasks(pool: ListTasks) -> dict[str, Task]:
    return {str(task.slots["task_id"]): task for task in tasks_of(pool)}


def words(task: Task) -> list[str]:
    """The steps of gold in short."""
    return [step.tool if isinstance(step, CallStep) else step.do for step in task.gold]


def test_the_sound_tasks_are_kept_and_no_others(tasks: dict[str, Task]):
    assert set(tasks) == SOUND


@pytest.mark.parametrize("name", MISTAKES)
def test_a_planted_mistake_is_named(pool: ListTasks, name: str):
    (found,) = [item for item in pool.refused if item.id == name]
    kind, part = MISTAKES[name]
    assert found.kind == kind
    assert part in found.reason


def test_what_is_left_out_is_counted_by_kind(pool: ListTasks):
    pool.account.check()
    assert pool.account.count("task", "left out") == len(MISTAKES)
    reasons = [one.why for one in pool.account.entries]
    assert sum("calls a tool with wrong arguments" in why for why in reasons) == 2


def test_reads_stand_before_the_call_that_needs_them(tasks: dict[str, Task]):
    assert words(tasks["exchange-without-reads"]) == [
        "ask",
        "find_user_id_by_name_zip",
        "get_order_details",
        "get_product_details",
        "get_user_details",
        "confirm",
        "exchange_delivered_order_items",
        "say",
    ]


def test_a_value_that_the_user_knows_is_asked_for(tasks: dict[str, Task]):
    asks = [step.topics for step in tasks["exchange"].gold if isinstance(step, AskStep)]
    assert asks == [["identity"], ["wishes"]]


def test_a_second_request_comes_when_the_first_is_done(tasks: dict[str, Task]):
    task = tasks["cancel-and-address"]
    steps = list(task.gold)
    place = next(index for index, step in enumerate(steps) if isinstance(step, FollowUpStep))
    assert isinstance(steps[place - 1], ReplyStep)
    assert "88 High Street" not in task.prompt
    assert "88 High Street" in task.role.then[0].says


def test_a_hand_over_is_required_by_a_gate(tasks: dict[str, Task]):
    gate = tasks["handover"].gate("required_calls")
    assert gate is not None
    assert gate.options == ["transfer_to_human_agents"]


def test_a_list_of_reads_wants_a_refusal_that_names_what_was_read(tasks: dict[str, Task]):
    gate = tasks["refusal"].gate("required_calls")
    assert gate is not None
    assert gate.options == ["get_order_details"]
    assert tasks["refusal"].gold[-1].text == "Unfortunately I cannot do that for #D4401."


def test_consent_is_asked_for_as_the_option_says(tasks: dict[str, Task], tmp_path: Path):
    assert any(isinstance(step, ConfirmStep) for step in tasks["address"].gold)
    one = [item for item in json.loads(LIST.read_text("utf-8")) if item["id"] == "address"]
    path = tmp_path / "one.json"
    path.write_text(json.dumps(one), "utf-8")
    (task,) = tasks_of(opened(path, "never"))
    assert "confirm" not in words(task)
    assert not task.role.every_consent


@pytest.mark.slow
def test_a_read_that_fails_is_left_out_of_gold_and_named(tmp_path: Path):
    (one,) = [item for item in json.loads(LIST.read_text("utf-8")) if item["id"] == "address"]
    look = {"name": "get_order_details", "arguments": {"order_id": "#D9999"}}
    path = tmp_path / "one.json"
    path.write_text(json.dumps([{**one, "actions": [look, *one["actions"]]}]), "utf-8")
    (task,) = tasks_of(opened(path))
    looks = [step.arguments for step in task.gold if isinstance(step, CallStep)]
    assert {"order_id": "#D9999"} not in looks
    report = check_list(WORLD, ListSettings.of(str(path), "auto"), Options(), lambda _: None)
    (finding,) = report.findings
    assert (finding.kind, report.useless_reads) == (None, 1)
    assert "gold call 1 (get_order_details) fails on the data" in finding.useless_reads[0]


def test_a_list_without_a_sound_task_is_refused(tmp_path: Path):
    path = tmp_path / "bad.json"
    path.write_text('[{"id": "x", "instruction": "Hello.", "actions": [{"name": "gone"}]}]')
    with pytest.raises(TaskError, match="no task of the list proves itself in desk; the first"):
        opened(path)
    with pytest.raises(OperatorError, match="file not found"):
        opened(tmp_path / "none.json")


LEND = {"id": "both", "instruction": "You are Ada Kern. You want to borrow Solaris and Ubik."}
SOLARIS = {"name": "lend", "arguments": {"member_id": 21, "book_id": 34}}
UBIK = {"name": "lend", "arguments": {"member_id": 21, "book_id": 35}}
LOOK = {"name": "find_book", "arguments": {"title": "Ubik"}}


def left_out(entries: list[dict[str, Any]], tmp_path: Path) -> dict[str, Kind]:
    """The entries of a list of the library that are left out."""
    path = tmp_path / "list.json"
    path.write_text(json.dumps(entries), "utf-8")
    world = load_world(Path(__file__).parents[4] / "examples/library")
    with world.template() as template:
        found = list_tasks(ListSettings.of(str(path), "auto"), world, template, None, 0)
    return {item.id: item.kind for item in found.refused}


def test_a_gold_that_does_a_part_of_what_is_named_is_left_out(tmp_path: Path):
    entries = [
        {**LEND, "actions": [SOLARIS]},
        {**LEND, "id": "whole", "actions": [SOLARIS, UBIK]},
        {**LEND, "id": "seen", "actions": [LOOK, SOLARIS]},
    ]
    assert left_out(entries[:1], tmp_path) == {"both": Kind.HALF_DONE}
    assert left_out(entries[1:2], tmp_path) == left_out(entries[2:], tmp_path) == {}


def test_tasks_of_the_same_words_that_expect_another_gold_are_left_out(tmp_path: Path):
    said = "You are Ada Kern. You want to keep your book until April 20th."
    entries = [
        {"id": name, "instruction": said, "actions": [{"name": "renew", "arguments": arguments}]}
        for name, arguments in (
            ("first", {"loan_id": 41, "due": "2026-04-20"}),
            ("again", {"due": "2026-04-20", "loan_id": 41}),
            ("second", {"loan_id": 42, "due": "2026-04-20"}),
        )
    ]
    entries[1]["instruction"] = f"{said} ".upper().replace("ADA KERN", "Ada Kern")
    assert left_out(entries[:2], tmp_path) == {}
    assert left_out(entries, tmp_path) == dict.fromkeys(
        ("first", "again", "second"), Kind.OTHER_GOLD
    )


def test_a_date_that_nobody_named_is_no_subtraction(tmp_path: Path):
    renew = {"name": "renew", "arguments": {"loan_id": 43, "due": "2026-04-12"}}
    said = "You are Ben O'Hara. You want to keep the book that you have on loan until"
    entries = [
        {"id": "unknown", "instruction": f"{said} spring.", "actions": [renew]},
        {"id": "day", "instruction": f"{said} April 12th.", "actions": [renew]},
    ]
    assert left_out(entries, tmp_path) == {"unknown": Kind.UNKNOWABLE_VALUE}


class TestTheSource(TaskSourceConformance):
    def source(self) -> ActionListSource:
        return ActionListSource(ActionListOptions(str(LIST)))

    def world_folder(self) -> Path:
        return WORLD


@pytest.fixture(scope="module")
def report() -> ListReport:
    return check_list(WORLD, ListSettings.of(str(LIST), "auto"), Options(), lambda _: None)


@pytest.mark.slow
def test_the_check_proves_the_sound_ones_against_mutants_and_honest_agents(report: ListReport):
    proved = {item.id: item for item in report.findings if item.kind is None}
    assert set(proved) == SOUND
    for finding in proved.values():
        assert finding.report is not None
        assert finding.report.killed.total() > 0
        assert finding.report.honest_played == finding.report.honest_won


def test_the_example_is_as_the_guide_shows_it():
    root = Path(__file__).parents[4]
    settings = ListSettings.of(str(root / "examples/action_lists/library.json"), "auto")
    report = check_list(root / "examples/library", settings, Options(), lambda _: None)
    kinds = {item.id: item.kind for item in report.findings}
    assert kinds == {"lend": None, "renew": None, "taken": Kind.FAILS_ON_DATA}
    shown = (root / "docs/guides/worlds/action-lists.md").read_text("utf-8")
    for finding in report.findings:
        if finding.report is not None:
            killed = finding.report.killed.total()
            assert f"{finding.id}: proved; {killed} mutants killed" in shown


@pytest.mark.slow
def test_the_check_reports_in_the_order_of_the_file(report: ListReport):
    listed = [str(item["id"]) for item in json.loads(LIST.read_text("utf-8"))]
    assert [item.id for item in report.findings] == listed
    document = report.to_json()
    assert (document["tasks"], document["proved"]) == (22, 10)
    assert not document["ok"]
