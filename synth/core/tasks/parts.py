"""A task with parts: gold and end of the whole, and the request to which a topic belongs.

Its user brings the requests one after another. Each part is judged as the task that it is
(:mod:`synth.core.rewards.requests`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from synth.core.tasks.yaml.template import names_in
from synth.core.types.reply import GoldReply
from synth.core.types.steps import CallStep, FollowUpStep, Step, every_step, rewritten
from synth.task import GoldEnd, Task

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


def without_repeats(steps: Sequence[Step], reads: Mapping[int, str]) -> list[Step]:
    """Steps without the reads whose result is known. ``reads`` holds call and result of each step
    that read, by its ``id``: the later of two alike tells nothing new.
    """
    out: list[Step] = []
    places: dict[str, int] = {}
    saved: Counter[str] = Counter()
    for step in steps:
        read = reads.get(id(step))
        if isinstance(step, CallStep) and read is not None:
            place = places.get(read)
            if place is not None and not names_in(dict(step.save), "$"):
                earlier = cast("CallStep", out[place])
                same = {name for name, path in step.save.items() if earlier.save.get(name) == path}
                if all(saved[name] == (1 if name in same else 0) for name in step.save):
                    saved.update(step.save.keys() - earlier.save.keys())
                    out[place] = replace(earlier, save={**earlier.save, **step.save})
                    continue
            places[read] = len(out)
        saved.update(
            name for one in every_step([step]) if isinstance(one, CallStep) for name in one.save
        )
        out.append(step)
    return out


def joined_end(parts: Sequence[Task], end: GoldEnd) -> GoldEnd:
    """The end of the whole with what the parts' ends say about replies."""
    replies = [
        GoldReply.from_json(part.end.reply)
        for part in parts
        if part.end is not None and part.end.reply is not None
    ]
    reply = GoldReply(
        tuple(text for one in replies for text in one.said),
        tuple(fact for one in replies for fact in one.must),
        tuple(fact for one in replies for fact in one.facts),
        tuple(sorted({person for one in replies for person in one.people})),
    )
    return replace(end, reply=reply.to_json())


def request_of(topic: str) -> int:
    """The number, from 1, of the request to which a topic of a composed task belongs."""
    return int(topic.rpartition(OF)[2]) if OF in topic else 1


def _counted_from(follow_ups: int) -> Callable[[Step], Sequence[Step]]:
    def counted(step: Step) -> Sequence[Step]:
        return [
            replace(step, index=step.index + follow_ups) if isinstance(step, FollowUpStep) else step
        ]

    return counted
