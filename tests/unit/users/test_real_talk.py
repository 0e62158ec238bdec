"""What agents of every make say to the users of the shipped worlds, and how a person in the user's
place would answer.

The tables stand in ``real_talk``: by family and case, at the start of the conversation or once
the user has told all that it knows, what is said and what comes of it; and what comes of some words
whoever the user is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from envs.world.loader import load_world
from synth.core.foundation.shipped import find_world
from synth.core.tasks.families import FamilyTasks
from synth.core.types.steps import AskStep, BranchStep
from synth.core.users.scripted.proposal import Turn
from synth.core.users.scripted.user import NOTHING_TO_ADD, SAY_WHAT, TOO_LONG, ScriptedUser
from synth.task import Task
from synth.user import UserTurn

TABLES = Path(__file__).parent / "real_talk"


@cache
def source(world: str) -> FamilyTasks:
    loaded = load_world(find_world(world))
    return FamilyTasks(loaded, loaded.template(), None)


@cache
def task_of(world: str, which: str) -> Task:
    """The first task of a family, or of its case: "which_patient several"."""
    family, _, case = which.partition(" ")
    made = (source(world).task(family, index, 0) for index in range(source(world).capacity(family)))
    return next(each for each in made if each.user is not None and case in {"", each.case})


def rows() -> Iterator[tuple[str, str, bool, str, str]]:
    for world in ("ehr_db", "shop"):
        for file in sorted(TABLES.glob(f"{world}*.yaml")):
            for which, times in yaml.safe_load(file.read_text("utf-8")).items():
                for when, outcomes in times.items():
                    for outcome, texts in outcomes.items():
                        yield from (
                            (world, which, when == "once told", outcome, text) for text in texts
                        )


ROWS = list(rows())


def outcome_of(turn: UserTurn) -> str:
    """In the words of the tables."""
    parts = list(turn.told)
    if turn.consents or turn.declines or turn.ends:
        parts.append("agrees" if turn.consents else "declines" if turn.declines else "ends")
    elif not parts:
        parts.append("nothing" if turn.text in NOTHING_TO_ADD else "corrects")
    return ", ".join(parts)


def hear(task: Task, told: bool, text: str) -> UserTurn:
    async def talk() -> UserTurn:
        assert task.user is not None
        user = ScriptedUser().start(task.user, task.seed)
        if told and task.user.knows:
            questions = " ".join(topic.asked for topic in task.user.knows.values())
            assert (await user.reply(questions)).told == tuple(task.user.knows)
        return await user.reply(text)

    return asyncio.run(talk())


@pytest.mark.parametrize(
    ("world", "which", "told", "outcome", "text"),
    ROWS,
    ids=[f"{row[1]}-{row[3]}-{at}" for at, row in enumerate(ROWS)],
)
@pytest.mark.slow
def test_a_turn_is_answered_as_a_person_would(
    world: str, which: str, told: bool, outcome: str, text: str
):
    task = task_of(world, which)
    text = text.format(**task.slots)
    turn = hear(task, told, text)
    assert outcome_of(turn) == outcome, f"\nuser:  {task.prompt}\nagent: {text}\nuser:  {turn.text}"
    assert bool(turn.text) != turn.ends
    assert task.user is not None
    assert all(task.user.knows[name].says in turn.text for name in turn.told)


OFFERS = (
    " If you would like more details before deciding, I am happy to explain.",
    " I can explain the details first if you like.",
    " Happy to explain further, if anything is unclear.",
    " Should you want to know more about it first, I can tell you.",
)


@pytest.mark.slow
def test_an_offer_of_explanation_takes_nothing_from_a_proposal():
    """Issue 38: the user answered such a proposal with "Before I agree, spell out exactly what you
    will do".
    """
    proposals = [row for row in ROWS if row[2] and row[3] == "agrees"]
    assert len(proposals) > len(OFFERS)
    for at, (world, which, told, _, text) in enumerate(proposals):
        task = task_of(world, which)
        said = text.format(**task.slots) + OFFERS[at % len(OFFERS)]
        assert outcome_of(hear(task, told, said)) == "agrees", said


@pytest.mark.parametrize("world", ["ehr_db", "shop"])
@pytest.mark.slow
def test_whoever_the_user_is(world: str):
    """Closing words end the conversation of who wants one thing, a question about nothing known
    does not, and a bare "shall I?" is no agreement.
    """
    table = yaml.safe_load((TABLES / "any_role.yaml").read_text("utf-8"))
    wrong: list[str] = []
    for task in talking(world):
        assert task.user is not None
        # Who has a follow-up says it then.
        closing = [] if task.user.then or task.user.others else table["ends once all is told"]
        wrong += [
            f"{task.family}: {text!r} does not end it"
            for text in closing
            if not hear(task, True, text).ends
        ]
        for told in (False, True):
            for text in table["neither ends nor agrees"]:
                turn = hear(task, told, text)
                bound = task.user.consent is not None
                if turn.ends or (bound and (turn.consents or turn.declines)):
                    wrong.append(f"{task.family}: {text!r} is answered by {turn}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("world", ["ehr_db", "shop"])
@pytest.mark.slow
def test_the_expert_s_own_words_are_heard_as_they_are_meant(world: str):
    """In 40 tasks of each family: its questions are answered, its last words end the conversation
    or are thanked for.
    """
    wrong: list[str] = []
    for family in (each.id for each in source(world).families):
        for index in range(min(40, source(world).capacity(family))):
            task = source(world).task(family, index, 0)
            if task.user is None:
                continue
            asked = [step for step in task.gold if isinstance(step, AskStep)]
            wrong += [
                f"{task.id}: {step.text!r}"
                for step in asked
                if set(hear(task, False, step.text).told) != set(step.topics)
            ]
            more = task.user.then or task.user.others
            for last in _last_words(task.gold):
                turn = hear(task, True, last)
                if not more and not turn.ends and (turn.told or turn.consents or turn.declines):
                    wrong.append(f"{task.id}: {last!r}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("world", ["ehr_db", "shop"])
def test_nobody_agrees_to_another_act(world: str):
    """All facts restated, and another act than the user's announced: no yes, whoever the user is."""
    asked = [
        task for task in talking(world) if task.user is not None and task.user.consent is not None
    ]
    assert len(asked) >= 5
    for task in asked:
        assert task.user is not None
        assert task.user.consent is not None
        facts = ", ".join(task.user.consent.mentions)
        for act in {"cancel", "delete"} - set(task.user.consent.act):
            assert not hear(
                task, True, f"I will {act} this: {facts}. Is that all right?"
            ).consents, task.family


