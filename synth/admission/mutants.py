"""What must not earn a full reward, second half: gold with one thing wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from synth.admission.moves import Act, Attack, Move, Say, acts
from synth.canonical import canonical
from synth.mistaken import other_fact, other_values
from synth.tasks.words import SUBMIT
from synth.types import Task

Json = Any

PER_KIND = 40
"""Mutants of one kind that are played per task, evenly spread: a long loop has hundreds that are alike."""

CHANGED = "change argument"
REVERT = "write and revert"


def mutants(
    gold: Sequence[Move],
    strays: Sequence[Act],
    schemas: Mapping[str, Mapping[str, Json]],
    task: Task | None = None,
    elsewhere: Sequence[Act] = (),
) -> Iterator[Attack]:
    """A write dropped, repeated or made with another argument, a stray write, another answer; with a user, a question or
    a confirmation left out or wrong; where writes may not be undone again, one that is.

    ``schemas`` are the tools' parameters: another argument is one that the tool would take. ``elsewhere`` are calls that
    other tasks make: what they pass is the most likely of mistakes.
    """
    for at, move in enumerate(gold):
        before, after = list(gold[:at]), list(gold[at + 1 :])
        if isinstance(move, Say):
            if any(act.writes for act in acts(after)):
                yield from _talk(move, before, after, task)
        elif move.name == SUBMIT:
            for field, value in move.arguments.items():
                for other in other_values(value):
                    changed = Act(SUBMIT, {**move.arguments, field: other})
                    label = f"{field}={other!r} instead of {value!r}"
                    yield Attack("change answer", label, [*before, changed, *after], SUBMIT)
        elif move.writes:
            yield Attack("drop write", f"without {move.name}", [*before, *after], move.name)
            yield Attack("repeat write", f"{move.name} twice", [*before, move, move, *after], move.name)
            known: Mapping[str, Mapping[str, Json]] = schemas.get(move.name, {}).get("properties", {})
            for name, value in move.arguments.items():
                passed = [act.arguments[name] for act in elsewhere if act.name == move.name and name in act.arguments]
                taken = [each for each in passed if each != value and isinstance(each, type(value))]
                for other in _distinct([*other_values(value, known.get(name, {})), *taken[:1]]):
                    changed = Act(move.name, {**move.arguments, name: other}, writes=True)
                    label = f"{move.name} {name}={other!r} instead of {value!r}"
                    yield Attack(CHANGED, label, [*before, changed, *after], move.name)
    # when all is asked, and before the answer: where a stray write fails for no other reason
    at = next((at for at, each in enumerate(gold) if _ends(each)), len(gold))
    for stray in strays:
        label = f"{stray.name} {dict(stray.arguments)!r} besides"
        yield Attack("stray write", label, [*gold[:at], stray, *gold[at:]])
        if stray.undo is not None and task is not None and task.transient == "forbid":
            moves = [*gold[:at], stray, Act(stray.name, stray.undo), *gold[at:]]
            yield Attack(REVERT, f"{label}, and back again", moves)


def _distinct(values: Sequence[Json]) -> list[Json]:
    return list({canonical(each): each for each in values}.values())


def _ends(move: Move) -> bool:
    """The answer, or the last words."""
    return move.closing if isinstance(move, Say) else move.name == SUBMIT


def _talk(say: Say, before: Sequence[Move], after: Sequence[Move], task: Task | None) -> Iterator[Attack]:
    """A conversation of which one turn is left out, or restates something wrong."""
    if say.agreed:
        yield Attack("drop confirm", f"without {say.text!r}", [*before, *after])
        consent = None if task is None or task.user is None else task.user.consent
        for mention in consent.mentions if consent else ():
            wrong = say.text.replace(mention, other_fact(mention))
            if wrong != say.text:
                label = f"{other_fact(mention)!r} instead of {mention!r}"
                yield Attack("confirm a wrong fact", label, [*before, Say(wrong, say.told, agreed=True), *after])
    elif say.told:
        yield Attack("drop ask", f"without {say.text!r}", [*before, *after])


def spread(attacks: Sequence[Attack]) -> list[Attack]:
    """At most :data:`PER_KIND` of each kind, evenly spread over their order."""
    kinds: dict[str, list[Attack]] = {}
    for each in attacks:
        kinds.setdefault(each.kind, []).append(each)
    return [
        each
        for group in kinds.values()
        for each in (
            group if len(group) <= PER_KIND else [group[at * len(group) // PER_KIND] for at in range(PER_KIND)]
        )
    ]


def strays_for(gold: Sequence[Move], candidates: Sequence[Act]) -> list[Act]:
    """Writes that are not among gold's own, one of each kind of call first."""
    own = {_key(act) for act in acts(gold)}
    seen: dict[tuple[str, str], Act] = {}
    for act in candidates:
        seen.setdefault(_key(act), act)
    fresh = [act for key, act in seen.items() if key not in own]
    first = {act.name: act for act in reversed(fresh)}
    return [*first.values(), *(act for act in fresh if first[act.name] is not act)]


def _key(act: Act) -> tuple[str, str]:
    return act.name, canonical(dict(act.arguments))
