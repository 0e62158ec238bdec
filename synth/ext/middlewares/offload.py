"""``offload``: puts results aside that are too long; the model gets a preview, and two tools
to read and search the rest.

``messages`` holds the preview, ``events`` the whole result. The two tools are answered here and not
by the environment, so that verification does not change.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final, cast

import re2

from envs.types import ErrorCategory, ToolResult
from synth.core.agent.state import AgentState
from synth.core.models.recap import GREP, READ, Kept, piece, preview
from synth.ext.middlewares import OffloadConfig
from synth.middleware import (
    AgentMiddleware,
    AgentTool,
    MiddlewareHome,
    MiddlewareInstance,
    ToolAnswer,
)
from synth.plugins import extension

MAX_PATTERN = 300
"""Maximum length of a pattern, in characters."""

_MEMORY_BYTES = 1024 * 1024
_MOST_STEPS = 1_200
"""Maximum size of a compiled expression, with counted repetitions written out.

Up to this size re2 stays on its fast path within its memory: half a second for 200,000 characters
at worst, while a program of 4,000 steps took 40.
"""


class BadPatternError(ValueError):
    """A pattern that cannot be used; the message gives the reason."""


def places(
    text: str, pattern: str, *, regex: bool, ignore_case: bool, offset: int, most: int
) -> list[tuple[int, int]]:
    """Return start and end of the first ``most`` non-empty matches from an offset on, in
    characters.

    Expressions are RE2's, without look-around and back references: the time is at most proportional
    to the expression's length times the text's, while ``re`` needs exponential time for some.
    Raises :class:`BadPatternError`.
    """
    if not 0 < len(pattern) <= MAX_PATTERN:
        raise BadPatternError(
            f"a pattern has between 1 and {MAX_PATTERN} characters, not {len(pattern)}"
        )
    options = re2.Options()
    options.literal, options.case_sensitive = not regex, not ignore_case
    options.max_mem, options.log_errors = _MEMORY_BYTES, False
    try:
        expression = re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0]
        advice = (
            reason.decode(errors="replace")
            if isinstance(reason, bytes)
            else "it holds a lone surrogate"
        )
        raise BadPatternError(f"it is not an RE2 expression: {advice}") from None
    if expression.programsize > _MOST_STEPS:
        raise BadPatternError("it repeats too much, written out")

    def found() -> Iterator[tuple[int, int]]:
        for match in expression.finditer(text, offset):
            if match.end() > match.start():
                yield match.start(), match.end()

    return list(islice(found(), most))


_MAX_MATCHES = 50
_SHOWN_MATCHES = 10
_CONTEXT = 80


def _object(required: Sequence[str], **properties: object) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


_ID: Final = {"type": "string", "description": "The id that the preview names, such as output_0."}
_OFFSET: Final = {
    "type": "integer",
    "minimum": 0,
    "description": "The character to begin with; 0 if left out.",
}


class ToolResultOffloadMiddleware(AgentMiddleware):
    """One rollout's long results, which the rollout's record holds too, by their ids."""

    name = "offload"

    def __init__(self, options: OffloadConfig) -> None:
        self._options = options
        self._outputs: dict[str, str] = {}

    def on_register(self, agent: AgentState) -> Sequence[AgentTool]:
        most = self._options.read_chars
        length = {
            "type": "integer",
            "minimum": 1,
            "description": f"How many characters; at most {most}, which is usual.",
        }
        regex = {
            "type": "boolean",
            "description": "Whether the pattern is a regular expression (RE2); false if left out.",
        }
        fold = {
            "type": "boolean",
            "description": "Whether upper and lower case are the same; false if left out.",
        }
        matches = {
            "type": "integer",
            "minimum": 1,
            "description": f"At most so many; {_SHOWN_MATCHES} if left out.",
        }
        return (
            AgentTool(
                READ,
                "Read a part of a tool's result that was too long to be shown.",
                _object(["output_id"], output_id=_ID, offset=_OFFSET, limit=length),
                self._read,
            ),
            AgentTool(
                GREP,
                "Search a tool's result that was too long to be shown; gives each place with the"
                " text around it.",
                _object(
                    ["output_id", "pattern"],
                    output_id=_ID,
                    pattern={"type": "string", "description": "The text to look for."},
                    regex=regex,
                    ignore_case=fold,
                    offset=_OFFSET,
                    max_matches=matches,
                ),
                self._grep,
            ),
        )

    async def after_tool_call(self, agent: AgentState, answered: ToolAnswer) -> ToolAnswer:
        text, options = answered.content, self._options
        if (
            answered.by is not None
            or not answered.outcome.result.ok
            or len(text) <= options.max_chars
        ):
            return answered
        kept = Kept(f"output_{len(self._outputs)}", len(text))
        self._outputs[kept.output_id] = text
        shown = preview(
            kept,
            text,
            options.head_chars,
            options.tail_chars,
            _rows(answered.outcome.result.output),
        )
        return replace(
            answered, content=shown, notes={**answered.notes, "offloaded": kept.output_id}
        )

    async def _read(self, arguments: dict[str, Any]) -> ToolResult:
        text = self._outputs.get(arguments["output_id"])
        if text is None:
            return self._unknown(arguments["output_id"])
        offset = arguments.get("offset", 0)
        if offset >= len(text):
            return _refused(
                f"The result has {len(text)} characters; offset {offset} is past its end."
            )
        limit = min(arguments.get("limit", self._options.read_chars), self._options.read_chars)
        return ToolResult(
            piece(Kept(arguments["output_id"], len(text)), text[offset : offset + limit], offset)
        )

    async def _grep(self, arguments: dict[str, Any]) -> ToolResult:
        text = self._outputs.get(arguments["output_id"])
        if text is None:
            return self._unknown(arguments["output_id"])
        most = min(arguments.get("max_matches", _SHOWN_MATCHES), _MAX_MATCHES)
        try:
            found = await asyncio.to_thread(
                places,
                text,
                arguments["pattern"],
                regex=arguments.get("regex", False),
                ignore_case=arguments.get("ignore_case", False),
                offset=arguments.get("offset", 0),
                most=most,
            )
        except BadPatternError as error:
            return _refused(f"The pattern cannot be used: {error}.")
        return ToolResult(self._found(arguments["output_id"], text, found, most))

    def _found(self, output_id: str, text: str, found: Sequence[tuple[int, int]], most: int) -> str:
        if not found:
            return f"[{output_id}: nothing found]"
        room = max(self._options.read_chars // len(found) - 2 * _CONTEXT, _CONTEXT)
        lines = [
            f"[at {start}] {_around(text, start, min(end, start + room))}" for start, end in found
        ]
        more = (
            f"; there may be more: go on with offset {found[-1][1]}" if len(found) == most else ""
        )
        return f"[{output_id}: {len(found)} found{more}]\n" + "\n".join(lines)

    def _unknown(self, output_id: str) -> ToolResult:
        own = ", ".join(self._outputs) or "none so far"
        return _refused(f"Unknown result {output_id[:80]!r}; known are {own}.")


def _refused(message: str) -> ToolResult:
    return ToolResult.failure(
        message, category=ErrorCategory.INVALID_ARGUMENTS, error="InvalidArguments"
    )


def _around(text: str, start: int, end: int) -> str:
    shown = text[max(0, start - _CONTEXT) : end + _CONTEXT]
    return shown.replace("\n", "\\n")


def _rows(output: object) -> str:
    """Describe the sizes of an output's lists: "40 patients, 3 notes"."""
    if isinstance(output, list):
        return f"{len(cast('list[object]', output))} entries"
    if not isinstance(output, dict):
        return ""
    lists = [
        (key, len(cast("list[object]", value)))
        for key, value in cast("dict[str, object]", output).items()
        if isinstance(value, list)
    ]
    return ", ".join(f"{count} {json.dumps(key)[1:-1][:40]}" for key, count in lists[:5])


@extension(OffloadConfig)
def make(options: OffloadConfig, home: MiddlewareHome) -> MiddlewareInstance:
    """Build the middleware that ``offload`` names."""
    return MiddlewareInstance(lambda: ToolResultOffloadMiddleware(options))
