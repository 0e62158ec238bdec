"""Tool calls that a model wrote as text instead of native ones, in the forms of the common model
families.

A form with a marker of its own (``<tool_call>``, ``[TOOL_CALLS]``, ...) is a call regardless of the
name in it, if it ends the text. A form that could also be prose or an answer (bare JSON, a fence,
``find(name="x")``) is a call only if it is the whole text and names a tool that was offered. What
stands in the model's thoughts (``<think>``), in quotes, a quotation or a code sample, or is followed
by prose, is words about a call.
"""

# ruff: noqa: RUF001 - the bars of DeepSeek's tokens are full-width
from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from envs.json_text import lenient
from envs.tools.toolbox import MAX_ARGUMENTS, parse_arguments
from envs.types import ToolResult
from synth.core.models.thoughts import (
    CALL_SIGNS,
    answer_start,
    blanked,
    next_thought,
    without_thoughts,
)

Pair = tuple[str, str]
"""A tool's name, and its arguments as text: JSON if the model wrote JSON, else the text as written.
"""

_NAME: Final = re.compile(
    r"[\"'](?:name|tool_name|tool|function|action)[\"']\s*:\s*[\"']([\w.:-]{1,128})[\"']"
)
_CALLED: Final = re.compile(r"\[?\s*[A-Za-z_][\w.]*\(")
_NAMES: Final = ("name", "tool_name", "tool", "function_name", "function", "action")
_ARGUMENTS: Final = (
    "arguments",
    "parameters",
    "args",
    "input",
    "tool_input",
    "action_input",
    "kwargs",
)
_PREFIXES: Final = ("functions.", "function.", "tools.", "default_api.", "default_api:")


@dataclass(frozen=True, slots=True)
class TextCall:
    """One call: the name of its form, the tool's name, the arguments as text, and the whole text of
    the call.
    """

    form: str
    name: str
    arguments: str
    raw: str


@dataclass(frozen=True, slots=True)
class _Form:
    """A marked form: ``read`` reads the text from ``begin`` to the next ``end`` (or the end of the
    text).
    """

    name: str
    begin: re.Pattern[str]
    end: re.Pattern[str]
    read: Callable[[str], list[Pair]]


_QUOTES: Final = frozenset("\"'`\u201c\u2018\u201e\u00ab\u300c")
_CODE: Final = re.compile(r"<(/?)(?:code|pre)(?:\s[^<>]*)?>", re.IGNORECASE)
_TOKENS: Final = re.compile(r"(?:\s|</?[\w:\uff5c\u2581-]+>|<[|\uff5c][^<>]*[|\uff5c]>|```)*")
"""White space, and what models write between and behind calls: tags and special tokens."""

_RESULT: Final = re.compile(
    r"<(?:tool_response|tool_result|function_results?|observation)|Observation\s*:", re.IGNORECASE
)
"""Beginning of a result that the model makes up for its own call."""


def calls_json(calls: Sequence[TextCall], turn: int) -> list[dict[str, Any]]:
    """The calls of a turn as an assistant message holds them."""
    functions = [{"name": call.name, "arguments": call.arguments} for call in calls]
    return [
        {"id": f"call_{turn}_{number}", "type": "function", "function": function}
        for number, function in enumerate(functions)
    ]


def find_calls(text: str, known: Container[str]) -> tuple[str, list[TextCall]]:
    """Return the text before the first call, and the calls; none in a text that is too long to be
    one.
    """
    if len(text) > MAX_ARGUMENTS or CALL_SIGNS.search(text) is None:
        return text, []
    answer = answer_start(text)
    for form in _MARKED:
        if found := _marked(form, text, answer):
            calls = _meant(text, found, known)
            if calls:
                return text[: calls[0].start].rstrip(), [
                    TextCall(form.name, name, arguments, span.raw)
                    for span in calls
                    for name, arguments in span.pairs
                ]
            return text, []
    words = text[:answer] + blanked(text, " ")
    bare = _without_fence(words[answer:].strip())
    for name_of_form, pairs in (
        ("json", _objects(bare) or _spoilt(bare)),
        ("python", _pythonic(bare)),
    ):
        if pairs and all(name in known for name, _ in pairs):
            return "", [TextCall(name_of_form, name, arguments, text) for name, arguments in pairs]
    before, found_calls = _react(words, known)
    return (text[: len(before)], found_calls) if found_calls else (text, [])


@dataclass(frozen=True, slots=True)
class _Span:
    """A marker and what belongs to it: from ``start`` up to ``end``."""

    start: int
    end: int
    raw: str
    pairs: Sequence[Pair]


