"""A task with parts: gold and end of the whole, and the request to which a topic belongs.

Its user brings the requests one after another. Each part is judged as the task that it is
(:mod:`synth.core.rewards.requests`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from synth.core.tasks.yaml.saves import saved_values
from synth.core.tasks.yaml.template import names_in
from synth.core.tasks.yaml.words import TODAY
from synth.core.types.reply import GoldReply
from synth.core.types.steps import (
    CallStep,
    FollowUpStep,
    Step,
    every_step,
    rewritten,
    steps_from_json,
)
from synth.task import Task

OF = "@"
"""Stands before the number of a later request in the names of its topics."""


def joined_gold(parts: Sequence[Task]) -> list[Step]:
    """The steps of all parts, with the beginning of each later request between them."""
    steps: list[Step] = []
    follow_ups = 0
    for index, part in enumerate(parts):
        if index:
            steps.append(FollowUpStep(follow_ups, "done"))
            follow_ups += 1
        steps += rewritten(part.gold, _counted_from(follow_ups))
        follow_ups += len(part.role.then)
    return steps


def with_own_names(steps: Sequence[Step], suffix: str) -> list[Step]:
    """Steps whose saved names end in ``suffix``, so that no other request saves the same."""

    def renamed(value: Any) -> Any:
        if isinstance(value, list):
            return [renamed(item) for item in cast("list[Any]", value)]
        if not isinstance(value, dict):
            return value
        node = {key: renamed(item) for key, item in cast("dict[str, Any]", value).items()}
        if node.get("$", TODAY) != TODAY:
            node["$"] += suffix
        match node.get("do"):
            case "call":
                node["save"] = {name + suffix: path for name, path in node["save"].items()}
            case "say":
                node["always"] = [name + suffix for name in node["always"]]
            case "for_each":
                node["name"] += suffix
            case _:
                pass
        return node

    return steps_from_json(renamed([step.to_json() for step in steps]))


Reading = tuple[str, Mapping[str, object], object]
"""A call that read: the tool, its arguments, and the value of its result."""


def without_repeats(steps: Sequence[Step], reads: Mapping[int, Reading]) -> dict[int, Step]:
    """Steps by their places, without the reads whose result is known: the later of two alike, and
    the search for the id of a thing that an earlier result shows. ``reads`` holds what each step
    read, by its ``id``. A read that saves a name anew is kept: saved earlier, it would be lost.
    """
    out: dict[int, Step] = {}
    known: dict[int, tuple[Reading, Sequence[_Found]]] = {}
    names = set[str]()
    for number, step in enumerate(steps):
        read = reads.get(id(step)) if isinstance(step, CallStep) else None
        saved = {name for one in every_step([step]) for name in getattr(one, "save", ())}
        anew, names = not names.isdisjoint(saved), names | saved
        found = next(_taken(cast("CallStep", step), read, known), None) if read else None
        if found is not None and not anew:
            earlier = cast("CallStep", out[found[0]])
            out[found[0]] = replace(earlier, save={**earlier.save, **found[1]})
            continue
        if read is not None:
            known[number] = read, [*_objects(read[2])] if isinstance(read[2], dict) else ()
        out[number] = step
    return out


_Found = tuple[tuple[str | int, ...], dict[str, Any]]
"""An object in a result, and the keys that lead to it."""


def _objects(value: Any, keys: tuple[str | int, ...] = ()) -> Iterator[_Found]:
    """The objects inside a value; of each one, its own before what is inside them."""
    items: Any = value.items() if value.__class__ is dict else enumerate(value)
    inner = [((*keys, key), item) for key, item in items if item.__class__ in {dict, list}]
    yield from (found for found in inner if found[1].__class__ is dict)
    for place, item in inner:
        yield from _objects(item, place)


def _taken(
    step: CallStep, read: Reading, known: Mapping[int, tuple[Reading, Sequence[_Found]]]
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Places of earlier reads that tell what a step saves, with the saves that take it from there.
    Two people may have one name, so that a thing is known by a number or an address.
    """
    if not names_in(dict(step.save), "$") <= {TODAY, *step.save}:
        return
    yield from ((place, step.save) for place, (earlier, _) in known.items() if earlier == read)
    said, keys = set(map(str, read[1].values())), _ids(step.save)
    if not keys or not re.search(r"[\d@]", "".join(said)):
        return
    values = saved_values(step.save, read[2], {})
    for place, (_, objects) in known.items():
        for path, thing in objects:
            told = all(thing.get(key) == values[name] for name, key in keys.items())
            if told and said <= set(map(str, thing.values())):
                at = "".join(f"[{key!r}]" for key in path)
                yield place, {name: f"${at}['{key}']" for name, key in keys.items()}


def _ids(saves: Mapping[str, object]) -> Mapping[str, str]:
    """The fields of ids that a step saves, by name; none if it saves anything else."""
    ends = {name: re.search(r"\.(\w+id)(?:'|$)", str(path)) for name, path in saves.items()}
    return {name: found[1] for name, found in ends.items() if found} if all(ends.values()) else {}


def joined_reply(parts: Sequence[Task]) -> GoldReply:
    """The reply of the whole: what the parts' ends say about theirs."""
    replies = [
        GoldReply.from_json(part.end.reply)
        for part in parts
        if part.end is not None and part.end.reply is not None
    ]
    return GoldReply(
        tuple(text for one in replies for text in one.said),
        tuple(fact for one in replies for fact in one.must),
        tuple(fact for one in replies for fact in one.facts),
        tuple(sorted({person for one in replies for person in one.people})),
    )


def request_of(topic: str) -> int:
    """The number, from 1, of the request to which a topic of a composed task belongs."""
    return int(topic.rpartition(OF)[2]) if OF in topic else 1


def _counted_from(follow_ups: int) -> Callable[[Step], Sequence[Step]]:
    def counted(step: Step) -> Sequence[Step]:
        return [
            replace(step, index=step.index + follow_ups) if isinstance(step, FollowUpStep) else step
        ]

    return counted
