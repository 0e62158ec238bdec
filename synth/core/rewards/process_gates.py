"""Process gates, about the way in which the work was done. Reads never count; a write is a call
that changed rows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import cast

from synth.core.foundation.json_leaves import named_values
from synth.core.rewards.state.columns import Columns
from synth.core.types.steps import CallStep, ConfirmStep, LoopStep, every_step
from synth.evidence import CallRecord, Evidence, TurnRecord, Verifier
from synth.task import Task
from synth.verdict import Verdict


class RequiredCalls(Verifier):
    """Passes if each of the tools that the options list was called with success at least once."""

    name = "required_calls"

    def parse_options(self, raw: object) -> Sequence[str]:
        return cast("Sequence[str]", raw)

    def verify(self, evidence: Evidence, options: Sequence[str]) -> Verdict:
        called = {call.name for call in evidence.calls if call.ok}
        absent = [name for name in options if name not in called]
        reason = (
            f"never called with success: {', '.join(absent)}"
            if absent
            else "all required calls were made"
        )
        return Verdict(self.name, 0.0 if absent else 1.0, reason)


class ForbiddenCalls(Verifier):
    """Passes if none of the tools that the options list was called with success."""

    name = "forbidden_calls"

    def parse_options(self, raw: object) -> Sequence[str]:
        return cast("Sequence[str]", raw)

    def verify(self, evidence: Evidence, options: Sequence[str]) -> Verdict:
        called = sorted({call.name for call in evidence.calls if call.ok and call.name in options})
        reason = (
            f"forbidden, yet called: {', '.join(called)}"
            if called
            else "no forbidden call was made"
        )
        return Verdict(self.name, 0.0 if called else 1.0, reason)


class NoWriteBefore(Verifier):
    """Passes if no write came before the user was asked (``ask``) or agreed (``confirm``); the
    options list one or both.

    ``ask``: before the first write the user had told every topic that gold asks for before its
    own, and before later writes with a tool what gold asks for between its own. ``confirm``: at
    each write the user's latest yes or no was consent, in tasks whose gold confirms (one case may
    have to). A yes licenses the tools that its condition covers, or all; tools that no condition
    covers need none. Where several conditions cover a tool and gold proposes between its calls,
    each of these calls needs a yes more. A user who declines takes every yes back.
    """

    name = "no_write_before"

    def parse_options(self, raw: object) -> Sequence[str]:
        return cast("Sequence[str]", raw)

    def verify(self, evidence: Evidence, options: Sequence[str]) -> Verdict:
        columns = Columns(evidence.task.rules.compare, evidence.tables)
        demands = _Demands.of(evidence.task, options)
        written: Counter[str] = Counter()
        for index, call in enumerate(evidence.calls):
            if all(columns.ignorable(change) for change in call.changes):
                continue
            turns = [turn for turn in evidence.turns if turn.after <= index]
            written[call.name] += 1
            if wrong := demands.unmet(turns, call.name, written[call.name]):
                reason = f"call {index} ({call.name}) changed rows {wrong}"
                first = {"call": index, "tool": call.name, "row": call.changes[0].to_json()}
                return Verdict(self.name, 0.0, reason, detail={"first_wrong": first})
        return Verdict(self.name, 1.0, "no write came too early")


class ReadBefore(Verifier):
    """Passes if each call was preceded by the reads that the world's ``read_before`` demands.

    The options map a tool to its reads, each a lookup or a list of which one is enough. A lookup is
    a tool's name, or ``{tool: argument}``. It counts if it is about the same thing: the arguments
    that it shares with the call are equal, or its result shows ``argument`` of the call (by default
    the tool's first parameter). Only calls that succeed count.
    """

    name = "read_before"

    def parse_options(self, raw: object) -> Mapping[str, Sequence[Sequence[Lookup]]]:
        demands = cast("Mapping[str, Sequence[Lookup | Sequence[Lookup]]]", raw)
        return {
            tool: [[one] if isinstance(one, str | Mapping) else one for one in reads]
            for tool, reads in demands.items()
        }

    def verify(
        self, evidence: Evidence, options: Mapping[str, Sequence[Sequence[Lookup]]]
    ) -> Verdict:
        past = [call for one in evidence.so_far[:-1] for call in one.calls]
        for index, call in enumerate(evidence.calls):
            demands = options.get(call.name, ()) if call.ok else ()
            earlier = [*past, *evidence.calls[:index]] if demands else ()
            for lookups in demands:
                subject = _subjects(evidence.tools_json).get(call.name, "")
                if not any(_is_read(earlier, call, lookup, subject) for lookup in lookups):
                    names = [*map(tool_of, lookups)]
                    ran = any(one.ok and one.name in names for one in earlier)
                    shows = f" that shows its {_named(call, lookups[0], subject)}" if ran else ""
                    wanted = f"{' or '.join(names)} before it{shows}"
                    reason = f"call {index} ({call.name}) was made without {wanted}"
                    detail = {"first_wrong": {"call": index, "tool": call.name}}
                    return Verdict(self.name, 0.0, reason, detail=detail)
        return Verdict(self.name, 1.0, "everything was read before it was acted on")


Lookup = str | Mapping[str, str]
"""A lookup as the options have it: a tool's name, or ``{tool: argument}``."""


def tool_of(lookup: Lookup) -> str:
    return lookup if isinstance(lookup, str) else next(iter(lookup))


@lru_cache(maxsize=64)
def _subjects(tools_json: str) -> Mapping[str, str]:
    """The first parameter of each tool, which is what it acts on."""
    functions = [tool["function"] for tool in json.loads(tools_json)]
    return {
        tool["name"]: next(iter(tool["parameters"].get("properties", {})), "") for tool in functions
    }


def _is_read(earlier: Sequence[CallRecord], call: CallRecord, lookup: Lookup, subject: str) -> bool:
    """True if the ``earlier`` calls of a lookup are about what a call acts on, by default the
    argument ``subject``, or the first one.
    """
    given, tool = call.arguments or {}, tool_of(lookup)
    reads = [one for one in earlier if one.ok and one.name == tool]
    if isinstance(lookup, str):
        if any(_shares(read, given) for read in reads):
            return True
        reads = [read for read in reads if not (read.arguments or {}).keys() & given.keys()]
    results = [None if read.result is None else read.result.payload() for read in reads]
    shown = _values([results, [read.arguments for read in reads]])
    return bool(reads) and _values(given.get(_named(call, lookup, subject))) <= shown


def _named(call: CallRecord, lookup: Lookup, subject: str) -> str:
    """The argument of a call that a read has to show."""
    given = call.arguments or {}
    if isinstance(lookup, str):
        return subject if subject in given else next(iter(given), "")
    return lookup[tool_of(lookup)]


def _shares(read: CallRecord, given: Mapping[str, object]) -> bool:
    """True if a read has arguments of a call, all of them equal to the call's."""
    asked = read.arguments or {}
    shared = asked.keys() & given.keys()
    return bool(shared) and all(_plain(asked[name]) == _plain(given[name]) for name in shared)


def _plain(value: object) -> str:
    return " ".join(str(value).casefold().split())


def _values(value: object) -> set[str]:
    """The scalars in a value, as plain text."""
    return {_plain(one) for _, one in named_values(value)}


@dataclass(frozen=True)
class _Demands:
    """Conditions on the conversation before a write: topics that the user has told, and consent.

    ``topics`` are as in :class:`~synth.task.GoldEnd`.
    """

    topics: Mapping[str, Mapping[str, int]]
    consent: bool
    covered: Collection[str] = ()
    proposals: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])

    @classmethod
    def of(cls, task: Task, options: Sequence[str]) -> _Demands:
        steps = list(every_step(task.gold))
        asked: Mapping[str, Mapping[str, int]] = {} if task.end is None else task.end.asked
        confirms = any(isinstance(step, ConfirmStep) for step in steps)
        return cls(
            asked if "ask" in options else {},
            "confirm" in options and confirms,
            _covered(task),
            _proposals(task),
        )

    def unmet(self, turns: Sequence[TurnRecord], tool: str, number: int) -> str:
        """The unmet demands on the ``number``-th write of a tool, from 1, after these turns, as a
        clause; empty if all are met.
        """
        answered = {topic for turn in turns for topic in turn.told}
        untold = [
            topic
            for topic, before in self.topics.items()
            if topic not in answered and (not before or number > before.get(tool, number))
        ]
        binds = self.consent and (not self.covered or tool in self.covered)
        reasons = [
            f"before the user had told {', '.join(untold)}" if untold else "",
            self._without_yes(turns, tool, number) if binds else "",
        ]
        return " and ".join(filter(None, reasons))

    def _without_yes(self, turns: Sequence[TurnRecord], tool: str, number: int) -> str:
        """The reason for which a write of a tool has no yes; empty if it has one."""
        if wrong := _not_agreed(turns, tool):
            return wrong
        due = self.proposals.get(tool, ())[:number]
        given = [turn.covers for turn in turns if turn.consents]
        if all(given) and sum(covers.count(tool) for covers in given) < max(due, default=0):
            return "to which the user had not agreed (only to earlier calls)"
        return ""