def _marked(form: _Form, text: str, position: int) -> list[_Span]:
    """Return the calls of a form from ``position`` on, those in thoughts left out."""
    found: list[_Span] = []
    while (begin := form.begin.search(text, position)) is not None:
        thought = next_thought(text, position)
        if thought is not None and thought[0] <= begin.start():
            position = thought[1]
            continue
        end = form.end.search(text, begin.end())
        inner, after = (
            (text[begin.end() : end.start()], end.end())
            if end
            else (text[begin.end() :], len(text))
        )
        raw = text[begin.start() : after]
        payload = f"{begin.group(1)}\n{inner}" if begin.re.groups else inner
        pairs = form.read(payload.strip()) or [_broken(payload.strip())]
        found.append(_Span(begin.start(), after, raw, pairs))
        position = max(after, begin.end())
    return found


def _meant(text: str, spans: Sequence[_Span], known: Container[str]) -> list[_Span]:
    """Return the calls that are no words about calls: none at all if prose ends the text."""
    tail = text[spans[-1].end :]
    if _is_prose(tail):
        return []
    return [span for span in spans if not _quoted(text, span, known)]


def _is_prose(rest: str) -> bool:
    tokens = _TOKENS.match(rest)
    assert tokens is not None
    return tokens.end() < len(rest) and _RESULT.search(rest) is None


def _quoted(text: str, span: _Span, known: Container[str]) -> bool:
    """Tell whether a call stands in quotes, in a quotation, in a code sample or within a
    sentence.
    """
    lead = text[text.rfind("\n", 0, span.start) + 1 : span.start]
    if lead[-1:] in _QUOTES or lead.lstrip().startswith(">") or lead.count("`") % 2:
        return True
    tags = _CODE.findall(without_thoughts(text[: span.start]))
    if tags and not tags[-1]:
        return True
    before, fence, sample = text[: span.start].rpartition("```")
    if fence and before.count("```") % 2 == 0 and "\n" in sample and without_thoughts(before):
        return True
    # A marker within a sentence may be a word of it: "the token [TOOL_CALLS] opens a call".
    within = re.search(r"\w", lead) is not None
    if within and not all(name in known for name, _ in span.pairs):
        return True
    return _is_prose(text[span.end :].partition("\n")[0]) and not _opens_call(text[span.end :])


def _opens_call(rest: str) -> bool:
    line = rest.partition("\n")[0]
    return any(form.begin.search(line) is not None for form in _MARKED)


def _broken(payload: str) -> Pair:
    """Return the name in a malformed call, if one is visible, and all of its text as arguments, for
    the toolbox to explain.
    """
    named = _NAME.search(payload)
    return (_bare_name(named.group(1)) if named else "", payload)


def _spoilt(text: str) -> list[Pair]:
    """Return the call of truncated or invalid JSON that still names its tool."""
    called = text.startswith(("{", "[")) and any(
        f'"{key}"' in text or f"'{key}'" in text for key in _ARGUMENTS
    )
    broken = called and isinstance(parse_arguments(f'{{"value":{text}}}'), ToolResult)
    return [_broken(text)] if broken and _NAME.search(text) else []


def _bare_name(name: str) -> str:
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name


def _objects(text: str) -> list[Pair]:
    """Return the calls in JSON objects: one, an array, several in sequence, or one that holds
    ``tool_calls``.
    """
    text = _without_fence(text)
    if not text.startswith(("{", "[")):
        return []
    pairs: list[Pair] = []
    for value in _values(text):
        if isinstance(value, ToolResult):
            return []
        inner: object = (
            cast("dict[str, object]", value).get("tool_calls") if isinstance(value, dict) else value
        )
        listed = cast("list[object]", inner) if isinstance(inner, list) else [cast("object", value)]
        for entry in listed:
            pair = _pair(entry)
            if pair is None:
                return []
            pairs.append(pair)
    return pairs


def _values(text: str) -> Iterator[object]:
    """Yield JSON values in sequence, separated by white space, commas or semicolons; a ToolResult
    for invalid text.
    """
    decoder, position = json.JSONDecoder(), 0
    while position < len(text):
        try:
            _, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            yield parse_arguments("?")
            return
        # Read again as arguments are: duplicate keys, NaN and the like are no JSON.
        read = parse_arguments(f'{{"value":{text[position:end]}}}')
        yield read if isinstance(read, ToolResult) else read["value"]
        position = end
        while position < len(text) and text[position] in " \t\r\n,;":
            position += 1


