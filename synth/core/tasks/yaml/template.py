"""Slots and saved names inside values.

In the YAML, ``"{bpm}"`` names a slot (a grounding column or a varied value) and ``$pid`` a result
that an earlier step saved; a value that is nothing but one name keeps its native type.
``$item.price.amount`` (in a text ``{item.price.amount}``) is a field of an object, and
``{price.hundredths}`` an amount in cents as people say it: 12.50 for 1250, ``{price.fixed}`` one
that is not: 12.50 for 12.5, ``{paid.written}`` a day or moment: 3 May 2025 at 14:30,
``{times.often}`` once, twice or 3 times. ``{{`` and ``}}`` are literal braces. Compiled, a value is
JSON in which ``{"$slot": name}``, ``{"$": name}``, both with ``"path": [fields]`` where a field is
meant, and ``{"$text": [parts]}`` stand for what is filled in: slots when the task is made, saved
names when the solution is played. A slot's value (``$pid``, ``{x}``) is never read as notation.

In SQL that a solution hands to a tool, ``:bpm`` names a slot or a saved result as well, and becomes
an SQL literal: ``{"$sql": [parts]}``, in which ``{"$literal": node}`` is quoted when it is filled
in.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from synth.errors import TaskError

Json = Any

_DOTTED = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"
_PIECE = re.compile(rf"\{{\{{|\}}\}}|\{{({_DOTTED})\}}|[{{}}]")
_SAVED = re.compile(rf"^\$({_DOTTED})$")
_DOLLARS = re.compile(rf"(\$+)({_DOTTED})")

ROWS_SAID = 30
"""The most rows of a result that a reply names, and that are asked of one."""

HUNDREDTHS, FIXED, WRITTEN, OFTEN = "hundredths", "fixed", "written", "often"
UNITS = ("cents", "percent", "days", "mg")
"""Ends of the names of figures that are said behind them."""

BINDS = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|::|:([A-Za-z_]\w*)|:", re.DOTALL
)
"""What a statement binds, as the first group; what is quoted, and comments, are found whole."""


class Unknown(ValueError):
    """A name that is neither a slot nor saved by an earlier step; ``name`` is it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def compile_value(
    raw: Json, slots: frozenset[str] | set[str], saved: frozenset[str] | set[str]
) -> Json:
    """Compile a YAML value. Raises :class:`Unknown` for an unknown name, ValueError for stray
    braces, and for a ``$name`` that would be taken literally.
    """
    if isinstance(raw, str):
        return _compile_text(raw, slots, saved)
    if isinstance(raw, Mapping):
        items = cast("Mapping[str, Json]", raw)
        if bad := [key for key in items if key.startswith("$")]:
            raise ValueError(f"a key must not begin with $: {bad[0]!r}")
        if len(items) == 1 and (name := next(iter(items))) in slots and items[name] is None:
            raise ValueError(f'{{{name}}} without quotes is a mapping: write "{{{name}}}"')
        return {key: compile_value(value, slots, saved) for key, value in items.items()}
    if isinstance(raw, list):
        return [compile_value(item, slots, saved) for item in cast("list[Json]", raw)]
    return raw


def _compile_text(
    raw: str, slots: frozenset[str] | set[str], saved: frozenset[str] | set[str]
) -> Json:
    if found := _SAVED.match(raw):
        if (name := found.group(1).partition(".")[0]) in slots and name not in saved:
            raise ValueError(f'{raw} is a slot: write "{{{found.group(1)}}}"')
        return _node(found.group(1), frozenset(), saved)
    lead = len(raw) - len(raw.lstrip("$"))
    known = {*slots, *saved}
    raw = "$" * (lead - 1) + _dollars(raw[lead:], known) if lead > 1 else _dollars(raw, known)
    parts, position = list[Json](), 0
    for piece in _PIECE.finditer(raw):
        literal = raw[position : piece.start()]
        position = piece.end()
        name = piece.group(1)
        if name is None and piece.group(0) in "{}":
            raise ValueError(
                f"a single {piece.group(0)!r}; write {piece.group(0) * 2} for a literal brace"
            )
        if name is None:
            parts.append(literal + piece.group(0)[0])
            continue
        if literal:
            parts.append(literal)
        parts.append(_node(name, slots, saved))
    if raw[position:]:
        parts.append(raw[position:])
    return _joined(parts)


