"""Mutants: gold with one thing wrong, which must not pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from synth.core.foundation.hashing import canonical
from synth.core.foundation.perturbations import other_fact, other_values
from synth.core.rewards.process_gates import ReadBefore, tool_of
from synth.core.tasks.parts import request_of
from synth.core.tasks.yaml.words import SUBMIT
from synth.core.types.steps import InstructStep
from synth.core.validation.attacks.steps import Attack, Move, SayStep, ToolStep, acts
from synth.task import Task

PER_KIND = 40
"""Mutants of one kind that are played per task, evenly spread; a long loop has hundreds of similar
ones.
"""

CHANGED = "change argument"
REVERT = "write and revert"


def mutants(
    gold: Sequence[Move],
    strays: Sequence[ToolStep],
    schemas: Mapping[str, Mapping[str, Any]],
    task: Task | None = None,
    elsewhere: Sequence[ToolStep] = (),
) -> Iterator[Attack]:
    """Mutants of gold: a write left out, repeated or made with another argument, a stray write,
    another answer; a write without the reads that it needs; with a user, a question or a
    confirmation left out or wrong; an instruction of the user left out, repeated or wrong; where
    writes may not be undone, a write that is undone.

    ``schemas`` are the tools' parameters: another argument is one that the tool would accept.
    ``elsewhere`` are calls of other tasks: their arguments are the most likely mistakes.
    """
    for index, move in enumerate(gold):
        before, after = list(gold[:index]), list(gold[index + 1 :])
        if isinstance(move, SayStep):
            for made in move.made:
                yield from _instruct_mutants(made, before, move, after, schemas)
            if any(act.writes for act in acts(after)):
                yield from _talk_mutants(move, before, after, task)
        elif move.name == SUBMIT:
            yield from _answer_mutants(move, before, after)
        elif move.writes:
            yield from _write_mutants(move, before, after, schemas, elsewhere)
            yield from _unread_mutants(move, before, after, task)
    yield from _stray_writes(gold, strays, task)


def _answer_mutants(
    submit: ToolStep, before: Sequence[Move], after: Sequence[Move]
) -> Iterator[Attack]:
    for field, value in submit.arguments.items():
        for other in other_values(value):
            changed = ToolStep(SUBMIT, {**submit.arguments, field: other})
            label = f"{field}={other!r} instead of {value!r}"
            yield Attack("change answer", label, [*before, changed, *after], SUBMIT)


def _write_mutants(
    write: ToolStep,
    before: Sequence[Move],
    after: Sequence[Move],
    schemas: Mapping[str, Mapping[str, Any]],
    elsewhere: Sequence[ToolStep],
) -> Iterator[Attack]:
    name = write.name
    yield Attack("drop write", f"without {name}", [*before, *after], name)
    yield Attack("repeat write", f"{name} twice", [*before, write, write, *after], name)
    for changed, label in _changed(write, schemas, elsewhere):
        yield Attack(CHANGED, label, [*before, changed, *after], name)


def _instruct_mutants(
    made: ToolStep,
    before: Sequence[Move],
    say: SayStep,
    after: Sequence[Move],
    schemas: Mapping[str, Mapping[str, Any]],
) -> Iterator[Attack]:
    """A turn in which the user makes a call, left out, repeated, or for another call."""
    name = made.name
    yield Attack("drop instruction", f"without {name}", [*before, *after], name)
    yield Attack("repeat instruction", f"{name} twice", [*before, say, say, *after], name)
    for changed, label in _changed(made, schemas, ()):
        other = SayStep(InstructStep(name, changed.arguments).text)
        yield Attack("change instruction", label, [*before, other, *after], name)


def _changed(
    act: ToolStep, schemas: Mapping[str, Mapping[str, Any]], elsewhere: Sequence[ToolStep]
) -> Iterator[tuple[ToolStep, str]]:
    """A call with one other argument, and in words which."""
    name = act.name
    properties: Mapping[str, Mapping[str, Any]] = schemas.get(name, {}).get("properties", {})
    for argument, value in act.arguments.items():
        passed = [
            other.arguments[argument]
            for other in elsewhere
            if other.name == name and argument in other.arguments
        ]
        taken = [other for other in passed if other != value and isinstance(other, type(value))]
        others = [*other_values(value, properties.get(argument, {})), *taken[:1]]
        for other in {canonical(other): other for other in others}.values():
            changed = ToolStep(name, {**act.arguments, argument: other}, writes=True)
            yield changed, f"{name} {argument}={other!r} instead of {value!r}"


def _unread_mutants(
    write: ToolStep, before: Sequence[Move], after: Sequence[Move], task: Task | None
) -> Iterator[Attack]:
    """The write without the reads that have to come before it."""
    gate = None if task is None else task.gate("read_before")
    demands = ReadBefore().parse_options({} if gate is None else gate.options)
    for lookups in demands.get(write.name, ()):
        tools = set(map(tool_of, lookups))
        kept = [
            move
            for move in before
            if isinstance(move, SayStep) or move.writes or move.name not in tools
        ]
        if not any(isinstance(move, ToolStep) and move.name in tools for move in kept):
            label = f"{write.name} without {' or '.join(sorted(tools))}"
            yield Attack("skip read", label, [*kept, write, *after], write.name)


def _stray_writes(
    gold: Sequence[Move], strays: Sequence[ToolStep], task: Task | None
) -> Iterator[Attack]:
    """One more write, after everything was asked and before the answer: there it fails for no other
    reason.
    """
    end = next((index for index, move in enumerate(gold) if _ends(move)), len(gold))
    for stray in strays:
        label = f"{stray.name} {dict(stray.arguments)!r} besides"
        yield Attack("stray write", label, [*gold[:end], stray, *gold[end:]])
        if stray.undo is not None and task is not None and task.rules.transient == "forbid":
            moves = [*gold[:end], stray, ToolStep(stray.name, stray.undo), *gold[end:]]
            yield Attack(REVERT, f"{label}, and back again", moves)


def _ends(move: Move) -> bool:
    """True for the answer and for the last words."""
    return move.closing if isinstance(move, SayStep) else move.name == SUBMIT


def _talk_mutants(
    say: SayStep, before: Sequence[Move], after: Sequence[Move], task: Task | None
) -> Iterator[Attack]:
    """A conversation in which one turn is left out, or restates a wrong fact."""
    if say.agreed:
        yield Attack("drop confirm", f"without {say.text!r}", [*before, *after])
        consents = () if task is None else task.role.every_consent
        for mention in dict.fromkeys(mention for one in consents for mention in one.mentions):
            wrong = say.text.replace(mention, other_fact(mention))
            if wrong != say.text:
                label = f"{other_fact(mention)!r} instead of {mention!r}"
                yield Attack(
                    "confirm a wrong fact",
                    label,
                    [*before, SayStep(wrong, say.told, agreed=True), *after],
                )
    elif say.told and _writes_later(say.told[0], before, after, task):
        yield Attack("drop ask", f"without {say.text!r}", [*before, *after])


def _writes_later(
    topic: str, before: Sequence[Move], after: Sequence[Move], task: Task | None
) -> bool:
    """True if the request to which the topic belongs has a write after the moves ``before``."""
    later = acts(after)
    if task is not None and task.parts:
        calls = [0 if part.end is None else part.end.calls for part in task.parts]
        later = later[: sum(calls[: request_of(topic)]) - len(acts(before))]
    return any(act.writes for act in later)


def spread(attacks: Sequence[Attack]) -> list[Attack]:
    """At most :data:`PER_KIND` of each kind, evenly spread over their order."""
    kinds: dict[str, list[Attack]] = {}
    for attack in attacks:
        kinds.setdefault(attack.kind, []).append(attack)
    return [
        group[index * len(group) // count]
        for group in kinds.values()
        for count in (min(len(group), PER_KIND),)
        for index in range(count)
    ]


def strays_for(gold: Sequence[Move], candidates: Sequence[ToolStep]) -> list[ToolStep]:
    """Writes that gold does not make; the first one of each tool comes first."""
    own = {_key(act) for act in acts(gold)}
    seen: dict[tuple[str, str], ToolStep] = {}
    for act in candidates:
        seen.setdefault(_key(act), act)
    fresh = [act for key, act in seen.items() if key not in own]
    first = {act.name: act for act in reversed(fresh)}
    return [*first.values(), *(act for act in fresh if first[act.name] is not act)]


def _key(act: ToolStep) -> tuple[str, str]:
    return act.name, canonical(dict(act.arguments))
