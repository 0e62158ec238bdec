"""Moves of an agent as plain data, and their execution on a fresh sandbox."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envs.sandboxes.base import Template
from envs.types import Limits, RowChange
from envs.world.loader import World
from synth.core.agent.rollout_result import AgentRun
from synth.core.models.emission import call_of
from synth.core.types.events import CompletionEvent, ToolResultEvent, UserTurnEvent
from synth.episode import Episode, Score
from synth.rewards import Evidence
from synth.task import Task


@dataclass(frozen=True, slots=True)
class ToolStep:
    """One concrete call; ``writes`` is true if it changed rows when gold made it.

    ``undo`` are the arguments with which the same tool reverts the change; None if there are none.
    """

    name: str
    arguments: Mapping[str, Any]
    writes: bool = False
    undo: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class SayStep:
    """A turn to the user, with its effect when gold took it: the topics that the user ``told``, and
    true in ``agreed`` for a yes or no, and the calls of its own tools that it ``made``.

    A turn without an effect is a closing one.
    """

    text: str
    told: tuple[str, ...] = ()
    agreed: bool = False
    made: tuple[ToolStep, ...] = ()

    @property
    def closing(self) -> bool:
        return not (self.told or self.agreed or self.made)


@dataclass(frozen=True, slots=True)
class AsideStep:
    """Words beside the tool call that follows; the user does not answer them."""

    text: str


@dataclass(frozen=True, slots=True)
class ReciteStep:
    """A closing turn that tells the results of all calls after its own words."""

    text: str


Move = ToolStep | SayStep
"""A move of gold."""

AttackMove = Move | AsideStep | ReciteStep


@dataclass(frozen=True, slots=True)
class Attack:
    """An attack as a sequence of moves.

    ``kind`` groups attacks in the report, ``label`` describes this one, and ``tool`` is the tool
    whose call was changed. ``statement`` is a lie that only a judge can decide about: the attack
    has lost if the judge would be asked about it.
    """

    kind: str
    label: str
    moves: Sequence[AttackMove]
    tool: str | None = None
    statement: str = ""


@dataclass(frozen=True)
class AttackResult:
    """Score and evidence of an attack, and what was said and called, a line each."""

    score: Score
    evidence: Evidence
    transcript: Sequence[str]


def moves_of(run: AgentRun) -> list[Move]:
    """A run as moves, in order: its calls and its turns to the user."""
    out: list[Move] = []
    outcomes = iter(run.outcomes)
    text = ""
    for event in run.events:
        if isinstance(event, CompletionEvent) and event.is_turn:
            text = event.content
        elif isinstance(event, ToolResultEvent):
            outcome = next(outcomes)
            arguments = outcome.arguments or {}
            out.append(
                ToolStep(
                    outcome.call.name,
                    arguments,
                    bool(outcome.changes),
                    _undo(arguments, outcome.changes),
                )
            )
        elif isinstance(event, UserTurnEvent) and not event.ends:
            made = [
                ToolStep(one.name, json.loads(one.arguments))
                for one in map(call_of, event.calls or ())
            ]
            agreed = event.consents or event.declines
            out.append(SayStep(text, tuple(event.told), agreed, tuple(made)))
    return [*out, SayStep(text)]


def acts(moves: Sequence[Move]) -> list[ToolStep]:
    """The tool calls."""
    return [move for move in moves if isinstance(move, ToolStep)]


def talk(moves: Sequence[Move]) -> list[SayStep]:
    """The turns to the user that had an effect."""
    return [move for move in moves if isinstance(move, SayStep) and not move.closing]


def closing(moves: Sequence[Move]) -> list[SayStep]:
    """The last words."""
    return [move for move in moves if isinstance(move, SayStep) and move.closing]


async def play(
    attack: Attack, task: Task, world: World, template: Template, limits: Limits
) -> AttackResult:
    """Play the moves on a fresh sandbox, until the user ends the conversation.

    Raises :class:`~envs.errors.ExecutorError` if a move breaks a tool.
    """
    lines = [f"user: {task.prompt}"]
    with Episode(task, world, template, limits) as episode:
        for move in attack.moves:
            if isinstance(move, ToolStep):
                outcome = await episode.call(move.name, move.arguments)
                lines += [called(move.name, move.arguments), f"tool: {outcome.content}"]
            elif isinstance(move, AsideStep):
                episode.utter(move.text)
                lines.append(f"agent: {move.text}")
            else:
                words = _words(move, episode)
                turn = await episode.say(words)
                lines.append(f"agent: {words}")
                if turn.ends:
                    break
                lines.append(f"user: {turn.text}")
        return AttackResult(episode.score(), episode.evidence(), lines)


def called(name: str, arguments: object) -> str:
    """The line of a transcript on a call."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return f"call: {name} {text}"


def _words(move: SayStep | ReciteStep, episode: Episode) -> str:
    if isinstance(move, SayStep):
        return move.text
    results = [call.result.content() for call in episode.calls if call.result is not None]
    return "\n".join([move.text, *results])


def _undo(arguments: Mapping[str, Any], changes: Sequence[RowChange]) -> Mapping[str, Any] | None:
    """The arguments that revert an update: each argument that became a cell, with the cell's old
    value. None if there are none.
    """
    back = dict(_put_back(arguments, changes))
    return (
        {**arguments, **back} if back and all(change.op == "update" for change in changes) else None
    )


def _put_back(
    arguments: Mapping[str, Any], changes: Sequence[RowChange]
) -> Iterator[tuple[str, Any]]:
    for name, value in arguments.items():
        for change in changes:
            before, after = change.before or {}, change.after or {}
            for column, cell in after.items():
                old = before.get(column)
                if (
                    column not in change.key
                    and old is not None
                    and type(cell) is type(value)
                    and cell == value != old
                ):
                    yield name, old
