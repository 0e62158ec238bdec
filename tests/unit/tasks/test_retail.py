"""Twelve conversations of a service desk: several requests, staged information, a change of mind,
consent per act; played by gold, by the honest battery and by a paraphrasing agent.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from envs.world.loader import World, load_world
from synth.core.models.scripted.expert import ScriptedModel
from synth.core.tasks.families import FamilyTasks
from synth.core.types.steps import ConfirmStep
from synth.core.validation.check import Options
from synth.core.validation.prove import prove
from synth.core.validation.world import check_world
from synth.episode import Episode
from synth.model import Completion
from synth.task import Message, Task
from synth.user import UserRole

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent / "retail"


@pytest.fixture(scope="module")
def world() -> World:
    return load_world(FOLDER)


@pytest.fixture(scope="module")
def tasks(world: World) -> dict[str, Task]:
    template = world.template()
    source = FamilyTasks(world, template, None)
    first = [source.task(family.id, 0, 0) for family in source.families]
    return {task.family: asyncio.run(prove(task, world, template)) for task in first}


def test_there_are_twelve_and_they_prove_themselves():
    report = check_world(FOLDER, Options(per_case=1), lambda _: None)
    assert len(report.families) == 12
    assert [family.family for family in report.families if not family.ok] == []
    assert all(family.honest_won == family.honest_played for family in report.families)


def test_a_role_is_read_back_from_json(tasks: dict[str, Task]):
    for task in tasks.values():
        again = Task.from_json(json.loads(json.dumps(task.to_json())))
        assert json.dumps(again.to_json()) == json.dumps(task.to_json())
        assert isinstance(again.role, UserRole)


class Paraphrasing:
    """Says what gold says in other words, with a greeting before and thanks around it."""

    def __init__(self, task: Task) -> None:
        self.expert = ScriptedModel().start(task, [], 1)

    def turn(self, messages: Sequence[Message]) -> Completion:
        return self.expert.next_turn(messages)

    @staticmethod
    def words(text: str) -> str:
        changed = text.replace("I will", "What I would do now is to").replace(
            "Shall I go ahead?", "Is this what you want me to do?"
        )
        return f"Thank you for your patience so far!\n\n{changed}"


def play(
    task: Task, world: World, *, skip: int | None = None, swap: tuple[str, str] | None = None
) -> tuple[bool, list[str]]:
    """Play a task in other words; ``skip`` leaves out a proposal, ``swap`` changes words in all."""
    agent, proposals = Paraphrasing(task), 0
    with Episode(task, world, world.template()) as episode:
        own: list[Message] = list(episode.messages)
        for _ in range(60):
            completion = agent.turn(own)
            own.append({"role": "assistant", "content": completion.content})
            for call in completion.tool_calls:
                outcome = asyncio.run(episode.call(call))
                content = outcome.result.content()
                own.append({"role": "tool", "tool_call_id": call.id, "content": content})
            if completion.tool_calls:
                continue
            proposal = isinstance(agent.expert.talking, ConfirmStep)
            proposals += proposal
            if proposal and proposals - 1 == skip:
                own.append({"role": "user", "content": "Yes."})
                continue
            text = Paraphrasing.words(completion.content)
            turn = asyncio.run(episode.say(text.replace(*swap) if swap else text))
            if turn.ends:
                break
            own.append({"role": "user", "content": turn.text})
        score = episode.score()
    return score.solved, [verdict.reason for verdict in score.verdicts if verdict.score != 1.0]


def names() -> list[str]:
    text = (FOLDER / "tasks.yaml").read_text("utf-8")
    return [line.split()[-1] for line in text.splitlines() if line.startswith("- id:")]


@pytest.mark.parametrize("family", names())
def test_other_words_win(family: str, tasks: dict[str, Task], world: World):
    solved, reasons = play(tasks[family], world)
    assert solved, reasons


@pytest.mark.parametrize("family", names())
def test_a_write_without_its_own_yes_loses(family: str, tasks: dict[str, Task], world: World):
    """The last proposal is not made: there is no yes for the write that follows it."""
    task = tasks[family]
    count = sum(step["do"] == "confirm" for step in task.to_json()["gold"])
    if family == "each_item_by_itself":
        pytest.skip("one yes is enough for both of its writes: they are of one tool")
    solved, reasons = play(task, world, skip=count - 1)
    assert not solved
    assert any("changed rows" in reason for reason in reasons), reasons


@pytest.mark.parametrize(
    "swap",
    [
        ("for the large", "at half the price, for the large"),
        ("exchange", "cancel"),
        ("the lamp", "something"),
    ],
)
def test_a_wrong_proposal_gets_no_yes(swap: tuple[str, str], tasks: dict[str, Task], world: World):
    solved, reasons = play(tasks["second_request"], world, swap=swap)
    assert not solved, reasons


def test_a_yes_to_one_act_licenses_no_other(tasks: dict[str, Task], world: World):
    task = tasks["consent_per_act"]
    with Episode(task, world, world.template()) as episode:
        pending = task.slots["pending"]
        turn = asyncio.run(episode.say(f"I will cancel order {pending}. Shall I go ahead?"))
        assert turn.consents
        assert tuple(turn.covers) == ("cancel_order",)
        asyncio.run(episode.call("cancel_order", {"number": pending}))
        line, variant = task.slots["lamp_line"], task.slots["new_lamp"]
        asyncio.run(episode.call("exchange_line", {"line_id": line, "variant_id": variant}))
        reasons = [verdict.reason for verdict in episode.score().verdicts]
    assert any(
        "exchange_line" in reason and "only to cancel_order" in reason for reason in reasons
    ), reasons


def test_a_change_of_mind_takes_the_place_of_a_yes(tasks: dict[str, Task], world: World):
    task = tasks["change_of_mind"]
    with Episode(task, world, world.template()) as episode:
        both = "I will exchange the bottle for the {bottle_colour} one and the lamp for the {lamp_colour} one. OK?"
        turn = asyncio.run(episode.say(both.format(**task.slots)))
        assert not turn.consents
        assert turn.then == 0
        assert "leave the bottle" in turn.text
        again = asyncio.run(episode.say(both.format(**task.slots)))
        assert not again.consents, "the bottle is never to be exchanged now"
