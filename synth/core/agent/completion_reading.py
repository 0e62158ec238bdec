"""Reading of a completion: its native calls, calls that it wrote as text, and repaired calls if
enabled.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
import warnings
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from envs.tools.toolbox import parse_arguments
from envs.types import ErrorCategory, ToolCall, ToolResult
from synth.core.agent.rollout_result import AgentLimits
from synth.core.models.thoughts import CALL_SIGNS
from synth.model import Completion
from synth.plugins import resolve

if TYPE_CHECKING:
    from synth.core.agent.text_calls import TextCall

_LIMIT: Final = 100_000
_FENCE: Final = re.compile(r"\s*```[\w-]*\s*\n?([^`]*)```\s*")
_STRINGS_AND_COMMAS: Final = re.compile(r'("(?:[^"\\]|\\.)*+")|,(?=\s*[}\]])')


def repair(text: str) -> tuple[str, list[str]] | None:
    """Return the arguments as JSON and the names of the repairs; None if nothing can or need be
    repaired.
    """
    if len(text) > _LIMIT or _sound(text):
        return None
    done: list[str] = []
    for name, mend in _MENDS:
        mended = mend(text)
        if mended is not None and mended != text:
            text = mended
            done.append(name)
            if _sound(text):
                return text, done
    return None


def _sound(text: str) -> bool:
    return not isinstance(parse_arguments(text), ToolResult)


def _unfenced(text: str) -> str | None:
    found = _FENCE.fullmatch(text)
    return found.group(1).strip() if found else None


def _decoded_twice(text: str) -> str | None:
    """Return the object in a JSON string that holds one."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, str) else None


def _without_commas(text: str) -> str:
    return _STRINGS_AND_COMMAS.sub(lambda found: found.group(1) or "", text)


def _escaped(text: str) -> str | None:
    """Escape line breaks and other control characters inside of strings. NUL is not accepted."""
    if "\x00" in text:
        return None
    try:
        return json.dumps(
            json.loads(text, strict=False, object_pairs_hook=_once),
            ensure_ascii=False,
            allow_nan=False,
        )
    except (ValueError, RecursionError):
        return None


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def _from_python(text: str) -> str | None:
    """Read a Python literal: single quotes, True, None. Adjacent strings, which Python would join,
    are refused.
    """
    try:
        kinds = [token.type for token in tokenize.generate_tokens(io.StringIO(text).readline)]
        if any(left == right == tokenize.STRING for left, right in pairwise(kinds)):
            return None
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(text.strip(), mode="eval").body
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict) and len(
                {ast.dump(key) for key in node.keys if key}
            ) < len(node.keys):
                return None
        return json.dumps(ast.literal_eval(tree), ensure_ascii=False, allow_nan=False)
    except (SyntaxError, tokenize.TokenError, ValueError, TypeError, RecursionError, MemoryError):
        return None


_MENDS: Final[tuple[tuple[str, Callable[[str], str | None]], ...]] = (
    ("fence", _unfenced),
    ("double_encoding", _decoded_twice),
    ("trailing_comma", _without_commas),
    ("control_characters", _escaped),
    ("python_literal", _from_python),
)


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
    if limits.text_calls == "off" or broken_off or not CALL_SIGNS.search(completion.content):
        return CompletionReading(completion)
    find_calls = resolve("synth.core.agent.text_calls:find_calls")
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