def test_the_name_of_a_thing_is_no_act():
    name, asked = "Upland noise-cancelling headphones", "Shall I {} the Upland {} headphones?"
    for act, another in (("change", False), ("cancel", True)):
        turn = Turn(asked.format(act, "noise-cancelling"))
        assert turn.another_act((), ["change", "exchange"], [name]) is another


def _last_words(steps: Sequence[Any]) -> list[str]:
    """The last words of a gold solution, in each of its branches."""
    last = steps[-1]
    if isinstance(last, BranchStep):
        return [text for part in (last.steps, last.otherwise) if part for text in _last_words(part)]
    return [_text(last.text)]


def _text(value: Any) -> str:
    """A text of the gold solution; values that only a run would save stand as a date."""
    if isinstance(value, str):
        return value
    return "".join(_text(each) for each in value["$text"]) if "$text" in value else "2026-03-16"


def talking(world: str) -> list[Task]:
    """One task of each case whose user answers."""
    found: dict[tuple[str, str | None], Task] = {}
    for family in (each.id for each in source(world).families):
        for index in range(min(6, source(world).capacity(family))):
            task = source(world).task(family, index, 0)
            if task.user is not None:
                found.setdefault((family, task.case), task)
    return list(found.values())


def test_thoughts_are_not_heard():
    task = task_of("ehr_db", "which_patient several")
    thought = "<think>What is the date of birth? I could ask.</think>"
    assert hear(task, False, thought).ends
    assert hear(task, False, f"{thought}\nWhat is the name of the ward?").told == ()
    assert hear(task, False, "I could guess.</think>Date of birth?").told == ("dob",)


@pytest.mark.parametrize(
    "filler",
    ["date of birth? ", "\n* ", "a-", "shall I go ahead with ", "\u65e5\u672c\uff1f", "<think>"],
)
def test_a_turn_of_any_length_is_answered(filler: str):
    """Of 200 KB nothing is agreed to, and three such turns are enough."""
    task = task_of("ehr_db", "controlled_drug_needs_diagnosis allow")
    turn = hear(task, False, f"Shall I? {filler * (200_000 // len(filler))} {task.slots['dob']}")
    assert not turn.consents
    assert turn.text in TOO_LONG or turn.text in (*NOTHING_TO_ADD, *SAY_WHAT)


def test_the_tables_cover_the_families_that_talk():
    """Each family of the shipped worlds whose user answers has at least six turns."""
    for world in ("ehr_db", "shop"):
        for family in (each.id for each in source(world).families):
            if source(world).task(family, 0, 0).user is not None:
                assert sum(row[0] == world and row[1].split()[0] == family for row in ROWS) >= 6, (
                    family
                )
