"""What an agent does in a playing, as plain data, and the playing of it on a fresh sandbox."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envs.folder import World
from envs.sandboxes.base import Template
from envs.types import Limits, RowChange
from synth.agent.run import AgentRun
from synth.episode import Episode, Score
from synth.types import Task
from synth.verifiers import Evidence

Json = Any


@dataclass(frozen=True, slots=True)
class Act:
    """One concrete call; ``writes`` says whether it changed rows when gold made it.

    ``undo`` are the arguments with which the same tool takes the change back, where there are such.
    """

    name: str
    arguments: Mapping[str, Json]
    writes: bool = False
    undo: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class Say:
    """Words to the user. ``told`` and ``agreed`` are what they brought when gold said them: topics, and a yes or no.

    Words that brought nothing are the last.
    """

    text: str
    told: tuple[str, ...] = ()
    agreed: bool = False

    @property
    def closing(self) -> bool:
        return not self.told and not self.agreed


Move = Act | Say


@dataclass(frozen=True, slots=True)
class Attack:
    """``kind`` groups attacks in the report; ``label`` says what exactly was done, ``tool`` whose call was changed."""

    kind: str
    label: str
    moves: Sequence[Move]
    tool: str | None = None


@dataclass(frozen=True)
class Played:
    """What came of an attack."""

    score: Score
    evidence: Evidence


def moves_of(run: AgentRun) -> list[Move]:
    """A playing as moves, in order: its calls, and what it said in turns of its own."""
    out: list[Move] = []
    outcomes = iter(run.outcomes)
    spoken = ""
    for event in run.events:
        if event["event"] == "completion":
            spoken = event["content"]
        elif event["event"] == "tool_result":
            outcome = next(outcomes)
            arguments = outcome.arguments or {}
            out.append(Act(outcome.call.name, arguments, bool(outcome.changes), _undo(arguments, outcome.changes)))
        elif event["event"] == "user_turn" and not event["ends"]:
            out.append(Say(spoken, tuple(event["told"]), event["consents"] or event["declines"]))
    return [*out, Say(spoken)]


def acts(moves: Sequence[Move]) -> list[Act]:
    return [each for each in moves if isinstance(each, Act)]


def talk(moves: Sequence[Move]) -> list[Say]:
    """What was said to be answered."""
    return [each for each in moves if isinstance(each, Say) and not each.closing]


def closing(moves: Sequence[Move]) -> list[Say]:
    """The last words."""
    return [each for each in moves if isinstance(each, Say) and each.closing]


async def play(attack: Attack, task: Task, world: World, template: Template, limits: Limits) -> Played:
    """Play the moves on a fresh sandbox, until the user ends the conversation.

    Raises :class:`~envs.errors.ExecutorError` where a move breaks a tool.
    """
    with Episode(task, world, template, limits) as episode:
        for move in attack.moves:
            if isinstance(move, Act):
                await episode.call(move.name, move.arguments)
            elif (await episode.say(move.text)).ends:
                break
        return Played(episode.score(), episode.evidence())


def _undo(arguments: Mapping[str, Json], changes: Sequence[RowChange]) -> Mapping[str, Json] | None:
    """The arguments that put back what an update wrote: each argument that became a cell, as the cell was before."""
    back = dict(_put_back(arguments, changes))
    return {**arguments, **back} if back and all(each.op == "update" for each in changes) else None


def _put_back(arguments: Mapping[str, Json], changes: Sequence[RowChange]) -> Iterator[tuple[str, Json]]:
    for name, value in arguments.items():
        for change in changes:
            before, after = change.before or {}, change.after or {}
            for column, cell in after.items():
                old = before.get(column)
                if column not in change.key and old is not None and type(cell) is type(value) and cell == value != old:
                    yield name, old
