"""Tool calls that a model wrote as text, for want of native ones: the forms of the common model families.

A form with a marker of its own (``<tool_call>``, ``[TOOL_CALLS]``, ...) is a call whatever it names. What could also be prose
or an answer (bare JSON, a fence, ``find(name="x")``) is one only where it is all there is and names a tool that was offered.
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

from envs.toolbox import MAX_ARGUMENTS, parse_arguments
from envs.types import ToolResult

Json = Any
Pair = tuple[str, str]
"""A tool's name, and its arguments as text: JSON where the model wrote that, else what it wrote."""

_HINTS: Final = re.compile(r"[<\[{>]|(?:^|\n)Action|\w\(")
_NAME: Final = re.compile(r"[\"'](?:name|tool_name|tool|function|action)[\"']\s*:\s*[\"']([\w.:-]{1,128})[\"']")
_CALLED: Final = re.compile(r"\[?\s*[A-Za-z_][\w.]*\(")
_NAMES: Final = ("name", "tool_name", "tool", "function_name", "function", "action")
_ARGUMENTS: Final = ("arguments", "parameters", "args", "input", "tool_input", "action_input", "kwargs")
_PREFIXES: Final = ("functions.", "function.", "tools.", "default_api.", "default_api:")


@dataclass(frozen=True, slots=True)
class TextCall:
    """One call: the form's name, the tool's, the arguments as text, and the whole of it as the model wrote it."""

    form: str
    name: str
    arguments: str
    raw: str


@dataclass(frozen=True, slots=True)
class _Form:
    """A marked form: from ``begin`` to the next ``end`` (or the end of the text) stands what ``read`` reads."""

    name: str
    begin: re.Pattern[str]
    end: re.Pattern[str]
    read: Callable[[str], list[Pair]]


def find_calls(text: str, known: Container[str]) -> tuple[str, list[TextCall]]:
    """The text before the first call, and the calls; no calls where there are none, or the text is too long to be one."""
    if len(text) > MAX_ARGUMENTS or _HINTS.search(text) is None:
        return text, []
    for form in _MARKED:
        if found := _marked(form, text):
            return text[: found[0][0]].rstrip(), [call for _, call in found]
    bare = _without_fence(text.strip())
    for form, pairs in (("json", _objects(bare) or _spoilt(bare)), ("python", _pythonic(bare))):
        if pairs and all(name in known for name, _ in pairs):
            return "", [TextCall(form, name, arguments, text) for name, arguments in pairs]
    return _react(text, known)


def _marked(form: _Form, text: str) -> list[tuple[int, TextCall]]:
    found: list[tuple[int, TextCall]] = []
    begin = form.begin.search(text)
    while begin is not None:
        end = form.end.search(text, begin.end())
        inner, after = (text[begin.end() : end.start()], end.end()) if end else (text[begin.end() :], len(text))
        raw = text[begin.start() : after]
        payload = f"{begin.group(1)}\n{inner}" if begin.re.groups else inner
        pairs = form.read(payload.strip()) or [_broken(payload.strip())]
        found += [(begin.start(), TextCall(form.name, name, arguments, raw)) for name, arguments in pairs]
        begin = form.begin.search(text, max(after, begin.end()))
    return found


def _broken(payload: str) -> Pair:
    """What is no call: its name where one can be seen, and all of it as arguments, for the toolbox to explain."""
    named = _NAME.search(payload)
    return (_bare_name(named.group(1)) if named else "", payload)


def _spoilt(text: str) -> list[Pair]:
    """JSON that breaks off or holds what is none, and yet says which tool it calls."""
    called = text.startswith(("{", "[")) and any(f'"{key}"' in text or f"'{key}'" in text for key in _ARGUMENTS)
    broken = called and isinstance(parse_arguments(f'{{"value":{text}}}'), ToolResult)
    return [_broken(text)] if broken and _NAME.search(text) else []


def _bare_name(name: str) -> str:
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name


def _objects(text: str) -> list[Pair]:
    """The calls in JSON objects: one, an array, several one after the other, or one that holds ``tool_calls``."""
    text = _without_fence(text)
    if not text.startswith(("{", "[")):
        return []
    pairs: list[Pair] = []
    for value in _values(text):
        if isinstance(value, ToolResult):
            return []
        inner: Json = cast("dict[str, Json]", value).get("tool_calls") if isinstance(value, dict) else value
        listed = cast("list[Json]", inner) if isinstance(inner, list) else [cast("Json", value)]
        for each in listed:
            pair = _pair(each)
            if pair is None:
                return []
            pairs.append(pair)
    return pairs


