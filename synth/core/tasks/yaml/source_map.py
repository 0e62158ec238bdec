"""YAML that remembers its lines, so that every mistake can be shown where it stands.

Scalars follow YAML 1.2's core schema (only true and false are booleans, a date stays text, 12:30 is
no number), and a key that stands twice in one mapping is a mistake.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import yaml

from synth.errors import TaskError

INT64 = range(-(2**63), 2**63)
_SURROGATE = re.compile("[\ud800-\udfff]")


class Map(dict[str, Any]):
    """A mapping with the line of itself and of each key (counted from 1)."""

    line: int = 1
    lines: dict[str, int]


class Seq(list[Any]):
    """A sequence with the line of itself and of each item."""

    line: int = 1
    lines: list[int]


_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's, where PyYAML has it: twelve times as fast."""


class _Core(_Loader):
    """SafeLoader without YAML 1.1's surprises."""

    def decimal(self, node: Any) -> int:
        """A whole number as it reads: 010 is ten."""
        return int(node.value)


_Core.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"^[-+]?[0-9]+$", list("-+0123456789")),
    (
        "float",
        r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$|^[-+]?[0-9]+[eE][-+]?[0-9]+$",
        list("-+.0123456789"),
    ),
):
    cast("Any", _Core).add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), _first
    )


cast("Any", _Core).add_constructor("tag:yaml.org,2002:int", _Core.decimal)


def load_yaml(file: Path) -> Any:
    """The file's content as :class:`Map`, :class:`Seq` and scalars, which nobody changes.

    Raises :class:`~synth.errors.TaskError` with the line for a missing file or what is not YAML.
    """
    try:
        text = file.read_text("utf-8")
    except FileNotFoundError:
        raise TaskError("file not found", str(file)) from None
    except UnicodeDecodeError as error:
        raise TaskError(f"not UTF-8 at byte {error.start}", str(file)) from None
    return _parsed(text, str(file))


@lru_cache(maxsize=4)
def _parsed(text: str, file: str) -> Any:
    """The content of a text, read once for all universes of a world."""
    loader: Any = None
    try:
        loader = _Core(text)
        node = loader.get_single_node()
        return None if node is None else _build(loader, node, file)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        advice = _advice(str(error.problem), text, mark.line if mark else 0)
        raise TaskError(
            f"not valid YAML: {error.problem}{advice}", file, mark.line + 1 if mark else None
        ) from None
    except yaml.YAMLError as error:
        raise TaskError(f"not valid YAML: {' '.join(str(error).split())}", file) from None
    except RecursionError:
        raise TaskError("nested too deeply, or an alias that holds itself", file) from None
    finally:
        if loader is not None:
            loader.dispose()


_UNQUOTED = ("expected ','", "mapping values are not allowed", "did not find expected key")
"""Problems that a text without quotes usually causes."""


def _advice(problem: str, text: str, line: int) -> str:
    """A clause that says how to mend a syntax error; empty if its cause is not known."""
    lines = text.split("\n")
    if line < len(lines) and re.match(r" *\t", lines[line]):
        return "; indent with spaces, not with tabs"
    if any(usual in problem for usual in _UNQUOTED):
        return "; a text with a comma, a colon or braces needs quotes"
    return ""


_PLAIN = frozenset(
    f"tag:yaml.org,2002:{name}" for name in ("map", "seq", "str", "int", "float", "bool", "null")
)


def _build(loader: Any, node: Any, file: str) -> Any:
    line = node.start_mark.line + 1
    if node.tag not in _PLAIN:
        short = node.tag.replace("tag:yaml.org,2002:", "!!")
        raise TaskError(
            f"the tag {short} has no place here: write text, numbers, lists and mappings",
            file,
            line,
        )
    if isinstance(node, yaml.MappingNode):
        out = Map()
        out.line, out.lines = line, {}
        for key_node, value_node in node.value:
            key_line = key_node.start_mark.line + 1
            key = loader.construct_object(key_node)
            if not isinstance(key, (str, int)) or isinstance(key, bool):
                raise TaskError(f"a key must be text, not {key!r}", file, key_line)
            if str(key) in out:
                raise TaskError(f"the key {key!r} stands twice in one mapping", file, key_line)
            out[str(key)] = _build(loader, value_node, file)
            out.lines[str(key)] = key_line
        return out
    if isinstance(node, yaml.SequenceNode):
        items = Seq(_build(loader, item, file) for item in node.value)
        items.line, items.lines = line, [item.start_mark.line + 1 for item in node.value]
        return items
    try:
        return _scalar(loader.construct_object(node), file, line)
    # What a tag such as !!int makes of the wrong text.
    except (ValueError, LookupError, AttributeError):
        kind = node.tag.rpartition(":")[2]
        raise TaskError(f"{node.value!r} must be of type {kind}", file, line) from None


def _scalar(value: Any, file: str, line: int) -> Any:
    """The value, if JSON and 64 bits can hold it."""
    if isinstance(value, float) and not math.isfinite(value):
        raise TaskError("a number must be finite", file, line)
    if isinstance(value, int) and not isinstance(value, bool) and value not in INT64:
        raise TaskError(
            f"the whole number {str(value)[:40]} does not fit into 64 bits; write it as text",
            file,
            line,
        )
    if isinstance(value, str) and _SURROGATE.search(value):
        raise TaskError(f"{value[:80]!r} must not hold a lone surrogate", file, line)
    return value


def line_of(root: Any, family: str, *words: str) -> int | None:
    """The line in a parsed tasks.yaml of the first key ``words[0]`` of a family, of ``words[1]``
    below it, and so on; of the last of them that is there.
    """
    families = root.get("families") if isinstance(root, Map) else None
    here = (
        next(
            (item for item in families if isinstance(item, Map) and item.get("id") == family), None
        )
        if isinstance(families, Seq)
        else None
    )
    line = None if here is None else here.line
    for word in words:
        found = _find(here, word)
        if found is None:
            break
        line, here = found
    return line


def _find(value: Any, word: str) -> tuple[int, Any] | None:
    if isinstance(value, Map):
        if word in value:
            return value.lines[word], value[word]
        value = list(value.values())
    if isinstance(value, list):
        return next(
            (
                found
                for item in cast("list[Any]", value)
                if (found := _find(item, word)) is not None
            ),
            None,
        )
    return None
