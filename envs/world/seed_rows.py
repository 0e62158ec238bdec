"""Rows of a world's ``seed.py``: more universes of one schema, the same rows on every engine.

::

    def rows(universe: int, random: random.Random) -> Iterator[tuple[str, Mapping[str, value]]]:
        yield "customers", {"customer_id": 1000 * universe + 1, "name": random.choice(NAMES)}

Each pair is a table and a row of it, in an order that satisfies the foreign keys. ``random`` is
seeded by the number of the universe; nothing else may vary. A value is None, bool, int,
float, str, bytes, decimal.Decimal, datetime.date or datetime.datetime. ``seed.sql`` is universe 0:
the function is asked from 1 on.
"""

from __future__ import annotations

import datetime as dt
import inspect
import itertools
import math
import os
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any, cast

from envs.errors import WorldError, last_place
from envs.quoting import quoted
from envs.scripts import Dialect
from envs.scripts.engines import ScriptEngine, engine_for
from envs.sql_errors import nearest

BATCH = 500
"""Rows of one table that go to the database at once."""

TYPES = frozenset({type(None), bool, int, float, str, bytes, Decimal, dt.date, dt.datetime})
"""Of values, exactly: what a subclass of them means to a driver is the driver's own affair."""

_TABLES: Mapping[Dialect, str] = {
    "sqlite": (
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE"
        " 'sqlite\\_%' ESCAPE '\\'"
    ),
    "postgresql": (
        "SELECT table_name FROM information_schema.tables WHERE table_schema = ANY"
        " (current_schemas(false))"
    ),
    "mysql": "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()",
}
_POINT = "seed_rows"
_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class SeedRow:
    """One row, and the place of the code that gave it."""

    table: str
    values: Mapping[str, Any]
    file: str
    line: int | None


def _rows_function(module: types.ModuleType, file: Path) -> Callable[[int, Random], Any]:
    """A seed.py's function ``rows``; WorldError where (universe, random) cannot call one."""
    found = getattr(module, "rows", None)
    if not inspect.isfunction(found):
        own = [name for name, value in vars(module).items() if inspect.isfunction(value)]
        near = nearest("rows", own)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise WorldError(f"it needs a function rows(universe, random){meant}", file)
    line = found.__code__.co_firstlineno
    if inspect.iscoroutinefunction(found) or inspect.isasyncgenfunction(found):
        raise WorldError(
            "rows is async; write a plain function that yields (table, row)", file, line
        )
    try:
        inspect.signature(found).bind(1, Random(0))
    except TypeError:
        raise WorldError("rows must take (universe, random)", file, line) from None
    return found


def universe_rows(module: types.ModuleType, universe: int, file: Path) -> Iterator[SeedRow]:
    """The rows of one universe by a seed.py's module. Raises WorldError without `rows`."""
    return _seed_rows(_rows_function(module, file), universe, file)


def _seed_rows(rows: Callable[[int, Random], Any], universe: int, file: Path) -> Iterator[SeedRow]:
    """The rows of one universe as seed.py gives them, each checked for its form.

    Raises WorldError with the line of what breaks, or of the ``yield`` of what is not a row.
    """
    inside = f"{file.parent}{os.sep}"
    code = cast("types.FunctionType", rows).__code__
    where = (code.co_filename, code.co_firstlineno)
    try:
        given: object = rows(universe, Random(universe))
        sort = type(given).__name__
        if not isinstance(given, Iterable) or isinstance(given, (str, bytes, Mapping)):
            raise WorldError(
                f"rows({universe}) gives {sort}; it must yield pairs (table, row)", *where
            )
        given = cast("Iterable[object]", given)
        empty = True
        for item in given:
            empty = False
            yield _row(item, *(_standing(given, inside) or where))
        if empty:
            raise WorldError(f"rows({universe}) yields no row", *where)
    except WorldError:
        raise
    except (Exception, SystemExit) as error:
        raise WorldError(
            f"rows({universe}) breaks: {type(error).__name__}: {error}",
            *(last_place(error, inside) or where),
        ) from error