def _values(text: str) -> Iterator[Json]:
    """JSON values one after the other, apart by white space, commas or semicolons; a ToolResult for what is none."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            yield parse_arguments("?")
            return
        # Read again as arguments are: duplicate keys, NaN and the like are no JSON.
        read = parse_arguments(f'{{"value":{text[at:end]}}}')
        yield read if isinstance(read, ToolResult) else read["value"]
        at = end
        while at < len(text) and text[at] in " \t\r\n,;":
            at += 1


def _pair(value: Json) -> Pair | None:
    if not isinstance(value, dict):
        return None
    call = cast("dict[str, Json]", value)
    if isinstance(call.get("function"), dict):
        call = cast("dict[str, Json]", call["function"])
    name = next((call[key] for key in _NAMES if isinstance(call.get(key), str)), None)
    key = next((key for key in _ARGUMENTS if key in call), None)
    if name is None or (key is None and len(call) > 1):
        return None
    arguments: Json = {} if key is None else call[key]
    return _bare_name(name), arguments if isinstance(arguments, str) else _dumps(arguments)


def _dumps(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _without_fence(text: str) -> str:
    found = re.fullmatch(r"```[\w-]*\s*\n?([^`]*)\n?```", text)
    return found.group(1).strip() if found else text


def _pythonic(text: str) -> list[Pair]:
    """``find(name="x")``, one or a list of them, with literal arguments given by name."""
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
        name = _dotted(node.func) if isinstance(node, ast.Call) else ""
        if not isinstance(node, ast.Call) or not name or node.args or any(each.arg is None for each in node.keywords):
            return []
        try:
            arguments = {str(each.arg): ast.literal_eval(each.value) for each in node.keywords}
            pairs.append((_bare_name(name).removesuffix(".call"), _dumps(arguments)))
        except (ValueError, TypeError, RecursionError):
            return []
    return pairs


def _dotted(node: ast.expr) -> str:
    """A name with what stands before its dots; empty for any other expression."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


def _named(text: str) -> list[Pair]:
    """A name, then JSON, with what stands between them in the various forms."""
    found = re.match(r"[\s\"']*(?:function\s*(?=[<{\w]*<｜tool▁sep｜>))?(?:<｜tool▁sep｜>)?([\w.:-]{1,128})", text)
    if found is None:
        return []
    name = re.sub(r":\d+$", "", _bare_name(found.group(1)))
    rest = text[found.end() :]
    at = rest.find("{")
    if at < 0:
        return [(name, "")] if not rest.strip(" \t\r\n>\"'") else [(name, rest.strip())]
    body = rest[at:].rstrip()
    return [(name, body.removesuffix("```").rstrip())]


_PARAMETER: Final = re.compile(
    r"<(?:｜DSML｜)?parameter(?:=|\s+name=)[\"']?([\w.-]+)[\"']?[^>]*>\n?([^<]*(?:<(?!/?(?:｜DSML｜)?(?:parameter|function|invoke))[^<]*)*)"
)
_GLM: Final = re.compile(r"<arg_key>([^<]*)</arg_key>\s*<arg_value>([^<]*)(?:</arg_value>|$)")


def _tagged(text: str) -> list[Pair]:
    """``<function=find>`` or ``<invoke name="find">`` with JSON or parameters inside; GLM's keys and values."""
    pairs: list[Pair] = []
    opened = list(re.finditer(r"<(?:｜DSML｜)?(?:function=|invoke\s+name=)[\"']?([\w.:-]{1,128})[\"']?[^>]*>", text))
    for at, found in enumerate(opened):
        inner = text[found.end() : opened[at + 1].start() if at + 1 < len(opened) else len(text)]
        body = re.split(r"</(?:｜DSML｜)?(?:function|invoke)>", inner, maxsplit=1)[0].strip()
        pairs.append((_bare_name(found.group(1)), body if body.startswith("{") else _typed(_PARAMETER.findall(body))))
    if not pairs and (found := _GLM.search(text)):
        name = text[: found.start()].strip()
        pairs.append((_bare_name(name), _typed(_GLM.findall(text))))
    return pairs


