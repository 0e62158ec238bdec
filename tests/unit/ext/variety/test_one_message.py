"""Composed tasks whose requests come in one message: their words, their proof, what belongs to
which request, and that none of them can be left out.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import synth
from envs.sandboxes.base import Template
from envs.types import Limits, RowChange
from envs.world.loader import World, load_world
from synth.core.dataset.store.task_table import TaskTable
from synth.core.foundation.hashing import canonical
from synth.core.rewards.requests import combined, evidence_of_requests
from synth.core.tasks.families import FamilyTasks
from synth.core.types.steps import CallStep, NextStep
from synth.core.validation.attacks.runner import AttackRunner, Case
from synth.core.validation.attacks.steps import Attack, Move, SayStep, ToolStep, moves_of, play
from synth.core.validation.honest.runner import HonestRunner
from synth.core.validation.prove import prove_and_keep
from synth.core.validation.report import FamilyReport
from synth.errors import OperatorError, TaskError
from synth.evidence import CallRecord, Evidence, TurnRecord, Utterance
from synth.ext.variety.composition import compose, fit_in_message
from synth.ext.variety.config import ComposeAs, SelectionConfig
from synth.ext.variety.selection import TaskSelection
from synth.ext.variety.wording.message import message_of
from synth.ext.variety.wording.reword import reworded
from synth.plan import Plan
from synth.plugins import HONEST_AGENTS
from synth.source import TaskFamily
from synth.task import GoldEnd, Task
from synth.user import Consent, FollowUp, UserRole
from synth.verdict import Verdict

MANNERS: tuple[ComposeAs, ...] = ("turns", "message", "both")
EXAMPLES = Path(__file__).parents[4] / "examples"


def selected(compose: dict[int, float], manner: ComposeAs) -> list[TaskSelection]:
    return [TaskSelection(SelectionConfig(compose=compose, compose_as=manner))]


def plan_of(pool: FamilyTasks, count: int, manner: ComposeAs = "message") -> Plan:
    return Plan.make([pool], count, 1, 7, selected({2: 0.5}, manner))


def together(pool: FamilyTasks) -> Task:
    """A loan for one member and the renewals of another one, in one message. Their answers have no
    field in common.
    """
    lend = next(task for task in every_task(pool, "lend_book") if task.case == "free")
    name = lend.slots["name"]
    renew = next(task for task in every_task(pool, "renew_all") if task.slots["name"] != name)
    return compose([lend, renew], 7, "message")


def every_task(pool: FamilyTasks, family: str) -> Iterator[Task]:
    return (pool.task(family, index, 7) for index in range(pool.capacity(family)))


def reward_of(moves: Sequence[Move], task: Task, world: World, template: Template) -> float | None:
    return asyncio.run(
        play(Attack("moves", "", moves), task, world, template, Limits())
    ).score.reward


def test_the_first_message_holds_all_requests(pool: FamilyTasks):
    task = together(pool)
    one, two = task.parts
    assert task.asked_together
    assert task.prompt == task.role.opening
    for part in task.parts:
        assert str(part.slots["name"]) in task.prompt
    assert not task.role.then
    assert [step for step in task.gold if isinstance(step, NextStep)] == [NextStep()]
    assert (one.now, one.system) == (two.now, two.system)
    again = Task.from_json(json.loads(canonical(task.to_json())))
    assert canonical(again.to_json()) == canonical(task.to_json())
    assert task.id != compose(task.parts, 7).id


def test_gold_does_all_and_reports_at_the_end(world: World, template: Template, pool: FamilyTasks):
    task, gold = asyncio.run(prove_and_keep(together(pool), world, template))
    moves = moves_of(gold.run)
    assert [type(move) for move in moves].count(SayStep) == 1
    assert reward_of(moves, task, world, template) == 1.0
    for request, part in zip(evidence_of_requests(gold.evidence), task.parts, strict=True):
        assert request is not None
        assert part.end is not None
        assert [change.to_json() for change in request.changes] == list(part.end.changes)
        assert request.submitted == part.end.answer


def test_every_request_has_to_be_done_in_any_order(
    world: World, template: Template, pool: FamilyTasks
):
    task, gold = asyncio.run(prove_and_keep(together(pool), world, template))
    *calls, last = moves_of(gold.run)
    submits = [index for index, call in enumerate(calls) if is_submit(call)]
    first, second = calls[: submits[0] + 1], calls[submits[0] + 1 :]
    assert reward_of([*second, *first, last], task, world, template) == 1.0
    woven = [*first[:-1], *second[:-1], first[-1], second[-1], last]
    assert reward_of(woven, task, world, template) == 1.0
    halves = {
        "first only": [*first, last],
        "second only": [*second, last],
        "nothing": [last],
        "no words": calls,
        "one answer": [*first[:-1], *second, last],
    }
    for name, half in halves.items():
        assert reward_of(half, task, world, template) == 0.0, name


def is_submit(move: Move) -> bool:
    return isinstance(move, ToolStep) and move.name == "submit"


def test_answers_may_be_handed_in_together(world: World, template: Template, pool: FamilyTasks):
    task, gold = asyncio.run(prove_and_keep(together(pool), world, template))
    moves = moves_of(gold.run)
    submits = [move for move in moves if isinstance(move, ToolStep) and move.name == "submit"]
    assert len(submits) == 2
    both = {name: value for move in submits for name, value in move.arguments.items()}
    *kept, last = [move for move in moves if not is_submit(move)]
    assert reward_of([*kept, ToolStep("submit", both), last], task, world, template) == 1.0
    wrong = dict.fromkeys(both)
    assert reward_of([*kept, ToolStep("submit", wrong), last], task, world, template) == 0.0
    twice = [*kept, ToolStep("submit", both), ToolStep("submit", both), last]
    assert reward_of(twice, task, world, template) == 1.0


def test_more_than_was_asked_is_wrong(world: World, template: Template, pool: FamilyTasks):
    task, gold = asyncio.run(prove_and_keep(together(pool), world, template))
    *moves, last = moves_of(gold.run)
    others = (other for other in every_task(pool, "lend_book") if other.case == "free")
    other = next(other for other in others if other.key != task.parts[0].key)
    _, alone = asyncio.run(prove_and_keep(other, world, template))
    (extra,) = [move for move in moves_of(alone.run) if getattr(move, "name", "") == "lend"]
    assert reward_of([*moves, last], task, world, template) == 1.0
    assert reward_of([*moves, extra, last], task, world, template) == 0.0


PART = Task("one", "one", "shop", "One, please.", (), user=UserRole("One, please."))
KNOWN = replace(PART, user=UserRole("One.", consent=Consent(("5",), covers=("write",))))
WRITING = replace(PART, id="two", gold=[CallStep("write", {})])


@pytest.mark.parametrize(
    ("parts", "fits"),
    [
        ([PART, WRITING], True),
        ([WRITING, WRITING], True),
        ([KNOWN, PART], True),
        ([replace(KNOWN, gold=WRITING.gold), PART], True),
        ([replace(KNOWN, gold=WRITING.gold), WRITING], False),
        ([KNOWN, WRITING], False),
        ([replace(KNOWN, gold=[CallStep("write", {}, fails="conflict")]), WRITING], False),
        ([replace(PART, user=UserRole("One.", then=[FollowUp("done", "And two.")])), PART], False),
        ([replace(PART, answer={"properties": {"n": {}}})] * 2, False),
        (
            [
                replace(PART, answer={"properties": {"n": {}}}),
                replace(PART, answer={"properties": {"m": {}}}),
            ],
            True,
        ),
    ],
)
def test_what_fits_into_one_message(parts: list[Task], *, fits: bool):
    assert fit_in_message(parts, {"write"}) is fits


def change(op: Any, key: int, table: str = "items") -> RowChange:
    after = None if op == "delete" else {"id": key, "name": "b"}
    return RowChange(table, op, {"id": key}, None if op == "insert" else {"name": "a"}, after)


def evidence(calls: Sequence[Sequence[RowChange]]) -> Evidence:
    """Of a message with two requests: gold of the first updates item 1 and adds a note, that of the
    second updates item 2.
    """
    ends = [[change("update", 1), change("insert", 9, "notes")], [change("update", 2)]]
    parts = tuple(
        Task(name, name, "shop", name, (), end=GoldEnd([one.to_json() for one in own]))
        for name, own in zip(("one", "two"), ends, strict=True)
    )
    task = Task("both", "one+two", "shop", "one and two", (), user=UserRole(""), parts=parts)
    records = [CallRecord(f"call_{i}", {}, True, None, not own, own) for i, own in enumerate(calls)]
    net = [row for own in calls for row in own]
    count = len(calls)
    turns, said = [TurnRecord(min(2, count), text="ok")], [Utterance(min(3, count), "done", 1)]
    answers = {"2": {"total": 5}}
    return Evidence(task, net, records, answers, turns=turns, utterances=said)


def test_calls_and_rows_belong_to_the_request_that_gold_changes_them_for():
    rows = [change("update", 2)], [], [change("update", 1)], [change("insert", 7, "notes")]
    one, two = evidence_of_requests(evidence(rows))
    assert one is not None
    assert two is not None
    assert [call.name for call in one.calls] == ["call_1", "call_2", "call_3"]
    assert [call.name for call in two.calls] == ["call_0", "call_1"]
    assert [row.key["id"] for row in one.changes] == [1, 7]
    assert [row.key["id"] for row in two.changes] == [2]
    assert [turn.after for turn in one.turns] == [1]
    assert [turn.after for turn in two.turns] == [2]
    assert [words.after for words in two.utterances] == [2]
    assert (one.submitted, two.submitted) == (None, {"total": 5})
    assert one.task.prompt == two.task.prompt == "one and two"
    assert [other.task.id for other in one.so_far] == ["two", "one"]


@pytest.mark.parametrize(
    "stray", [change("update", 5), change("insert", 5), change("delete", 1, "people")]
)
def test_a_stray_row_counts_for_each_request_that_it_could_belong_to(stray: RowChange):
    one, two = evidence_of_requests(evidence([[change("update", 1)], [stray]]))
    assert one is not None
    assert two is not None
    assert stray in one.changes
    assert stray in two.changes


def test_the_first_wrong_call_is_named_by_its_place_among_all():
    found = evidence([[change("update", 1)], [change("update", 2)], [change("update", 2)]])
    wrong = {"first_wrong": {"call": 1, "tool": "call_2"}}
    good, bad = Verdict("state", 1.0, "fine"), Verdict("state", 0.0, "stray", detail=wrong)
    (verdict,) = combined(found, [[good], [bad]])
    assert verdict.detail["first_wrong"] == {"call": 2, "tool": "call_2"}


@pytest.mark.parametrize(
    ("prompts", "held"),
    [
        (["Please lend Ubik.", "Could you renew Walden?"], ["lend Ubik", "renew Walden"]),
        (["Hi. Lend Ubik", "Hello, what is due?"], ["Lend Ubik.", "hat is due?"]),
        (["Dear desk,\n\nUbik please.\n\nAda", "Renew it."], ["Ada\n\n", "Renew it."]),
    ],
)
def test_words_of_a_message(prompts: list[str], held: list[str]):
    tasks = [replace(PART, prompt=prompt) for prompt in prompts]
    texts = {message_of(tasks, seed) for seed in range(40)}
    assert len(texts) > 2
    for text in texts:
        assert all(part in text for part in held), text
        assert "Hello" not in text


def test_a_value_at_the_beginning_of_a_request_stays_as_it_is():
    second = replace(PART, prompt="The Trial is due when?", slots={"title": "The Trial"})
    for seed in range(20):
        assert "The Trial is due" in message_of([PART, second], seed)


def test_varied_words_keep_the_message_of_all(pool: FamilyTasks):
    task = together(pool)
    varied = reworded(task)
    assert varied.prompt == varied.role.opening
    assert varied.parts == task.parts
    for part in task.parts:
        assert str(part.slots["name"]) in varied.prompt


def test_half_of_the_composed_tasks_come_by_turns(pool: FamilyTasks):
    plan = plan_of(pool, 8, "both")
    tasks = [plan.task(index) for index in range(8) if plan.is_composed(index)]
    assert [task.asked_together for task in tasks] == [False, True, False, True]
    digests = {plan_of(pool, 8, manner).digest() for manner in MANNERS}
    assert len(digests) == 3


def test_an_unknown_manner_is_one_message():
    with pytest.raises(OperatorError, match=r"tasks.compose_as: .*turns.*message.*both"):
        synth.run("env=library", tasks={"compose_as": "letters"})


@pytest.mark.slow
def test_runs_replay_and_grade(tmp_path: Path):
    run = synth.run(
        "env=shop",
        tasks={"count": 12, "compose": {2: 0.5, 3: 0.3}, "compose_as": "both", "wording": "varied"},
        output={"dir": str(tmp_path / "run")},
    )
    assert all(row["reward"] == 1.0 for row in run.dataset)
    rows = [
        Task.from_json(row["task"]) for row in TaskTable(tmp_path / "run" / "tasks.parquet").rows()
    ]
    assert any(task.asked_together for task in rows)
    assert any(task.parts and not task.asked_together for task in rows)
    assert not synth.replay(tmp_path / "run").differences
    assert synth.grade(tmp_path / "run").same
    assert synth.grade(tmp_path / "run", world=EXAMPLES / "shop").same


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shop", "ehr_db"])
def test_no_attack_wins_and_no_honest_agent_loses(name: str):
    world = load_world(EXAMPLES / name)
    with world.template("sqlite", 0) as template:
        pool = FamilyTasks(world, template)
        plan = Plan.make([pool], 4, 1, 11, selected({2: 0.5, 3: 0.5}, "message"))
        asyncio.run(_battery(plan, world, template))


async def _battery(plan: Plan, world: World, template: Template) -> None:
    for index in range(plan.tasks):
        task, gold = await _first_that_stands(plan, index, world, template)
        family = TaskFamily(task.family, "tasks.yaml", 1, "")
        report = FamilyReport(task.family, 1, 1)
        case = Case(task, gold.evidence, moves_of(gold.run))
        await AttackRunner(family, world, template, Limits(), report).run([case], [])
        names = [*HONEST_AGENTS.builtin]
        await HonestRunner(family, world, template, Limits(), report).run([case], names)
        assert not report.problems
        assert not report.surviving
        assert not report.honest_lost
        assert report.killed.total() > 0
        assert report.honest_won.total() > 3


async def _first_that_stands(plan: Plan, index: int, world: World, template: Template):
    for attempt in range(30):
        try:
            return await prove_and_keep(plan.task(index, attempt), world, template)
        except TaskError:
            continue
    raise AssertionError(f"no candidate of task {index} stands")


def test_requests_whose_order_matters_stand_by_turns_only(
    world: World, template: Template, pool: FamilyTasks
):
    """Who renews all loans after a new one was made renews that one too."""
    lend = next(task for task in every_task(pool, "lend_book") if task.case == "free")
    name = lend.slots["name"]
    renew = next(task for task in every_task(pool, "renew_all") if task.slots["name"] == name)
    asyncio.run(prove_and_keep(compose([renew, lend], 7, "turns"), world, template))
    with pytest.raises(TaskError, match="in another order, gold does not earn"):
        asyncio.run(prove_and_keep(compose([renew, lend], 7, "message"), world, template))


def test_two_requests_that_add_rows_to_one_table_are_refused(
    world: World, template: Template, pool: FamilyTasks
):
    two = next(every_task(pool, "lend_unread"))
    taken = set(two.slots.values())
    lend = next(
        task
        for task in every_task(pool, "lend_book")
        if task.case == "free" and task.slots["title"] not in taken
    )
    asyncio.run(prove_and_keep(compose([two, lend], 7, "turns"), world, template))
    with pytest.raises(TaskError, match="two requests change loans"):
        asyncio.run(prove_and_keep(compose([two, lend], 7, "message"), world, template))
