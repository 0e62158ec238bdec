"""The `alternatives` of a family: right ends other than gold's.

Each end has conditions, and a frame of the rows that may change.
"""

from __future__ import annotations

from typing import cast

from envs.types import Table
from synth.core.tasks.queries import Queries, binds_of
from synth.core.tasks.yaml.models import (
    AlternativesModel,
    EndModel,
    FrameModel,
    RowOperation,
    keys_of,
    words_of,
)
from synth.core.tasks.yaml.scope import Scope, nearest
from synth.core.tasks.yaml.source_map import Map, Seq
from synth.core.tasks.yaml.words import NAME
from synth.core.types.checks import AlternativeEnd, ChangeFrame
from synth.errors import TaskError


def read_alternatives(raw: Map, scope: Scope, queries: Queries) -> tuple[AlternativeEnd, ...]:
    """The entries of ``any_of``.

    Each query is tried on the template.
    """
    if raw.get("alternatives") is None:
        return ()
    line = raw.lines["alternatives"]
    alternatives = scope.mapping(
        raw["alternatives"], "alternatives", line, keys_of(AlternativesModel)
    )
    ends = alternatives.get("any_of")
    if not isinstance(ends, Seq) or not ends:
        raise scope.fail(
            "alternatives needs `any_of`, a list of ends", alternatives.lines.get("any_of", line)
        )
    return tuple(
        _end(scope.mapping(end, "an end", line, keys_of(EndModel)), scope, queries)
        for end, line in zip(ends, ends.lines, strict=True)
    )


def names_in_end(end: AlternativeEnd) -> set[str]:
    """The slots and binds that an end's SQL uses."""
    frames = [frame.where for frame in end.may_change.values()]
    return {name for sql in [*end.bind.values(), *end.must, *frames] for name in binds_of(sql)}


def _end(raw: Map, scope: Scope, queries: Queries) -> AlternativeEnd:
    for key in ("must", "may_change"):
        if key not in raw:
            what = {"must": "what is true of it", "may_change": "the rows that may differ"}[key]
            raise scope.fail(f"an end needs `{key}`, {what}", raw.line)
    names = set(scope.slots)
    bind: dict[str, str] = {}
    for name, sql in scope.part(raw, "bind").items():
        line = raw["bind"].lines[name]
        if not NAME.fullmatch(name):
            raise scope.fail(f"the bind {name!r} must match {NAME.pattern}", line)
        if name in names:
            raise scope.fail(f"the bind {name!r} would hide the slot of that name", line)
        bind[name] = _one_column(sql, f"bind {name}", names, line, scope, queries)
        names.add(name)
    given: object = raw["must"]
    must = cast("list[object]", given) if isinstance(given, list) else [given]
    if not must:
        raise scope.fail("must is an SQL query, or a list of them", raw.lines["must"])
    frames = scope.mapping(raw["may_change"], "may_change", raw.lines["may_change"])
    line = raw.lines["must"]
    return AlternativeEnd(
        bind=bind,
        must=tuple(_one_column(sql, "must", names, line, scope, queries) for sql in must),
        may_change={table: _frame(table, frames, names, scope, queries) for table in frames},
    )


def _one_column(
    sql: object, what: str, names: set[str], line: int, scope: Scope, queries: Queries
) -> str:
    text = _sql(sql, what, names, line, scope)
    columns = queries.columns(text, names, TaskError(what, scope.file, line, scope.family))
    if len(columns) != 1:
        raise scope.fail(
            f"{what} must select one column, not {len(columns)} ({', '.join(columns)})", line
        )
    return text


def _sql(sql: object, what: str, names: set[str], line: int, scope: Scope) -> str:
    if not isinstance(sql, str) or not sql.strip():
        raise scope.fail(f"{what} is SQL, a text", line)
    if unknown := [item for item in binds_of(sql) if item not in names]:
        message = (
            f"{what}: :{unknown[0]} is neither a slot nor an earlier bind;"
            f" {nearest(unknown[0], names)}"
        )
        raise scope.fail(message, line)
    return sql.strip().rstrip(";")


def _frame(table: str, frames: Map, names: set[str], scope: Scope, queries: Queries) -> ChangeFrame:
    line, raw, what = frames.lines[table], frames[table], f"may_change {table}"
    if table not in queries.tables:
        raise scope.fail(
            f"may_change: unknown table {table!r}; {nearest(table, queries.tables)}", line
        )
    if not isinstance(raw, Map):
        raw = Map(where=raw)
        raw.line, raw.lines = line, {"where": line}
    frame = scope.mapping(raw, what, line, keys_of(FrameModel))
    where = _sql(frame.get("where"), f"{what}: where", names, frame.lines.get("where", line), scope)
    place = TaskError(what, scope.file, frame.lines["where"], scope.family)
    queries.check_condition(table, where, names, place)
    at_most = frame.get("at_most")
    if at_most is not None and (
        isinstance(at_most, bool) or not isinstance(at_most, int) or at_most < 1
    ):
        raise scope.fail(f"{what}: at_most is a whole number of at least 1", frame.lines["at_most"])
    return ChangeFrame(
        where=where,
        columns=_columns(frame, queries.tables[table], what, scope),
        ops=_words(frame, "ops", words_of(RowOperation), what, scope),
        at_most=at_most,
    )


def _columns(frame: Map, table: Table, what: str, scope: Scope) -> tuple[str, ...] | None:
    return _words(frame, "columns", frozenset(column.name for column in table.columns), what, scope)


def _words(
    frame: Map, key: str, known: frozenset[str], what: str, scope: Scope
) -> tuple[str, ...] | None:
    if key not in frame:
        return None
    value, line = frame[key], frame.lines[key]
    words = [str(item) for item in cast("list[object]", value)] if isinstance(value, list) else []
    if not words:
        raise scope.fail(f"{what}: {key} is a list", line)
    if unknown := [word for word in words if word not in known]:
        singular = {"columns": "column", "ops": "operation"}[key]
        raise scope.fail(
            f"{what}: unknown {singular} {unknown[0]!r}; {nearest(unknown[0], known)}", line
        )
    return tuple(words)