def _pair(value: object) -> Pair | None:
    if not isinstance(value, dict):
        return None
    call = cast("dict[str, object]", value)
    if isinstance(call.get("function"), dict):
        call = cast("dict[str, object]", call["function"])
    names = (call.get(key) for key in _NAMES)
    name = next((name for name in names if isinstance(name, str)), None)
    key = next((key for key in _ARGUMENTS if key in call), None)
    if name is None or (key is None and len(call) > 1):
        return None
    arguments: object = {} if key is None else call[key]
    return _bare_name(name), arguments if isinstance(arguments, str) else lenient(arguments)


def _without_fence(text: str) -> str:
    found = re.fullmatch(r"```[\w-]*\s*\n?([^`]*)\n?```", text)
    return found.group(1).strip() if found else text


def _pythonic(text: str) -> list[Pair]:
    """Read ``find(name="x")``, one or a list of them, with literal arguments given by name."""
    if _CALLED.match(text) is None or not text.endswith((")", "]")) or len(text) > 100_000:
        return []
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    if isinstance(tree, ast.Call) and _dotted(tree.func) == "print" and len(tree.args) == 1:
        tree = tree.args[0]
    pairs: list[Pair] = []
    for node in tree.elts if isinstance(tree, ast.List | ast.Tuple) else [tree]:
        pair = _pythonic_call(node)
        if pair is None:
            return []
        pairs.append(pair)
    return pairs


def _pythonic_call(node: ast.expr) -> Pair | None:
    if not isinstance(node, ast.Call) or node.args:
        return None
    name = _dotted(node.func)
    if not name or any(keyword.arg is None for keyword in node.keywords):
        return None
    try:
        arguments = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
        return _bare_name(name).removesuffix(".call"), lenient(arguments)
    except (ValueError, TypeError, RecursionError):
        return None


