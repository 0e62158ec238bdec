"""The head of a generated executors.py: what its tools share."""

HEAD = '''"""Tools of this world, written by `synth new` from its schema; yours to change."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from sqlalchemy import Connection

from envs import ToolError, tool
from envs.tools import records
from envs.tools.records import Row

DAY = {"pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
Day = Annotated[str, DAY]
Limit = Annotated[int, {"minimum": 1, "maximum": 200}]
Offset = Annotated[int, {"minimum": 0}]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _own(db: Connection, sql: str) -> str:
    """The SQL as the engine quotes names; values are bound, so that quotes stand for names only."""
    mark = "`" if db.dialect.name in {"mysql", "mariadb"} else '"'

    def name(found: re.Match[str]) -> str:
        bare = found[0][1:-1].replace('""', '"')
        return mark + bare.replace(mark, 2 * mark).replace(":", r"\\:") + mark

    return re.sub(r'"(?:[^"]|"")*"', name, sql)


def _rows(db: Connection, sql: str, **binds: object) -> list[Row]:
    found = records.rows(db, _own(db, sql), **binds)
    return [{name: int(value) if isinstance(value, bool) else value for name, value in row.items()}
            for row in found]


def _first(db: Connection, sql: str, **binds: object) -> Row | None:
    return next(iter(_rows(db, sql, **binds)), None)


def _one(db: Connection, sql: str, missing: str, **binds: object) -> Row:
    found = _first(db, sql, **binds)
    if found is None:
        raise ToolError(missing, category="not_found")
    return found


def _page(
    db: Connection,
    name: str,
    select: str,
    source: str,
    filters: dict[str, object],
    totals: str,
    stable: str,
    order: str | None,
    descending: bool,
    limit: int,
    offset: int,
) -> Row:
    given = {column: value for column, value in filters.items() if value is not None}
    binds = {f"filter{index}": value for index, value in enumerate(given.values())}
    conditions = [f"{column} = :filter{index}" for index, column in enumerate(given)]
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    counted = _first(db, f"SELECT COUNT(*) AS count{totals} {source} {where}", **binds) or {}
    sort = f"{order} {'DESC' if descending else 'ASC'}, {stable}" if order else stable
    page = f"{select} {source} {where} ORDER BY {sort} LIMIT {limit} OFFSET {offset}"
    summary = {key: round(value, 2) if isinstance(value, float) else value
               for key, value in counted.items() if value is not None}
    return {**summary, name: _rows(db, page, **binds)}


def _need(db: Connection, sql: str, value: object, missing: str) -> None:
    if value is not None and _first(db, sql, value=value) is None:
        raise ToolError(missing, category="not_found")


def _free(db: Connection, sql: str, taken: str, **binds: object) -> None:
    if _first(db, sql, **binds) is not None:
        raise ToolError(taken, category="conflict")


def _next(db: Connection, table: str, column: str) -> int:
    key, name = _quoted(column), _quoted(table)
    found = _first(db, f"SELECT COALESCE(MAX({key}), 0) + 1 AS made FROM {name}")
    return int(found["made"]) if found else 1


def _insert(db: Connection, table: str, values: Row, key: dict[str, str]) -> Row:
    given = {column: value for column, value in values.items() if value is not None}
    names = ", ".join(_quoted(column) for column in given)
    marks = ", ".join(f":value{index}" for index in range(len(given)))
    sql = f"INSERT INTO {_quoted(table)} ({names}) VALUES ({marks})"
    records.change(
        db,
        _own(db, sql),
        **{f"value{index}": value for index, value in enumerate(given.values())},
    )
    return {label: values[column] for label, column in key.items()}


def _change(db: Connection, table: str, key: Row, values: Row, missing: str) -> Row:
    given = {column: value for column, value in values.items() if value is not None}
    if not given:
        raise ToolError("Say what to change.", category="invalid")
    name = _quoted(table)
    where = " AND ".join(f"{_quoted(one)} = :key{index}" for index, one in enumerate(key))
    binds = {f"key{index}": value for index, value in enumerate(key.values())}
    _one(db, f"SELECT 1 AS there FROM {name} WHERE {where}", missing, **binds)
    parts = ", ".join(f"{_quoted(one)} = :value{index}" for index, one in enumerate(given))
    new = {f"value{index}": value for index, value in enumerate(given.values())}
    sql = f"UPDATE {name} SET {parts} WHERE {where}"
    records.change(db, _own(db, sql), **binds, **new)
    return {"changed": sorted(given)}
'''