def _row(item: object, file: str, line: int | None) -> SeedRow:
    pair = cast("Sequence[Any]", item) if isinstance(item, (tuple, list)) else ()
    if len(pair) != 2 or not isinstance(pair[0], str) or not isinstance(pair[1], Mapping):
        shown = _clip(repr(cast("object", item)))
        raise WorldError(
            f"rows must yield pairs (table, {{column: value}}), not {shown}", file, line
        )
    table, values = pair[0], dict(cast("Mapping[Any, Any]", pair[1]))
    if not values or not all(isinstance(name, str) for name in values):
        raise WorldError(
            f"a row of {table} must map names of columns to values, not {_clip(repr(values))}",
            file,
            line,
        )
    for name, value in values.items():
        if wrong := _fault(value):
            raise WorldError(
                f"{table}.{name} cannot hold {_clip(repr(value))}: {wrong}", file, line
            )
    return SeedRow(table, values, file, line)


def _fault(value: object) -> str:
    """Say why not every database would store the value alike; empty if all do."""
    if type(value) not in TYPES:
        known = ", ".join(sorted(kind.__name__ for kind in TYPES - {type(None)}))
        return f"it must be None, {known}, not {type(value).__name__}"
    if isinstance(value, float | Decimal) and not math.isfinite(value):
        return "a number must be finite"
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return "a whole number has at most 64 bits; a Decimal may have more"
    if isinstance(value, str) and _HALF.search(value):
        return "a text must not hold a lone surrogate"
    return ""


def insert_rows(connection: Any, rows: Iterable[SeedRow], dialect: Dialect) -> dict[str, int]:
    """Insert the rows through a driver's own connection or SQLAlchemy's; how many there were per
    table.

    On an autocommit connection this is one transaction of its own, otherwise it is part of the
    caller's. Triggers fire as they do for a seed.sql, foreign keys hold on every engine, and keys
    that PostgreSQL generates go on behind the greatest. Raises WorldError with the place of the
    row: a table or column that is not there, or what the database refused, in its own words.
    """
    file: str | None = None
    with engine_for(dialect, connection) as engine:
        if dialect == "sqlite" and not engine.owned():
            engine.rows("PRAGMA foreign_keys = ON")
        engine.transaction("begin", "BEGIN")
        loader = _Loader(engine, dialect)
        for group in _groups(rows):
            file = group[0].file
            loader.insert(group)
        loader.go_on()
        try:
            engine.transaction("commit", "COMMIT")
        except engine.errors as error:
            raise WorldError(
                f"the rows do not hold together: {engine.words(error)}", file
            ) from error
        return loader.counts


def _groups(rows: Iterable[SeedRow]) -> Iterator[list[SeedRow]]:
    """Neighbours of one table with the same columns, :data:`BATCH` at most: the author's order."""
    for _, same in itertools.groupby(rows, lambda row: (row.table, tuple(row.values))):
        while group := list(itertools.islice(same, BATCH)):
            yield group


