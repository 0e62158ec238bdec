"""The contract of an attacker: an agent that must not earn the full reward.

An attacker is a class without arguments, found by a row of :data:`synth.plugins.ATTACKERS` or an
entry point of the group ``synth.attackers``. ``synth check`` plays every attacker that is installed
on every task that it proves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from synth.core.validation.attacks.steps import Attack, Move, SayStep, ToolStep
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


class Attacker(ABC):
    """A dishonest agent. ``name`` groups its attacks in the report."""

    name: ClassVar[str]

    @abstractmethod
    def attacks(self, scene: Scene) -> Iterator[Attack]:
        """The attacks on a task; none where the agent cannot be dishonest in its way."""