def compile_sql(
    raw: str, slots: frozenset[str] | set[str], saved: frozenset[str] | set[str]
) -> Json:
    """Compile SQL whose ``:name`` are literals; the rest is a value as in :func:`compile_value`."""
    parts, position = list[Json](), 0
    for found in BINDS.finditer(raw):
        if name := found.group(1):
            parts += [
                compile_value(raw[position : found.start()], slots, saved),
                {"$literal": _node(name, slots, saved)},
            ]
            position = found.end()
    if not parts:
        return compile_value(raw, slots, saved)
    return {"$sql": [*parts, compile_value(raw[position:], slots, saved)]}


def sql_literal(value: Json) -> str:
    """A value as an SQL literal. Raises :class:`~synth.errors.TaskError` for a list or a
    mapping.
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    raise TaskError(f"{text_of(value)[:80]!r} must be a single value to be an SQL literal")


def _dollars(text: str, known: set[str]) -> str:
    """``$$name`` as ``$name``, for known names; ValueError for ``$name``, which would not be filled
    in.
    """

    def one(found: re.Match[str]) -> str:
        if found.group(2).partition(".")[0] not in known:
            return found.group(0)
        if len(found.group(1)) == 1:
            raise ValueError(f"{found.group(0)} stands inside a text: write {{{found.group(2)}}}")
        return found.group(0)[1:]

    return _DOLLARS.sub(one, text)


def _node(dotted: str, slots: frozenset[str] | set[str], saved: frozenset[str] | set[str]) -> Json:
    name, *path = dotted.split(".")
    if name not in saved and name not in slots:
        raise Unknown(name)
    node: dict[str, Json] = {"$" if name in saved else "$slot": name}
    return node | {"path": path} if path else node


def _joined(parts: Sequence[Json]) -> Json:
    merged: list[Json] = []
    for part in parts:
        if merged and isinstance(part, str) and isinstance(merged[-1], str):
            merged[-1] += part
        else:
            merged.append(part)
    if not merged:
        return ""
    return merged[0] if len(merged) == 1 else {"$text": merged}


def fill(value: Json, key: str, names: Mapping[str, Json]) -> Json:
    """Put values in the place of ``{key: name}`` nodes; ``key`` is ``$slot`` or ``$``. KeyError if
    a name is missing, :class:`~synth.errors.TaskError` if a value has no such field.
    """
    if isinstance(value, dict):
        node = cast("dict[str, Json]", value)
        if key in node and _is_node(node):
            return _field(names[node[key]], node[key], node.get("path", ()))
        if "$sql" in node:
            return _filled_sql([fill(part, key, names) for part in node["$sql"]])
        if "$literal" in node:
            inner = fill(node["$literal"], key, names)
            return {"$literal": inner} if _is_node(inner) else sql_literal(inner)
        if "$text" in node:
            parts = _counted(node["$text"], [fill(part, key, names) for part in node["$text"]])
            return _joined([part if _is_node(part) else text_of(part) for part in parts])
        return {name: fill(inner, key, names) for name, inner in node.items()}
    if isinstance(value, list):
        return [fill(item, key, names) for item in cast("list[Json]", value)]
    return value


def _counted(raw: Sequence[Json], filled: Sequence[Json]) -> list[Json]:
    """The filled parts of a text. Nouns behind their own number are in the singular for 1, and for
    0 there are "no orders".
    """
    parts = list(filled)
    for place, (node, value) in enumerate(zip(raw[:-1], filled, strict=False)):
        text = parts[place + 1]
        if type(value) is int and value in {0, 1} and isinstance(text, str) and _is_node(node):
            name = [node.get("$", node.get("$slot")), *node.get("path", ())][-1]
            noun = name.partition("@")[0].replace("_", " ")  # a later request's ends in @2
            if value == 1:
                one = rf"\1{_singular(noun)}"
                parts[place + 1] = re.sub(rf"^((?: \w+)? ){noun}\b", one, text)
            elif noun not in UNITS and re.match(rf"(?: \w+)? {noun}\b", text):
                parts[place] = "no"
    return parts


def _singular(noun: str) -> str:
    """One of what a plural names.

    >>> [_singular(noun) for noun in ("open orders", "entries", "addresses", "prices", "aliases")]
    ['open order', 'entry', 'address', 'price', 'alias']
    """
    ends = r"(?:(?<=s[sh])|(?<=x)|(?<=[nrt]ch)|(?<=ias)|(?<=tus))es$|(?<!s)s$"
    return re.sub(ends, "", re.sub("ies$", "y", noun))


def _filled_sql(parts: Sequence[Json]) -> Json:
    held = any(isinstance(part, dict) for part in parts)
    return {"$sql": list(parts)} if held else "".join(map(text_of, parts))


def _is_node(value: Json) -> bool:
    if not isinstance(value, dict):
        return False
    node = cast("dict[str, Json]", value)
    return len(node) - ("path" in node) == 1 and ("$" in node or "$slot" in node)


def _field(value: Json, name: str, path: Sequence[str]) -> Json:
    for depth, item in enumerate(path):
        if item in {HUNDREDTHS, FIXED} and isinstance(value, int | float):
            return f"{value / 100 if item == HUNDREDTHS else value:.2f}"
        if item in {WRITTEN, OFTEN} and not isinstance(value, dict):
            return written(text_of(value)) if item == WRITTEN else _often(value)
        fields = cast("dict[str, Json]", value) if isinstance(value, dict) else None
        if fields is None or item not in fields:
            holds = (
                f"its fields are {', '.join(fields)}"
                if fields is not None
                else f"it is {text_of(value)[:80]!r}"
            )
            raise TaskError(f"{'.'.join([name, *path[:depth]])} has no field {item!r}; {holds}")
        value = fields[item]
    return value


def written(text: str) -> str:
    """A day or moment as people write it: 3 May 2025 at 14:30; any other text stays."""
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return text
    time = f"{moment: at %H:%M:%S}".removesuffix(":00") if text[10:] else ""
    return f"{moment.day} {moment:%B %Y}{time}"


def _often(times: Json) -> str:
    return "once" if times == 1 else "twice" if times == 2 else f"{text_of(times)} times"


def text_of(value: Json) -> str:
    r"""A value as it reads inside a sentence: lists have an "and", booleans are yes and no, figures
    are rounded. An object alone ends the sentence; several are listed, the first :data:`ROWS_SAID`.

    >>> text_of([{"status": "lost", "parcels": 2}, {"carrier": "A", "parcels": 1, "late": 0}])
    '\n- lost: 2\n- A: 1 parcel, 0 late'
    >>> text_of([{"drug": "A", "dose_mg": 5, "times_per_day": 1}])
    'A (dose 5 mg, once per day).'
    """
    if isinstance(value, str):
        return value
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        items = cast("list[Json]", value)
        if items and all(isinstance(item, Mapping) for item in items):
            rows = [_row_text(item, alone=len(items) == 1) for item in items[:ROWS_SAID]]
            if len(items) == 1:
                return f"{rows[0]}."
            more = [f"and {len(items) - ROWS_SAID} more"] if len(items) > ROWS_SAID else []
            return "\n- ".join(["", *rows, *more])
        texts = [*map(text_of, items)]
        return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]])) or "none"
    if isinstance(value, Mapping):
        return _row_text(cast("Mapping[str, Json]", value))
    return str(round(value, 2) if abs(value) >= 100 else rounded(value))


def _row_text(row: Mapping[str, Json], *, alone: bool = False) -> str:
    """The texts of an object, then its figures: one alone, several with their names."""
    figures = {key: item for key, item in row.items() if isinstance(item, int | float | None)}
    texts = ", ".join(text_of(item) for key, item in row.items() if key not in figures)
    said = ", ".join(_figure(key, item, len(figures) > 1) for key, item in figures.items())
    if alone and texts and said:
        return f"{texts} ({said})"
    return ": ".join(filter(None, [texts, said]))


def _figure(name: str, value: Json, named: bool) -> str:
    """A figure with its unit, the end of its name, and if ``named`` its name: "dose 300 mg"."""
    label, _, unit = name.rpartition("_") if name.endswith(UNITS) else (name, "", "")
    if value == 1:
        label = re.sub("^.*?(?=_per_|$)", lambda counted: _singular(counted[0]), label)
    words = label.replace("_", " ") if named and not name.isdigit() else ""
    if words.startswith(("time per ", "times per ")):
        return f"{_often(value)} {words.partition(' ')[2]}"
    if unit == "cents" and value is not None:
        return f"{words} {value / 100:.2f}".lstrip()
    amount = text_of(value)
    return " ".join(filter(None, [words, amount, unit] if unit else [amount, words]))


def rounded(value: Json) -> Json:
    """The value with its figures in ten significant digits, at any depth."""
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Json]", value)
        return {key: rounded(item) for key, item in items.items()}
    if isinstance(value, list):
        return [rounded(item) for item in cast("list[Json]", value)]
    return value


def names_in(value: Json, key: str, field: str = "") -> set[str]:
    """The names that a compiled value refers to under ``key``, with or by one of its fields."""
    if isinstance(value, dict):
        node = cast("dict[str, Json]", value)
        meant = _is_node(node) and key in node and (not field or field in node.get("path", ()))
        own = {node[key]} if meant else set[str]()
        return own.union(*(names_in(item, key, field) for item in node.values()))
    if isinstance(value, list):
        return set[str]().union(*(names_in(one, key, field) for one in cast("list[Json]", value)))
    return set()