def _typed(parameters: Sequence[tuple[str, str]]) -> str:
    """Parameters without types as JSON: what reads as JSON is that, all else is text."""
    out: dict[str, Json] = {}
    for key, raw in parameters:
        value = raw.strip("\r\n")
        try:
            out[key.strip()] = json.loads(value.strip())
        except (ValueError, RecursionError):
            out[key.strip()] = value
    return _dumps(out)


def _any(text: str) -> list[Pair]:
    """Whatever stands behind a marker: JSON, tags, Python, or a name and JSON."""
    if text.startswith(("{", "[", "```")):
        return _objects(text) or _pythonic(_without_fence(text))
    if "<" in text and (tagged := _tagged(text)):
        return tagged
    return _pythonic(text) or _named(text)


def _react(text: str, known: Container[str]) -> tuple[str, list[TextCall]]:
    """``Action: find`` and ``Action Input: {...}``, each at the start of a line."""
    found = re.search(r"(?:^|\n)[ \t]*Action[ \t]*:[ \t]*([^\n]*)", text)
    if found is None:
        return text, []
    name = _bare_name(found.group(1).strip().strip("`\"'"))
    rest = text[found.end() :]
    given = re.search(r"(?:^|\n)[ \t]*Action Input[ \t]*:[ \t]*", rest)
    if given is not None and name in known:
        arguments = re.split(r"\n[ \t]*Observation[ \t]*:", rest[given.end() :], maxsplit=1)[0].strip()
        return text[: found.start()].rstrip(), [
            TextCall("react", name, _without_fence(arguments), text[found.start() :])
        ]
    pairs = _objects(_without_fence((found.group(1) + rest).strip()))
    if pairs and all(each in known for each, _ in pairs):
        return text[: found.start()].rstrip(), [TextCall("react", *each, text[found.start() :]) for each in pairs]
    return text, []


def _form(name: str, begin: str, end: str, read: Callable[[str], list[Pair]] = _any) -> _Form:
    return _Form(name, re.compile(begin), re.compile(end), read)


_MARKED: Final[tuple[_Form, ...]] = (
    _form(
        "deepseek", r"<｜tool▁call▁begin｜>", r"<｜tool▁call▁end｜>|<｜tool▁calls▁end｜>", lambda text: _deepseek(text)
    ),
    _form("kimi", r"<\|tool_call_begin\|>", r"<\|tool_call_end\|>|<\|tool_calls_section_end\|>", _named),
    _form("mistral", r"\[TOOL_CALLS\]", r"(?=\[TOOL_CALLS\])|</s>|$"),
    _form("hermes", r"<tool_call>|<\|tool_call\|>", r"</tool_call>|<\|/tool_call\|>|(?=<tool_call>)"),
    _form("tool_calls", r"<tool_calls>|<TOOLCALL>|<\|START_ACTION\|>", r"</tool_calls>|</TOOLCALL>|<\|END_ACTION\|>"),
    _form("python_tag", r"<\|python_tag\|>", r"<\|eom_id\|>|<\|eot_id\|>|$"),
    _form("function", r"(?=<function=[\w.:\"'-]{1,130}>)", r"</function>|$", _tagged),
    _form("invoke", r"(?=<(?:｜DSML｜)?invoke\s+name=)", r"</(?:｜DSML｜)?invoke>|$", _tagged),
    _form("functionary", r"<\|recipient\|>(?!all)", r"<\|stop\|>|<\|from\|>|$", _named),
    _form("functionary", r"(?:^|\n)>>>(?!all)(?=[\w.:-]{1,128}\n\s*\{)", r"(?=\n>>>)|$", _named),
    _form("harmony", r"to=functions\.(?=[\w.:-]{1,128})", r"<\|call\|>|<\|end\|>|$", _named),
    _form("internlm", r"<\|action_start\|>\s*<\|plugin\|>", r"<\|action_end\|>|$"),
    _form("tool_code", r"```tool_(?:code|call)s?\s*\n", r"```|$"),
)


def _deepseek(text: str) -> list[Pair]:
    head, separator, rest = text.partition("<｜tool▁sep｜>")
    return _named(rest if separator and head.strip() in {"function", ""} else f"{head}\n{rest}")
