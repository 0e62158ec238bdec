"""The render gate: a conversation is exported only if the target's template keeps what is in it.

A conversation is rendered, and its calls are read back out of the text: names and arguments must be
the conversation's, in their order. The tools, the words and the results must be in the text,
and not only because other parts of the conversation say the same: it is rendered once more without
tools, and once more with a mark in the place of each text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import takewhile
from operator import eq
from typing import Any, cast

from synth.core.foundation.json_leaves import parsed
from synth.errors import OperatorError
from synth.ext.exporters.base import Message, prompt_part
from synth.ext.exporters.rendering.chat_template import ChatTemplate
from synth.ext.exporters.rendering.control_marks import ControlMarks, marks_of
from synth.ext.exporters.rendering.presets import WITH_TOOLS, Preset, RenderError
from synth.ext.exporters.row_policy import REASONING

Call = tuple[str, Any]
"""Name and arguments; arguments are text if the template encodes them twice."""
Types = Mapping[tuple[str, str], Any]
"""JSON type of each parameter, by tool and name."""

_DECODER = json.JSONDecoder()
_GLM_CALL = re.compile(r"<tool_call>([^\n<{]+)\n(.*?)</tool_call>", re.DOTALL)
_FUNCTION = re.compile(r"<function=([^>\n]+)>\n(.*?)</function>", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^>\n]+)>\n(.*?)\n</parameter>\n", re.DOTALL)
_GLM_PAIR = re.compile(
    r"<arg_key>(.*?)</arg_key>\n<arg_value>(.*?)</arg_value>(?=\s*(?:<arg_key>|\Z))", re.DOTALL
)


def tagged(text: str, types: Types) -> Iterator[Call]:
    """Read ``<tool_call>{"name": ..., "arguments": ...}</tool_call>`` (Qwen, Hermes)."""
    yield from _objects(text, r"<tool_call>\s*")


def bare(text: str, types: Types) -> Iterator[Call]:
    """Read ``{"name": ..., "parameters": ...}`` as a whole turn (Llama 3)."""
    yield from _objects(text, r"<\|start_header_id\|>assistant<\|end_header_id\|>\n\n")


def listed(text: str, types: Types) -> Iterator[Call]:
    """Read ``[TOOL_CALLS] [{"name": ..., "arguments": ...}]`` (Mistral)."""
    for match in re.finditer(r"\[TOOL_CALLS\]\s*", text):
        found = _decoded(text, match.end())
        if isinstance(found, list):
            for item in cast("list[Any]", found):
                yield from _call(item)


def _channelled(text: str, types: Types) -> Iterator[Call]:
    """Read ``to=functions.NAME<|channel|>commentary json<|message|>{...}`` (gpt-oss)."""
    start = r" to=functions\.([\w.-]+)<\|channel\|>commentary json<\|message\|>"
    for match in re.finditer(start, text):
        found = _decoded(text, match.end())
        if isinstance(found, dict | str):
            yield match[1], found


def _keyed(text: str, types: Types) -> Iterator[Call]:
    """Read ``<tool_call>NAME`` with pairs of ``<arg_key>`` and ``<arg_value>`` (GLM), in which text
    stands as it is and other values are JSON.
    """
    for match in _GLM_CALL.finditer(text):
        name = match[1].strip()
        pairs = _GLM_PAIR.findall(match[2].rstrip())
        yield name, {key: _typed(value, types.get((name, key))) for key, value in pairs}


def _parametered(text: str, types: Types) -> Iterator[Call]:
    """Read ``<function=NAME>`` with one ``<parameter=KEY>`` for each argument (Qwen 3.5, Nemotron),
    in which text stands as it is and other values are JSON.
    """
    for match in _FUNCTION.finditer(text):
        name = match[1]
        arguments = {
            key: _typed(value, types.get((name, key)))
            for key, value in _PARAMETER.findall(match[2])
        }
        yield name, arguments


READERS: tuple[Callable[[str, Types], Iterator[Call]], ...] = (
    *(tagged, bare, listed),
    *(_channelled, _keyed, _parametered),
)


def _objects(text: str, start: str) -> Iterator[Call]:
    for match in re.finditer(start, text):
        yield from _call(_decoded(text, match.end()))


def _call(found: Any) -> Iterator[Call]:
    if not isinstance(found, dict):
        return
    call = cast("dict[str, Any]", found)
    arguments = call.get("arguments", call.get("parameters"))
    if isinstance(call.get("name"), str) and arguments is not None:
        yield call["name"], arguments


def _typed(value: str, kind: Any) -> Any:
    """Return a value that a template writes without quotes, by the type that the tool declares."""
    return value if kind == "string" else parsed(value)


def _decoded(text: str, start: int) -> Any:
    """Return the JSON value at a place; None if there is none."""
    try:
        return _DECODER.raw_decode(text, start)[0]
    except ValueError:
        return None


_LONGEST_REASON = 200


class RenderGate:
    """A check of conversations against one template."""

    def __init__(self, preset: Preset) -> None:
        self.name = preset.name
        self._template = ChatTemplate(preset)
        self._marks = ControlMarks(marks_of(preset))

    def reason(self, messages: Sequence[Message], tools: Sequence[Any]) -> str:
        """Return the reason why a conversation is refused; empty if it is rendered truly.

        Raises :class:`~synth.errors.OperatorError` for a template that drops the tools.
        """
        try:
            messages, tools = self._marks.inert(messages), self._marks.inert_value(tools)
            prompt = prompt_part(messages) or messages[:1]
            opening = self._template.render(prompt, tools)
            text = self._template.render(messages, tools)
        except RenderError as error:
            return f"{self.name} does not render it: {str(error)[:_LONGEST_REASON]}"
        if self._drops_tools(opening, prompt, tools):
            raise OperatorError(
                f"--template {self.name} drops the tools, so that no row could teach a call; give a"
                f" template that renders tools: a file, or one of {', '.join(WITH_TOOLS)}"
            )
        made = [
            (call["function"]["name"], parsed(call["function"]["arguments"]))
            for message in messages
            for call in message.get("tool_calls") or ()
        ]
        said = text[sum(takewhile(bool, map(eq, opening, text))) :]
        return self._misread(said, made, _types(tools)) or self._dropped(text, messages, tools)

    def lost_reasoning(self, messages: Sequence[Message], tools: Sequence[Any]) -> Collection[int]:
        """Return the positions of messages whose reasoning the template does not render."""
        return self._unrendered(messages, tools, REASONING)

    def loses_descriptions(self, messages: Sequence[Message], tools: Sequence[Any]) -> bool:
        """Tell whether the template renders a tool without its description."""
        marks = [f"description{index}end" for index in range(len(tools))]
        marked = [
            {**tool, "function": {**tool["function"], "description": mark}}
            for tool, mark in zip(tools, marks, strict=True)
        ]
        try:
            text = self._template.render(prompt_part(messages) or messages[:1], marked)
        except RenderError:
            return False
        return any(mark not in text for mark in marks)

    def _unrendered(
        self, messages: Sequence[Message], tools: Sequence[Any], keys: Sequence[str]
    ) -> list[int]:
        """Return the positions of messages whose texts under these keys are not rendered, judged
        by marks in their place, which occur nowhere else.
        """
        marks = {
            (index, key): f"mark{index}{key}end"
            for index, message in enumerate(messages)
            for key in keys
            if isinstance(message.get(key), str) and message[key].strip()
        }
        marked = [dict(message) for message in messages]
        for (index, key), mark in marks.items():
            marked[index][key] = mark
        try:
            text = self._template.render(marked, tools)
        except RenderError:
            return []
        return sorted({index for (index, _), mark in marks.items() if mark not in text})

    def _misread(self, text: str, made: Sequence[Call], types: Types) -> str:
        found = [list(reader(text, types)) for reader in READERS]
        if any(calls == list(made) for calls in found):
            return ""
        for calls in found:
            if any(isinstance(arguments, str) for _, arguments in calls):
                return f"{self.name} encodes the arguments of a call twice"
        if max(map(len, found)) < len(made):
            return f"{self.name} drops a call, or writes it in a form that is not read back"
        return f"{self.name} writes a call that reads back differently"

    def _drops_tools(self, opening: str, prompt: Sequence[Message], tools: Sequence[Any]) -> bool:
        """Tell whether a tool's name is in an opening no more often than without tools."""
        try:
            bare = self._template.render(prompt, [])
        except RenderError:
            bare = ""
        names: Iterator[str] = (tool["function"]["name"] for tool in tools)
        return any(opening.count(name) <= bare.count(name) for name in names)

    def _dropped(self, text: str, messages: Sequence[Message], tools: Sequence[Any]) -> str:
        unrendered = self._unrendered(messages, tools, ("content",))
        for index, message in enumerate(messages):
            words = str(message["content"]).strip()
            whole = words in text or json.dumps(words, ensure_ascii=False)[1:-1] in text
            if whole and index not in unrendered:
                continue
            if message["role"] == "assistant":
                beside = " beside a call" if message.get("tool_calls") else ""
                return f"{self.name} drops the assistant's words{beside}"
            return f"{self.name} drops a message of the role {message['role']}"
        return ""


def _types(tools: Sequence[Any]) -> Types:
    found: dict[tuple[str, str], Any] = {}
    for tool in tools:
        function: Mapping[str, Any] = tool["function"]
        properties: Mapping[str, Any] = function.get("parameters", {}).get("properties", {})
        for key, schema in properties.items():
            found[function["name"], key] = schema.get("type")
    return found
