"""Process gates: how the work was done. Reads are never counted; a write is a call that changed rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from synth.types import Verdict
from synth.verifiers.base import CallRecord, Evidence, TurnRecord, Verifier
from synth.verifiers.columns import Columns

Json = Any


class RequiredCalls(Verifier):
    """Each named tool was called with success at least once."""

    name = "required_calls"

    def verify(self, evidence: Evidence, option: Json) -> Verdict:
        made = {call.name for call in evidence.calls if call.ok}
        absent = [name for name in option if name not in made]
        reason = f"never called with success: {', '.join(absent)}" if absent else "all required calls were made"
        return Verdict(self.name, 0.0 if absent else 1.0, reason)


class ForbiddenCalls(Verifier):
    """None of the named tools was called with success."""

    name = "forbidden_calls"

    def verify(self, evidence: Evidence, option: Json) -> Verdict:
        made = sorted({call.name for call in evidence.calls if call.ok and call.name in option})
        reason = f"forbidden, yet called: {', '.join(made)}" if made else "no forbidden call was made"
        return Verdict(self.name, 0.0 if made else 1.0, reason)


class NoWriteBefore(Verifier):
    """No write before the user was asked (``ask``) or agreed (``confirm``); ``option`` lists one or both.

    ``ask``: before the first write the user had told every topic that gold asks for.
    ``confirm``: at each write the user's last word was consent, in tasks whose gold confirms (one twin may have to).
    What is agreed to is the task, whose facts the agent had to restate, so one consent covers all its writes; a user
    who declines takes it back.
    """

    name = "no_write_before"

    def verify(self, evidence: Evidence, option: Json) -> Verdict:
        columns = Columns(evidence.task.compare, evidence.tables)
        steps = list(_every(evidence.task.gold))
        topics = dict.fromkeys(topic for step in steps if step["do"] == "ask" for topic in step["topics"])
        asks = "ask" in option
        confirms = "confirm" in option and any(step["do"] == "confirm" for step in steps)
        for at, call in enumerate(evidence.calls):
            if all(columns.ignorable(each) for each in call.changes):
                continue
            heard = [turn for turn in evidence.turns if turn.after <= at]
            told = {topic for turn in heard for topic in turn.told}
            untold = [topic for topic in topics if topic not in told]
            reasons = [
                f"before the user had told {', '.join(untold)}" if asks and untold else "",
                _not_agreed(heard) if confirms else "",
            ]
            if wrong := " and ".join(filter(None, reasons)):
                return Verdict(self.name, 0.0, f"call {at} ({call.name}) changed rows {wrong}", detail=_first(at, call))
        return Verdict(self.name, 1.0, "no write came too early")


def _not_agreed(heard: Sequence[TurnRecord]) -> str:
    """Why a write was not agreed to, by the last turn in which the user said yes or no."""
    words = [turn for turn in heard if turn.consents or turn.declines]
    if not words:
        return "before the user had agreed"
    return "after the user had declined" if words[-1].declines else ""


def _first(at: int, call: CallRecord) -> dict[str, Json]:
    return {"first_wrong": {"call": at, "tool": call.name, "row": call.changes[0].to_json()}}


def _every(steps: Sequence[Json]) -> Iterator[Json]:
    """Steps, and those of their loops."""
    for step in steps:
        yield step
        yield from _every(step.get("steps", ()))
