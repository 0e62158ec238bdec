"""A task with parts: gold and end of the whole, and the request to which a topic belongs.

Its user brings the requests one after another. Each part is judged as the task that it is
(:mod:`synth.core.rewards.requests`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from synth.core.tasks.yaml.template import names_in
from synth.core.tasks.yaml.words import TODAY
from synth.core.types.reply import GoldReply
from synth.core.types.steps import CallStep, FollowUpStep, Step, rewritten, steps_from_json
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


def without_repeats(steps: Sequence[Step], reads: Mapping[int, str]) -> list[Step]:
    """Steps without the reads whose result is known. ``reads`` holds call and result of each step
    that read, by its ``id``: the later of two alike tells nothing new.
    """
    out: list[Step] = []
    places: dict[str, int] = {}
    for step in steps:
        read = reads.get(id(step))
        if isinstance(step, CallStep) and read is not None:
            place = places.setdefault(read, len(out))
            if place < len(out) and names_in(dict(step.save), "$") <= {TODAY, *step.save}:
                earlier = cast("CallStep", out[place])
                out[place] = replace(earlier, save={**earlier.save, **step.save})
                continue
        out.append(step)
    return out


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
