"""seed.py of a generated world: the learned shape of its rows, as Python for a person to change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from textwrap import fill
from typing import Any, cast

from envs.world.row_generator import Lookup, MadeTable
from synth.ext.authoring.learn_texts import Names

WIDTH = 96

_HEAD = '''"""More universes of this world: other rows of the same shape, written by `synth new`.

It is yours to change. `seed.sql` is universe 0.

The same in every universe, as they are small and hold no people, numbers or dates, or as no other
rows of them can be made (README.md says why):
{lookups}.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from envs.world.row_generator import (
{names}
    made_rows,
)

{pools}TABLES: list[Lookup | MadeTable] = {tables}


def rows(universe: int, random: Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every row of one universe, parents before children."""
    yield from made_rows(TABLES, universe, random)
'''


def write_seed_file(tables: Sequence[Lookup | MadeTable]) -> str:
    """The text of seed.py."""
    pools = {one.name: one for one in _walk(tables) if isinstance(one, Names)}
    used = {type(value).__name__ for value in _walk(tables) if is_dataclass(value)}
    names = sorted({"Lookup", "MadeTable", *used})
    same = [table.name for table in tables if isinstance(table, Lookup)]
    return _HEAD.format(
        lookups=fill(", ".join(same) or "none", WIDTH),
        names="\n".join(f"    {name}," for name in names),
        pools="".join(f"{name} = {_layout(list(pools[name]), 0)}\n\n" for name in sorted(pools)),
        tables=_layout(list(tables), 0, len("TABLES: list[Lookup | MadeTable] = ")),
    )


def _walk(value: object) -> Iterator[object]:
    """A value and all its parts."""
    yield value
    inner: Iterable[object] = ()
    if is_dataclass(value):
        inner = [getattr(value, field.name) for field in fields(value)]
    elif isinstance(value, Mapping):
        inner = cast("Mapping[Any, Any]", value).values()
    elif isinstance(value, list | tuple) and not isinstance(value, Names):
        inner = cast("Sequence[Any]", value)
    for part in inner:
        yield from _walk(part)


def _layout(value: object, indent: int, used: int = 0) -> str:
    """A value as Python: on one line if it fits behind ``used`` characters, else its parts."""
    line = _line(value)
    if used + len(line) < WIDTH or not _is_nested(value) or isinstance(value, Names):
        return line
    left, right, parts = _parts(value)
    inner = " " * (indent + 4)
    if all(not is_dataclass(part) and len(_line(part)) < 40 for _, part in parts):
        body = _filled([head + _line(part) for head, part in parts], inner)
    else:
        rows = [head + _layout(part, indent + 4, indent + 5 + len(head)) for head, part in parts]
        body = "".join(f"{inner}{row},\n" for row in rows)
    return f"{left}\n{body}{' ' * indent}{right}"


def _is_nested(value: object) -> bool:
    return is_dataclass(value) or isinstance(value, list | tuple | Mapping)


def _filled(items: Sequence[str], inner: str) -> str:
    """Short items, as many on a line as fit."""
    lines, line = list[str](), ""
    for item in items:
        if line and len(inner) + len(line) + len(item) + 2 > WIDTH:
            lines.append(line)
            line = ""
        line += f" {item}," if line else f"{item},"
    return "".join(f"{inner}{one}\n" for one in [*lines, line])


def _parts(value: object) -> tuple[str, str, list[tuple[str, object]]]:
    """The brackets of a value, and its parts with what stands before each of them."""
    if is_dataclass(value):
        kept = [
            field
            for field in fields(value)
            if field.default is MISSING or getattr(value, field.name) not in (field.default, [])
        ]
        by_place = {
            one.name for one, other in zip(kept, fields(value)[:2], strict=False) if one == other
        }
        heads = {one.name: "" if one.name in by_place else f"{one.name}=" for one in kept}
        parts = [(head, getattr(value, name)) for name, head in heads.items()]
        return f"{type(value).__name__}(", ")", parts
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return "{", "}", [(f"{_line(key)}: ", part) for key, part in items]
    parts = [("", part) for part in cast("Sequence[object]", value)]
    return ("(", ")", parts) if isinstance(value, tuple) else ("[", "]", parts)


def _line(value: object) -> str:
    if isinstance(value, Names):
        return value.name
    if isinstance(value, str) and '"' not in value and value.isprintable() and "\\" not in value:
        return f'"{value}"'
    if _is_nested(value):
        left, right, parts = _parts(value)
        comma = "," if isinstance(value, tuple) and len(parts) == 1 else ""
        return left + ", ".join(head + _line(part) for head, part in parts) + comma + right
    return repr(value)