def _dotted(node: ast.expr) -> str:
    """Return a dotted name; empty for any other expression."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


def _named(text: str) -> list[Pair]:
    """Read a name, then JSON, with the separators of the various forms between them."""
    found = re.match(
        r"[\s\"']*(?:function\s*(?=[<{\w]*<｜tool▁sep｜>))?(?:<｜tool▁sep｜>)?([\w.:-]{1,128})",
        text,
    )
    if found is None:
        return []
    name = re.sub(r":\d+$", "", _bare_name(found.group(1)))
    rest = text[found.end() :]
    brace = rest.find("{")
    if brace < 0:
        return [(name, "")] if not rest.strip(" \t\r\n>\"'") else [(name, rest.strip())]
    body = rest[brace:].rstrip()
    return [(name, body.removesuffix("```").rstrip())]


_PARAMETER: Final = re.compile(
    r"<(?:｜DSML｜|\w+:)?parameter(?:=|\s+name=)[\"']?([\w.-]+)[\"']?[^>]*>"
    r"\n?([^<]*(?:<(?!/?(?:｜DSML｜|\w+:)?(?:parameter|function|invoke))[^<]*)*)"
)
_GLM: Final = re.compile(r"<arg_key>([^<]*)</arg_key>\s*<arg_value>([^<]*)(?:</arg_value>|$)")


def _tagged(text: str) -> list[Pair]:
    """Read ``<function=find>`` or ``<invoke name="find">`` with JSON or parameters inside, and
    GLM's keys and values.
    """
    pairs: list[Pair] = []
    opened = list(
        re.finditer(
            r"<(?:｜DSML｜|\w+:)?(?:function=|invoke\s+name=)[\"']?([\w.:-]{1,128})[\"']?[^>]*>",
            text,
        )
    )
    for index, found in enumerate(opened):
        inner = text[
            found.end() : opened[index + 1].start() if index + 1 < len(opened) else len(text)
        ]
        body = re.split(r"</(?:｜DSML｜|\w+:)?(?:function|invoke)>", inner, maxsplit=1)[0].strip()
        pairs.append(
            (
                _bare_name(found.group(1)),
                body if body.startswith("{") else _typed(_PARAMETER.findall(body)),
            )
        )
    if not pairs and (found := _GLM.search(text)):
        name = text[: found.start()].strip()
        pairs.append((_bare_name(name), _typed(_GLM.findall(text))))
    return pairs


def _typed(parameters: Sequence[tuple[str, str]]) -> str:
    """Return parameters without types as JSON: values that are JSON are kept, all others are
    text.
    """
    out: dict[str, object] = {}
    for key, raw in parameters:
        value = raw.strip("\r\n")
        try:
            out[key.strip()] = json.loads(value.strip())
        except (ValueError, RecursionError):
            out[key.strip()] = value
    return lenient(out)


def _any(text: str) -> list[Pair]:
    """Read the text after a marker: JSON, tags, Python, or a name and JSON."""
    if text.startswith(("{", "[", "```")):
        return _objects(text) or _pythonic(_without_fence(text))
    if "<" in text and (tagged := _tagged(text)):
        return tagged
    return _pythonic(text) or _named(text)


def _react(text: str, known: Container[str]) -> tuple[str, list[TextCall]]:
    """Read ``Action: find`` and ``Action Input: {...}``, each at the start of a line."""
    found = re.search(r"(?:^|\n)[ \t]*Action[ \t]*:[ \t]*([^\n]*)", text)
    if found is None:
        return text, []
    name = _bare_name(found.group(1).strip().strip("`\"'"))
    rest = text[found.end() :]
    given = re.search(r"(?:^|\n)[ \t]*Action Input[ \t]*:[ \t]*", rest)
    if given is not None and name in known:
        arguments, *_ = re.split(r"\n[ \t]*Observation[ \t]*:", rest[given.end() :], maxsplit=1)
        return text[: found.start()].rstrip(), [
            TextCall("react", name, _without_fence(arguments.strip()), text[found.start() :])
        ]
    pairs = _objects(_without_fence((found.group(1) + rest).strip()))
    if pairs and all(name in known for name, _ in pairs):
        return text[: found.start()].rstrip(), [
            TextCall("react", *name, text[found.start() :]) for name in pairs
        ]
    return text, []


def _form(name: str, begin: str, end: str, read: Callable[[str], list[Pair]] = _any) -> _Form:
    return _Form(name, re.compile(begin), re.compile(end), read)


_MARKED: Final[tuple[_Form, ...]] = (
    _form(
        "deepseek",
        r"<｜tool▁call▁begin｜>",
        r"<｜tool▁call▁end｜>|<｜tool▁calls▁end｜>",
        lambda text: _deepseek(text),
    ),
    _form(
        "kimi",
        r"<\|tool_call_begin\|>",
        r"<\|tool_call_end\|>|<\|tool_calls_section_end\|>",
        _named,
    ),
    _form("mistral", r"\[TOOL_CALLS\]", r"(?=\[TOOL_CALLS\])|</s>|$"),
    _form(
        "hermes", r"<tool_call>|<\|tool_call\|>", r"</tool_call>|<\|/tool_call\|>|(?=<tool_call>)"
    ),
    _form(
        "tool_calls",
        r"<tool_calls>|<TOOLCALL>|<\|START_ACTION\|>|<\|tool_call_start\|>",
        r"</tool_calls>|</TOOLCALL>|<\|END_ACTION\|>|<\|tool_call_end\|>",
    ),
    _form("gemma", r"<\|tool_call>", r"<tool_call\|>|$", lambda text: _gemma(text)),
    _form("python_tag", r"<\|python_tag\|>", r"<\|eom_id\|>|<\|eot_id\|>|$"),
    _form("function", r"(?=<function=[\w.:\"'-]{1,130}>)", r"</function>|$", _tagged),
    _form(
        "invoke",
        r"(?=<(?:｜DSML｜|\w+:)?invoke\s+name=)",
        r"</(?:｜DSML｜|\w+:)?invoke>|$",
        _tagged,
    ),
    _form("functionary", r"<\|recipient\|>(?!all)", r"<\|stop\|>|<\|from\|>|$", _named),
    _form("functionary", r"(?:^|\n)>>>(?!all)(?=[\w.:-]{1,128}\n\s*\{)", r"(?=\n>>>)|$", _named),
    _form("harmony", r"to=functions\.(?=[\w.:-]{1,128})", r"<\|call\|>|<\|end\|>|$", _named),
    _form("internlm", r"<\|action_start\|>\s*<\|plugin\|>", r"<\|action_end\|>|$"),
    _form("tool_code", r"```tool_(?:code|call)s?\s*\n", r"```|$"),
)


def _gemma(text: str) -> list[Pair]:
    """Read ``call:find{name:<|"|>x<|"|>,ids:[1]}``: JSON with bare keys and marked strings."""
    found = re.match(r"call:([\w.:-]{1,128})(?=\{)", text)
    if found is None:
        return []
    parts = text[found.end() :].split('<|"|>')
    parts[::2] = [re.sub(r"([{,]\s*)([^\s{}\[\],:]+)\s*:", r'\1"\2":', part) for part in parts[::2]]
    parts[1::2] = map(lenient, parts[1::2])
    return [(_bare_name(found.group(1)), "".join(parts))]


def _deepseek(text: str) -> list[Pair]:
    head, separator, rest = text.partition("<｜tool▁sep｜>")
    return _named(rest if separator and head.strip() in {"function", ""} else f"{head}\n{rest}")
