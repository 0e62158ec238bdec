"""Rules by which values compare: ``compare`` of a world or family, and the tolerances in it and in
answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from envs.types import Table
from synth.core.tasks.yaml.scope import nearest
from synth.core.tasks.yaml.source_map import Map
from synth.core.tasks.yaml.words import TABLE_COMPARE
from synth.errors import TaskError

_TEXT = re.compile("CHAR|TEXT|CLOB|DATE|TIME")

Fail = Callable[[str, int | None], TaskError]


def read_compare(rules: Map, tables: Mapping[str, Table], fail: Fail) -> dict[str, object]:
    """``table.column`` or ``*.column`` -> exact, ignore, free_text or {abs: x}; ``table`` ->
    append_only.
    """
    for key, rule in rules.items():
        where = rules.lines[key]
        if "." not in key and rule != TABLE_COMPARE:
            raise fail(f"`{key}` names a table; the rule for a table is {TABLE_COMPARE}", where)
        if "." in key and rule == TABLE_COMPARE:
            raise fail(f"`{key}` names a column; {TABLE_COMPARE} is a rule for a table", where)
        _check_target(key, rule, tables, where, fail)
    return {key: dict(rule) if isinstance(rule, Map) else rule for key, rule in rules.items()}


def _check_target(
    key: str, rule: object, tables: Mapping[str, Table], line: int, fail: Fail
) -> None:
    """A rule that names no table or no column would silently be no rule."""
    table, dot, column = key.partition(".")
    if table != "*" and table not in tables:
        raise fail(f"compare {key}: unknown table {table!r}; {nearest(table, set(tables))}", line)
    columns = [
        item for name, known in tables.items() if table in {"*", name} for item in known.columns
    ]
    found = [item for item in columns if item.name == column]
    if dot and not found:
        names = {item.name for item in columns}
        raise fail(f"compare {key}: unknown column {column!r}; {nearest(column, names)}", line)
    if isinstance(rule, Mapping) and any(_TEXT.search(item.type.upper()) for item in found):
        raise fail(f"compare {key}: a tolerance on a column of text", line)
