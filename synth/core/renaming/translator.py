"""Translation between a world's own names and a renaming's.

A model reads and writes *shown* names. *Own* names are the world's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

from envs.json_text import canonical
from envs.tools.tool import Tool
from envs.tools.toolbox import Toolbox
from envs.types import ErrorCategory, ToolCall, ToolOutcome, ToolResult
from synth.core.foundation.json_leaves import parsed
from synth.core.types.renaming import Renaming

Values = Mapping[str, Mapping[str, str]]

_WORD_EDGES = r"(?<![A-Za-z0-9_`-]){}(?![A-Za-z0-9_`-])"


def translator_of(renaming: Renaming) -> Translator:
    """The translator of a renaming; equal renamings share one."""
    return _translator(canonical(renaming.to_json()))


@lru_cache(maxsize=256)
def _translator(text: str) -> Translator:
    return Translator(Renaming.from_json(json.loads(text)))


class Translator:
    """Both directions of a renaming. It holds compiled patterns, so it stays in its process."""

    def __init__(self, renaming: Renaming) -> None:
        self.renaming = renaming
        self._own_tools = {shown: own for own, shown in renaming.tools.items()}
        self._own_names = {shown: own for own, shown in renaming.names.items()}
        self._own_values = {
            key: {shown: own for own, shown in words.items()}
            for key, words in renaming.values.items()
        }
        words = {own: shown for found in renaming.values.values() for own, shown in found.items()}
        prose = {own: shown for own, shown in words.items() if _letters(own) != _letters(shown)}
        self._show = _show_text(
            {**words, **renaming.names, **renaming.tools}, renaming.wording, prose
        )
        self._spoken = _replacing(prose, {own: shown for own, shown in words.items() if "_" in own})
        self._heard = _replacing(
            {shown: own for own, shown in prose.items()},
            {shown: own for own, shown in words.items()},
        )

    def own_tool(self, shown: str) -> str | None:
        """The world's name of a tool; None for a name that the renaming does not have."""
        return self._own_tools.get(shown)

    def own_arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return _renamed(arguments, self._own_names, self._own_values, own_keys=False)

    def own_output(self, output: Any) -> Any:
        if not self.renaming.results:
            return output
        return _renamed(output, self._own_names, self._own_values, own_keys=False)

    def own_text(self, text: str) -> str:
        """Words of the agent, with the world's words of enumerations."""
        return self._heard(text)

    def own_spec(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """A function schema with the world's names of tool and parameters."""
        function = spec["function"]
        own = {
            **function,
            "name": self._own_tools.get(function["name"], function["name"]),
            "parameters": _schema(
                function["parameters"], self._own_names, self._own_values, own_keys=False
            ),
        }
        return {**spec, "function": own}

    def show_output(self, output: Any) -> Any:
        if isinstance(output, str):
            return self.show_text(output)
        if not self.renaming.results:
            return output
        return _renamed(output, self.renaming.names, self.renaming.values, own_keys=True)

    def show_arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return _renamed(arguments, self.renaming.names, self.renaming.values, own_keys=True)

    def show_text(self, text: str) -> str:
        """A text for the model: rules, a description or an error."""
        return self._show(text)

    def show_words(self, text: str, calls: Sequence[ToolCall]) -> str:
        """Words of the scripted expert, with the renaming's words of enumerations, and its names of
        the tools that are called beside them.
        """
        for call in calls:
            if call.name in self.renaming.tools:
                shown = _spaced(self.renaming.tools[call.name])
                text = text.replace(call.name.replace("_", " "), shown)
        return self._spoken(text)

    def show_call(self, call: ToolCall) -> ToolCall:
        """A call by own names under the shown ones; one that is not the world's, or is broken,
        stays as it is as far as it cannot be read.
        """
        shown = self.renaming.tools.get(call.name)
        if shown is None:
            return call
        arguments = parsed(call.arguments)
        if not isinstance(arguments, dict):
            return replace(call, name=shown)
        return ToolCall.of(shown, self.show_arguments(cast("dict[str, Any]", arguments)), call.id)

    def show_result(self, result: ToolResult) -> ToolResult:
        if result.ok:
            return replace(result, output=self.show_output(result.output))
        return replace(
            result,
            message=None if result.message is None else self.show_text(result.message),
            advice=None if result.advice is None else self.show_text(result.advice),
        )

    def show_tool(self, tool: Tool) -> Tool:
        """A tool of the world as the model is shown it. It is described and checked only."""
        renaming = self.renaming
        parameters = _schema(
            tool.parameters, renaming.names, renaming.values, own_keys=True, text=self._show
        )
        return Tool(
            renaming.tools.get(tool.name, tool.name),
            self.show_text(self._opened(tool.description)),
            parameters,
            _never,
            read_only=tool.read_only,
            risk=tool.risk,
        )

    def _opened(self, description: str) -> str:
        """A description that begins with another verb."""
        for first, other in self.renaming.openings.items():
            if description.startswith(f"{first} "):
                return other + description[len(first) :]
        return description


def added_tools(renaming: Renaming) -> list[Tool]:
    """The tools that a renaming adds. They only read, and the world does not know them."""
    return [
        Tool(
            tool.name,
            tool.description,
            {
                "type": "object",
                "properties": dict(tool.parameters),
                "required": list(tool.parameters),
                "additionalProperties": False,
            },
            _never,
            read_only=True,
        )
        for tool in renaming.added
    ]


def _never(arguments: dict[str, Any], db: object) -> ToolResult:
    raise AssertionError("the world's own tool is executed, under its own name")


def _renamed(
    value: Any, names: Mapping[str, str], values: Values, *, own_keys: bool, key: str = ""
) -> Any:
    """A JSON value with its keys renamed, and the words of enumerations under them.

    A key whose other name is a key of the same object already stays as it is, in both directions.
    ``own_keys`` says that the keys of ``value`` are the world's own, by which ``values`` goes;
    otherwise those that they become are. ``key`` is the own key that the value is under.
    """
    if isinstance(value, dict):
        out: dict[str, Any] = {}
        known = cast("dict[str, Any]", value)
        for old, item in known.items():
            new = names.get(old, old)
            if new in known:  # a key that the renaming did not know of
                new = old
            own = old if own_keys else new
            out[new] = _renamed(item, names, values, own_keys=own_keys, key=own)
        return out
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return [_renamed(item, names, values, own_keys=own_keys, key=key) for item in items]
    if isinstance(value, str) and key in values:
        return values[key].get(value, value)
    return value


def _schema(
    schema: Mapping[str, Any],
    names: Mapping[str, str],
    values: Values,
    *,
    own_keys: bool,
    text: Callable[[str], str] = str,
    key: str = "",
) -> dict[str, Any]:
    """A JSON Schema with its properties, enumerations and descriptions renamed."""
    out = dict(schema)
    words = values.get(key, {})
    if "enum" in out:
        out["enum"] = [words.get(item, item) for item in out["enum"]]
    if isinstance(const := out.get("const"), str):
        out["const"] = words.get(const, const)
    if isinstance(default := out.get("default"), str):
        out["default"] = words.get(default, default)
    if "description" in out:
        out["description"] = text(out["description"])
    if "properties" in out:
        properties: dict[str, Any] = {}
        for old, inner in cast("Mapping[str, Mapping[str, Any]]", out["properties"]).items():
            new = names.get(old, old)
            own = old if own_keys else new
            properties[new] = _schema(inner, names, values, own_keys=own_keys, text=text, key=own)
        out["properties"] = properties
    if "required" in out:
        out["required"] = [names.get(name, name) for name in out["required"]]
    if isinstance(out.get("items"), Mapping):
        out["items"] = _schema(out["items"], names, values, own_keys=own_keys, text=text, key=key)
    return out


def _show_text(
    identifiers: Mapping[str, str], wording: Mapping[str, str], prose: Mapping[str, str]
) -> Callable[[str], str]:
    """A function that shows a text: identifiers, phrases, and words of enumerations.

    An identifier of several words is replaced wherever it stands, one that is a plain word only in
    quotes, because the word may mean something else in prose.
    """
    known = {own: shown for own, shown in identifiers.items() if own != shown}
    compound = [own for own in known if "_" in own]
    plain = [own for own in known if "_" not in own]
    patterns: list[str] = []
    if compound:
        patterns.append(rf"(?<![A-Za-z0-9_])(?:{_any(compound)})(?![A-Za-z0-9_])")
    if plain:
        patterns.append(rf"(?<=`)(?:{_any(plain)})(?=`)")
        patterns.append(rf"(?<=')(?:{_any(plain)})(?=')")
    pattern = re.compile("|".join(patterns)) if patterns else None
    reworded, worded = _replacing(prose), _replacing(wording)

    def show(text: str) -> str:
        if pattern is not None:
            text = pattern.sub(lambda found: known[found.group()], text)
        return worded(reworded(text))

    return show


def _replacing(
    prose: Mapping[str, str], exact: Mapping[str, str] | None = None
) -> Callable[[str], str]:
    """A function that replaces whole words: ``prose`` in any case, with spaces for underscores
    and the article that goes with the new word, ``exact`` as they stand.
    """
    spoken = {_spaced(old): _spaced(new) for old, new in prose.items()}
    strict = {old: new for old, new in (exact or {}).items() if old not in spoken}
    loose_pattern = None
    if spoken:
        words = _WORD_EDGES.format(f"(?:{_any(spoken)})")
        loose_pattern = re.compile(rf"(?:\b(an?)(\s+))?({words})", re.IGNORECASE)
    strict_pattern = re.compile(_WORD_EDGES.format(f"(?:{_any(strict)})")) if strict else None

    def loosely(found: re.Match[str]) -> str:
        article, space, old = found.groups()
        new = spoken[old.lower()]
        new = new.capitalize() if old[0].isupper() else new
        if article is None:
            return new
        right = "an" if new[0].lower() in "aeiou" else "a"
        return f"{right.capitalize() if article[0].isupper() else right}{space}{new}"

    def replaced(text: str) -> str:
        if strict_pattern is not None:
            text = strict_pattern.sub(lambda found: strict[found.group()], text)
        return text if loose_pattern is None else loose_pattern.sub(loosely, text)

    return replaced


def _any(words: Sequence[str] | Mapping[str, str]) -> str:
    """A pattern of any of the words, the longest first."""
    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))


