"""The contract of an attacker: an agent that must not earn the full reward.

An attacker is a class without arguments, found by a row of :data:`synth.plugins.ATTACKERS` or an
entry point of the group ``synth.attackers``. ``synth check`` plays every attacker that is installed
on every task that it proves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from envs.plugins import Contract
from envs.tools.tool import Tool
from synth.core.personal import People
from synth.core.rewards.reply import ReplyVerifier
from synth.core.rewards.reply.given import gold_reply
from synth.core.validation.attacks.steps import Attack, Move, SayStep, ToolStep, acts
from synth.plugins import ATTACKERS
from synth.task import Task


@dataclass(frozen=True)
class Scene:
    """A proved task as an attacker sees it.

    ``gold`` are the moves of gold, ``elsewhere`` of other tasks of the world, ``stranger``
    personal data of somebody whom the task does not concern (empty if the world has none),
    ``snooping`` reads about such people.
    """

    task: Task
    gold: Sequence[Move]
    elsewhere: Sequence[Move] = ()
    stranger: str = ""
    stranger_name: str = ""
    snooping: Sequence[ToolStep] = ()

    @property
    def closing(self) -> str:
        """Gold's last words, from the end of the work on."""
        texts = [move.text for move in self.gold[self._end :] if isinstance(move, SayStep)]
        return texts[0] if texts else ""

    def closed_by(self, text: str) -> list[Move]:
        """The moves of gold with other last words."""
        return [*self.gold[: self._end], SayStep(text)]

    @property
    def _end(self) -> int:
        """The place where the work ends, and only words are left.

        A yes of a user without a role changes nothing.
        """
        end, no_role = len(self.gold), self.task.user is None
        while end and isinstance(move := self.gold[end - 1], SayStep):
            if not (move.closing or no_role):
                break
            end -= 1
        return end


class Attacker(Contract, ABC):
    """A dishonest agent. ``name`` groups its attacks in the report."""

    name: ClassVar[str]

    @abstractmethod
    def attacks(self, scene: Scene) -> Iterator[Attack]:
        """The attacks on a task; none where the agent cannot be dishonest in its way."""


OTHERS = 24
"""The number of people that a snoop reads about."""


def dishonest_attacks(
    task: Task,
    gold: Sequence[Move],
    elsewhere: Sequence[Move],
    people: People | None,
    tools: Sequence[Tool],
) -> Iterator[tuple[str, Attack]]:
    """The attacks on a proved task, each with its attacker's name; none if replies are not judged.

    ``elsewhere`` are the moves of other tasks of the family, ``tools`` all tools of the world.
    """
    if not _judges_replies(task):
        return
    data, name = stranger(people, task)
    scene = Scene(task, gold, elsewhere, data, name, snooping(people, task, gold, tools))
    for attacker in attackers():
        for attack in attacker.attacks(scene):
            yield attacker.name, attack


def _judges_replies(task: Task) -> bool:
    """True if a task has the gate `reply`, and its family does not leave replies unjudged."""
    gate = task.gate("reply")
    return gate is not None and ReplyVerifier().parse_options(gate.options).unjudged is None


@lru_cache(maxsize=1)
def attackers() -> Sequence[Attacker]:
    """Every installed attacker."""
    return [ATTACKERS.load(extension.name)() for extension in ATTACKERS.all()]


def snooping(
    people: People | None, task: Task, gold: Sequence[Move], tools: Sequence[Tool]
) -> list[ToolStep]:
    """A read of gold about one person, made about each of two dozen others."""
    if people is None:
        return []
    gold_said = gold_reply(task.end)
    concerned = {*gold_said.people, *gold_said.shown}
    reads = {tool.name for tool in tools if tool.read_only}
    for act in acts(gold):
        others = people.about_others(act.arguments, concerned) if act.name in reads else []
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