class _Loader:
    def __init__(self, engine: ScriptEngine, dialect: Dialect) -> None:
        self.counts: dict[str, int] = {}
        self._engine = engine
        self._dialect: Dialect = dialect
        self._tables = [str(row[0]) for row in engine.rows(_TABLES[dialect])]
        self._columns: dict[str, list[str]] = {}

    def insert(self, group: Sequence[SeedRow]) -> None:
        first = group[0]
        table = _known(first.table, self._tables, "table", "there are", first)
        known = self._columns_of(table)
        names = [
            _known(name, known, f"column in {table}", "it has", first) for name in first.values
        ]
        mark = "?" if self._dialect == "sqlite" else "%s"
        columns = ", ".join(map(self._quoted, names))
        sql = (
            f"INSERT INTO {self._quoted(table)} ({columns}) VALUES"
            f" ({', '.join([mark] * len(names))})"
        )
        values = [tuple(map(self._bound, row.values.values())) for row in group]
        self._engine.rows(f"SAVEPOINT {_POINT}")
        with closing(self._engine.connection.cursor()) as cursor:
            try:
                cursor.executemany(sql, values)
            except self._engine.errors as error:
                raise self._refused(error, sql, group, values) from error
        self._engine.rows(f"RELEASE SAVEPOINT {_POINT}")
        self.counts[table] = self.counts.get(table, 0) + len(group)

    def _refused(
        self,
        error: Exception,
        sql: str,
        group: Sequence[SeedRow],
        values: Sequence[tuple[Any, ...]],
    ) -> WorldError:
        """The error of the first row of a refused batch that the database refuses alone."""
        culprit = group[0]
        try:
            self._engine.rows(f"ROLLBACK TO SAVEPOINT {_POINT}")
            for row, bound in zip(group, values, strict=True):
                culprit = row
                cursor = self._engine.connection.cursor()
                cursor.execute(sql, bound)
                cursor.close()
        except self._engine.errors as own:
            error = own
        message = (
            f"{self._engine.words(error)} (row of {culprit.table}:"
            f" {_clip(str(culprit.values), 300)})"
        )
        return WorldError(message, culprit.file, culprit.line)

    def _columns_of(self, table: str) -> list[str]:
        if table not in self._columns:
            with closing(self._engine.connection.cursor()) as cursor:
                cursor.execute(f"SELECT * FROM {self._quoted(table, plain=True)} WHERE 1 = 0")
                self._columns[table] = [str(item[0]) for item in cursor.description]
        return self._columns[table]

    def _quoted(self, name: str, *, plain: bool = False) -> str:
        """A name in quotes; unless ``plain`` (no parameters), percent signs are doubled."""
        text = quoted(name, "`" if self._dialect == "mysql" else '"')
        return text if plain or self._dialect == "sqlite" else text.replace("%", "%%")

    def _bound(self, value: Any) -> Any:
        """A value as the driver takes it: SQLite has dates and decimals as others show them."""
        if self._dialect != "sqlite":
            return value
        if isinstance(value, dt.date):
            return value.isoformat(" ") if isinstance(value, dt.datetime) else value.isoformat()
        return str(value) if isinstance(value, Decimal) else value

    def go_on(self) -> None:
        """Let PostgreSQL's sequences go on behind given keys; other engines do so themselves."""
        for table in self.counts if self._dialect == "postgresql" else ():
            word = self._quoted(table, plain=True)
            literal = "'" + word.replace("'", "''") + "'"
            for name in self._columns[table]:
                column = "'" + name.replace("'", "''") + "'"
                asked = f"SELECT pg_get_serial_sequence({literal}, {column})"
                if (owned := self._engine.rows(asked)[0][0]) is not None:
                    most = f"max({self._quoted(name, plain=True)})"
                    sequence = "'" + str(owned).replace("'", "''") + "'"
                    self._engine.rows(
                        f"SELECT setval({sequence}, {most}) FROM {word} HAVING {most} >= 1"
                    )


def _known(name: str, names: Sequence[str], what: str, there: str, row: SeedRow) -> str:
    """The name as the database spells it: the same, else the only one but for case."""
    if name in names:
        return name
    folded = [item for item in names if item.casefold() == name.casefold()]
    if len(folded) == 1:
        return folded[0]
    near = nearest(name, names)
    words = (
        f"did you mean {', '.join(near)}?" if near else f"{there} {', '.join(sorted(names)[:10])}"
    )
    raise WorldError(f"no {what} is called {name!r}; {words}", row.file, row.line)


def _standing(source: object, inside: str) -> tuple[str, int] | None:
    """File and line at which a generator is suspended: in the innermost of those that it delegates
    to whose code is in the world's own folder.
    """
    found: tuple[str, int] | None = None
    while inspect.isgenerator(source):
        if source.gi_frame is not None and source.gi_code.co_filename.startswith(inside):
            found = source.gi_code.co_filename, source.gi_frame.f_lineno
        source = source.gi_yieldfrom
    return found


def _clip(text: str, most: int = 120) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