def _covered(task: Task) -> Collection[str]:
    """The tools whose calls need a yes; none named stands for all."""
    consents = task.role.every_consent
    if not all(consent.covers for consent in consents):
        return ()
    return frozenset(tool for consent in consents for tool in consent.covers)


def _proposals(task: Task) -> dict[str, list[int]]:
    """The number of proposals that gold makes before each call of a tool, at most the number of the
    call and of the conditions that cover the tool; empty for gold with a loop.
    """
    out: dict[str, list[int]] = {}
    made = 0
    steps = list(every_step(task.gold))
    if any(isinstance(step, LoopStep) for step in steps):
        return out
    covers = Counter(tool for consent in task.role.every_consent for tool in consent.covers)
    for step in steps:
        made += isinstance(step, ConfirmStep)
        if isinstance(step, CallStep) and step.fails is None:
            calls = out.setdefault(step.tool, [])
            calls.append(min(made, len(calls) + 1, covers[step.tool]))
    return out


def _not_agreed(turns: Sequence[TurnRecord], tool: str) -> str:
    """The reason for which the latest yes or no of the user is not consent to a tool; empty if it
    is.
    """
    agreed = [turn for turn in turns if turn.consents]
    decisions = [
        turn
        for turn in turns
        if turn.declines or (turn.consents and (not turn.covers or tool in turn.covers))
    ]
    if decisions:
        return "after the user had declined" if decisions[-1].declines else ""
    if not agreed:
        return "before the user had agreed"
    covers = ", ".join(dict.fromkeys(name for turn in agreed for name in turn.covers))
    return f"to which the user had not agreed (only to {covers})"
