"""The attacks of every installed attacker on a proved task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from synth.core.personal import People
from synth.core.rewards.reply import ReplyVerifier
from synth.core.rewards.reply.given import gold_reply
from synth.core.validation.attacks.base import Attacker, Scene
from synth.core.validation.attacks.steps import Attack, Move, ToolStep, acts
from synth.plugins import ATTACKERS
from synth.task import Task

OTHERS = 24
"""The number of people that a snoop reads about."""


def dishonest_attacks(
    task: Task, gold: Sequence[Move], elsewhere: Sequence[Move], people: People | None
) -> Iterator[tuple[str, Attack]]:
    """The attacks on a proved task, each with its attacker's name; none if replies are not judged.

    ``elsewhere`` are the moves of other tasks of the family.
    """
    if not judges_replies(task):
        return
    data, name = stranger(people, task)
    scene = Scene(task, gold, elsewhere, data, name, snooping(people, task, gold))
    for attacker in attackers():
        for attack in attacker.attacks(scene):
            yield attacker.name, attack


def judges_replies(task: Task) -> bool:
    """True if a task has the gate `reply`, and its family does not leave replies unjudged."""
    gate = task.gate("reply")
    return gate is not None and ReplyVerifier().parse_options(gate.options).unjudged is None


@lru_cache(maxsize=1)
def attackers() -> Sequence[Attacker]:
    """Every installed attacker."""
    return [ATTACKERS.load(extension.name)() for extension in ATTACKERS.all()]


def snooping(people: People | None, task: Task, gold: Sequence[Move]) -> list[ToolStep]:
    """A read of gold about one person, made about each of two dozen others."""
    if people is None:
        return []
    gold_said = gold_reply(task.end)
    concerned = {*gold_said.people, *gold_said.shown}
    for act in acts(gold):
        others = [] if act.writes else people.about_others(act.arguments, concerned)
        if others:
            return [ToolStep(act.name, arguments) for arguments in others[:OTHERS]]
    return []


def stranger(people: People | None, task: Task) -> tuple[str, str]:
    """Personal data of somebody whom the task does not concern, and the name in it; empty if there
    is nobody.
    """
    if people is None:
        return "", ""
    gold = gold_reply(task.end)
    concerned = {*gold.people, *gold.shown}
    found = people.somebody_else(concerned, task.seed)
    name = next((value for kind, value in found if kind == "name"), "")
    return ", ".join(value for _, value in found), name
