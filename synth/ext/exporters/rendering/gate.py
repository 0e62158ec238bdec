"""The render gate: a conversation is exported only if the target's template keeps what is in it.

A conversation is rendered, and its calls are read back out of the text: names and arguments must be
the conversation's, in their order. The tools, the words and the results must be in the text,
and not only because other parts of the conversation say the same: it is rendered once more without
tools, and once more with a mark in the place of each text.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from synth.errors import OperatorError
from synth.ext.exporters.base import Message, prompt_part
from synth.ext.exporters.rendering.call_formats import READERS, Call, Types
from synth.ext.exporters.rendering.chat_template import ChatTemplate
from synth.ext.exporters.rendering.control_marks import ControlMarks, marks_of
from synth.ext.exporters.rendering.presets import WITH_TOOLS, Preset, RenderError
from synth.ext.exporters.row_policy import REASONING

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
            (call["function"]["name"], _object(call["function"]["arguments"]))
            for message in messages
            for call in message.get("tool_calls") or ()
        ]
        said = text[_shared(opening, text) :]
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
        read = max(map(len, found))
        if read < len(made):
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


def _shared(left: str, right: str) -> int:
    """Return the length of the common start of two texts."""
    pairs = zip(left, right, strict=False)
    differing = (index for index, (one, other) in enumerate(pairs) if one != other)
    return next(differing, min(len(left), len(right)))


def _object(arguments: Any) -> Any:
    """Return arguments as an object, also where a record holds them as JSON text."""
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments


def _types(tools: Sequence[Any]) -> Types:
    found: dict[tuple[str, str], Any] = {}
    for tool in tools:
        function: Mapping[str, Any] = tool["function"]
        properties: Mapping[str, Any] = function.get("parameters", {}).get("properties", {})
        for key, schema in properties.items():
            found[function["name"], key] = schema.get("type")
    return found
