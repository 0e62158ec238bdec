"""A completion as the agent acts on it: its own calls, those that it wrote as text, and mended ones where that is wanted."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from envs.types import ErrorCategory, ToolCall, ToolResult
from synth.agent.repair import repair
from synth.agent.run import AgentLimits
from synth.agent.text_calls import TextCall, find_calls
from synth.types import Completion

Json = Any


@dataclass(frozen=True, slots=True)
class Reading:
    """The completion with the calls that are acted on.

    ``notes`` go into the result of the call at the same place. ``refused`` calls are answered, not executed. ``written`` are
    the calls that stood in the text, as they are told in the completion's event.
    """

    completion: Completion
    notes: Sequence[Mapping[str, Json]] = ()
    refused: bool = False
    written: Sequence[TextCall] = ()

    @property
    def exact(self) -> bool:
        """Whether it says what the model emitted."""
        return not self.written and not any(self.notes)


AS_TEXT = ToolResult.failure(
    "This call was written as text and was not executed: make it through the tool-calling interface.",
    category=ErrorCategory.MALFORMED_CALL,
    error="MalformedCall",
)
"""What a model is told of a call in its text, where those are refused."""


def read(completion: Completion, limits: AgentLimits, known: Container[str]) -> Reading:
    """Find the calls; ``known`` are the tools that were offered. A refusal or an answer that breaks off is left alone."""
    if completion.tool_calls:
        return _mended(completion) if limits.repair else Reading(completion)
    broken_off = completion.finish_reason in {"length", "content_filter"} or completion.refusal is not None
    if limits.text_calls == "off" or broken_off or not completion.content:
        return Reading(completion)
    before, written = find_calls(completion.content, known)
    if not written:
        return Reading(completion)
    refused = limits.text_calls == "refuse"
    calls = [ToolCall("", each.name, each.raw if refused else each.arguments) for each in written]
    notes: list[Mapping[str, Json]] = [{"text_call": each.form} for each in written]
    found = replace(completion, content=before, tool_calls=tuple(calls))
    reading = Reading(found, notes, refused, written)
    if limits.repair and not refused:
        mended = _mended(found)
        if mended.notes:
            notes = [{**note, **more} for note, more in zip(notes, mended.notes, strict=True)]
            return replace(reading, completion=mended.completion, notes=notes)
    return reading


def _mended(completion: Completion) -> Reading:
    calls: list[ToolCall] = []
    notes: list[Mapping[str, Json]] = []
    for call in completion.tool_calls:
        mended = repair(call.arguments)
        calls.append(call if mended is None else replace(call, arguments=mended[0]))
        notes.append({} if mended is None else {"repaired": {"arguments": mended[0], "how": mended[1]}})
    if not any(notes):
        return Reading(completion)
    return Reading(replace(completion, tool_calls=tuple(calls)), notes)