def _spaced(word: str) -> str:
    return re.sub(r"[_-]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", word)).lower()


def _letters(word: str) -> str:
    return re.sub(r"[^a-z0-9]", "", word.lower())


class RenamingLayer:
    """The tools of one task as its renaming shows them, and the way of each call through it.

    ``boxes`` hold the environment's tools and the episode's.
    """

    def __init__(self, renaming: Renaming, boxes: Sequence[Toolbox]) -> None:
        self._translator = translator_of(renaming)
        self._added = {tool.name: tool for tool in renaming.added}
        self.toolbox = _shown(self._translator, tuple(boxes))
        """What the model is offered."""

    def own_text(self, text: str) -> str:
        return self._translator.own_text(text)

    def own_name(self, call: ToolCall) -> str | None:
        """The world's name of the tool that is called; None if the world has none."""
        return self._translator.own_tool(call.name) if call.name in self.toolbox else None

    def enter(self, call: ToolCall) -> ToolCall | ToolOutcome:
        """The call by the world's names, or its outcome if it does not get to the world."""
        parsed = self.toolbox.parse(call)
        if isinstance(parsed, ToolResult):
            return ToolOutcome(call, parsed, parsed.content())
        if call.name in self._added:
            return self._answered(call, parsed[1])
        own = self._translator.own_tool(call.name)
        assert own is not None, "a tool that is shown is the world's or an added one"
        return ToolCall.of(own, self._translator.own_arguments(parsed[1]), call.id)

    def leave(self, call: ToolCall, outcome: ToolOutcome) -> ToolOutcome:
        """The outcome of a call as the model is shown it."""
        result = self._translator.show_result(outcome.result)
        arguments = outcome.arguments
        return replace(
            outcome,
            call=call,
            result=result,
            content=result.content(),
            arguments=None if arguments is None else self._translator.show_arguments(arguments),
        )

    def inside(self, outcome: ToolOutcome) -> ToolOutcome:
        """A shown outcome by the world's names. Its texts stay as they were shown."""
        own, arguments, result = self.own_name(outcome.call), outcome.arguments, outcome.result
        if own is None:
            return outcome
        if result.ok:
            result = replace(result, output=self._translator.own_output(result.output))
        return replace(
            outcome,
            call=replace(outcome.call, name=own),
            result=result,
            arguments=None if arguments is None else self._translator.own_arguments(arguments),
        )

    def _answered(self, call: ToolCall, arguments: dict[str, object]) -> ToolOutcome:
        tool = self._added[call.name]
        result = ToolResult(tool.output)
        if tool.refusal is not None:
            result = ToolResult.failure(tool.refusal, category=ErrorCategory.PERMISSION_DENIED)
        return ToolOutcome(call, result, result.content(), arguments)


@lru_cache(maxsize=256)
def _shown(translator: Translator, boxes: tuple[Toolbox, ...]) -> Toolbox:
    """The toolbox of the tools that a renaming shows; its validators are compiled once."""
    renaming = translator.renaming
    own = [tool for box in boxes for tool in box.tools if tool.name not in renaming.left_out]
    return Toolbox([*map(translator.show_tool, own), *added_tools(renaming)])
