"""Reading of a completion: its native calls, calls that it wrote as text, and repaired calls if
enabled.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

from envs.types import ErrorCategory, ToolCall, ToolResult
from synth.core.agent.repair import repair
from synth.core.agent.rollout_result import AgentLimits
from synth.core.agent.text_calls import TextCall, find_calls
from synth.model import Completion


@dataclass(frozen=True, slots=True)
class CompletionReading:
    """A completion with the calls that are acted on.

    ``notes`` go into the result of the call with the same index. ``refused`` calls are answered,
    not executed. ``written`` lists the calls found in the text, as the completion's event records
    them.
    """

    completion: Completion
    notes: Sequence[Mapping[str, object]] = ()
    refused: bool = False
    written: Sequence[TextCall] = ()

    @property
    def exact(self) -> bool:
        """True if the completion says exactly what the model emitted."""
        return not self.written and not any(self.notes)


AS_TEXT = ToolResult.failure(
    "This call was written as text and was not executed: make it through the tool-calling"
    " interface.",
    category=ErrorCategory.MALFORMED_CALL,
    error="MalformedCall",
)
"""Answer to a call in the text where such calls are refused."""


def read(completion: Completion, limits: AgentLimits, known: Container[str]) -> CompletionReading:
    """Find the calls of a completion; ``known`` names the tools that were offered.

    A refusal or an answer that was cut off is returned as it is.
    """
    if completion.tool_calls:
        return _mended(completion) if limits.repair else CompletionReading(completion)
    broken_off = (
        completion.finish_reason in {"length", "content_filter"} or completion.refusal is not None
    )
    if limits.text_calls == "off" or broken_off or not completion.content:
        return CompletionReading(completion)
    before, written = find_calls(completion.content, known)
    if not written:
        return CompletionReading(completion)
    refused = limits.text_calls == "refuse"
    calls = [ToolCall("", call.name, call.raw if refused else call.arguments) for call in written]
    notes: list[Mapping[str, object]] = [{"text_call": call.form} for call in written]
    found = replace(completion, content=before, tool_calls=tuple(calls))
    reading = CompletionReading(found, notes, refused, written)
    if limits.repair and not refused:
        mended = _mended(found)
        if mended.notes:
            notes = [{**note, **more} for note, more in zip(notes, mended.notes, strict=True)]
            return replace(reading, completion=mended.completion, notes=notes)
    return reading


def _mended(completion: Completion) -> CompletionReading:
    calls: list[ToolCall] = []
    notes: list[Mapping[str, object]] = []
    for call in completion.tool_calls:
        mended = repair(call.arguments)
        calls.append(call if mended is None else replace(call, arguments=mended[0]))
        notes.append(
            {} if mended is None else {"repaired": {"arguments": mended[0], "how": mended[1]}}
        )
    if not any(notes):
        return CompletionReading(completion)
    return CompletionReading(replace(completion, tool_calls=tuple(calls)), notes)
