"""An author's queries, asked of a sandbox: read-only, with slots bound, a refusal shown at its
place.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, ResourceClosedError, SQLAlchemyError
from sqlalchemy.types import NullType

from envs.plugins import resolve
from envs.sandboxes.base import Sandbox, Template
from envs.sandboxes.contained import fetched
from envs.types import ErrorCategory, Limits, Pins, Table, ToolResult
from synth.core.tasks.grounding import by_text
from synth.core.tasks.yaml.scope import nearest
from synth.core.tasks.yaml.template import BINDS
from synth.errors import TaskError

if TYPE_CHECKING:
    from envs.world.query import QueryResult

T = TypeVar("T")

_COMPARED = re.compile(r"[=<>]\s*\Z")
"""The end of the text before a value that is compared."""

READING = Limits(read_only=True, statement_timeout_ms=60_000, max_rows=None, max_result_bytes=None)


@lru_cache(maxsize=1024)
def binds_of(sql: str) -> Sequence[str]:
    """The names that a query binds as ``:name``, in order, without duplicates."""
    return tuple(dict.fromkeys(found.group(1) for found in BINDS.finditer(sql) if found.group(1)))


def bound(sql: str, values: Mapping[str, object]) -> sqlalchemy.TextClause:
    """The query with ``:name`` bound, never pasted; colons inside literals and comments stay what
    they are. A value that is only compared takes the type of the other side, such as an enum.

    Raises KeyError with a name that has no value.
    """
    used: dict[str, object] = {}
    alone = set[str]()

    def replace(found: re.Match[str]) -> str:
        name = found.group(1)
        if name is None:
            return found.group(0).replace(":", r"\:")
        used[name] = values[name]
        if not _COMPARED.search(sql, 0, found.start()):
            alone.add(name)
        return found.group(0)

    clause = text(BINDS.sub(replace, sql))
    return clause.bindparams(
        *(
            sqlalchemy.bindparam(name, value, type_=None if name in alone else NullType)
            for name, value in used.items()
        )
    )


def select(
    connection: sqlalchemy.Connection, sql: str, values: Mapping[str, object] | None = None
) -> list[dict[str, object]]:
    """The rows of a query as dicts of JSON values, in the database's order.

    Raises ValueError for two columns of one name, of which a dict could hold one only, and for
    bytes; KeyError with a name that has no value.
    """
    values = values or {}
    if missing := [name for name in binds_of(sql) if name not in values]:
        raise KeyError(missing[0])
    quick = fetched(connection, sql, values)
    if quick is None:
        result = connection.execute(bound(sql, values))
        quick = list(result.keys()), result.fetchall()
    names, rows = quick
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two columns are named {twice[0]!r}; give one another name with AS")
    return [
        dict(
            zip(names, row if _PLAIN.issuperset(map(type, row)) else map(_plain, row), strict=True)
        )
        for row in rows
    ]


_PLAIN = frozenset({str, int, type(None)})
"""The classes of most values; a bool is not among them."""


def _plain(value: Any) -> object:
    return value if type(value) in _PLAIN else json_value(_alike(value))


def _alike(value: Any) -> Any:
    """A value as any engine would give it: SQLite has no truth values, and a sum is an integer
    here, a decimal there.
    """
    if isinstance(value, bool) or (
        isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    ):
        return int(value)
    return value


def json_value(value: Any) -> object:
    """A database's value as JSON: days and moments as ISO text, decimals as numbers. ValueError for
    bytes.
    """
    if isinstance(value, (str, int, float)) or value is None:
        return value
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value.is_finite() and value == int(value) else float(value)
    if isinstance(value, bytes):
        raise ValueError("bytes are not a JSON value; select a number or a text")  # noqa: TRY004
    return value


def run_query(
    sandbox: Sandbox, sql: str, values: Mapping[str, object], template: Template, where: TaskError
) -> list[dict[str, object]]:
    """Rows of an author's query on a sandbox; a refusal is a :class:`TaskError` at the place of
    ``where``.
    """
    own = _in_quotes_of(template, sql)
    return _asked(
        sandbox, template, where, values, lambda connection: select(connection, own, values)
    )


def _in_quotes_of(template: Template, sql: str) -> str:
    """The query as its engine quotes names: on MariaDB ``"order"`` is a text, unless it is the name
    of a table or column.
    """
    if template.dialect != "mysql" or '"' not in sql:
        return sql
    names = {table.name for table in template.tables.values()}
    names |= {column.name for table in template.tables.values() for column in table.columns}

    def own(found: re.Match[str]) -> str:
        word = found.group(0)
        return f"`{word[1:-1]}`" if word[0] == '"' and word[1:-1] in names else word

    return BINDS.sub(own, sql)


class Queries:
    """The queries of a tasks file, asked of its universe's template while the file is read."""

    def __init__(self, sandbox: Sandbox, template: Template) -> None:
        self._sandbox, self._template = sandbox, template
        self._distinct: dict[str, Mapping[str, Mapping[str, object]]] = {}

    @property
    def tables(self) -> Mapping[str, Table]:
        return self._template.tables

    @property
    def dialect(self) -> str:
        """The SQL of the database, by SQLAlchemy's name."""
        return self._template.dialect

    @property
    def unread(self) -> Mapping[str, str]:
        """The tables of an attached database that cannot be read, with the reason."""
        return self._template.unread

    def view_text(self, name: str) -> str | None:
        """What defines a view of an attached database; None for a table."""
        return self._template.view_text(name)

    @property
    def attached(self) -> bool:
        """True for a database that exists, which has not what each family asks for."""
        return self._template.fingerprint is not None

    def rows(
        self, sql: str, where: TaskError, values: Mapping[str, object] | None = None
    ) -> list[dict[str, object]]:
        return run_query(self._sandbox, sql, values or {}, self._template, where)

    def distinct(self, sql: str, where: TaskError) -> Mapping[str, Mapping[str, object]]:
        """The grounding rows of a query by their text, in the order of a plan. A query is executed
        once.
        """
        if sql not in self._distinct:
            self._distinct[sql] = by_text(self.rows(sql, where))
        return self._distinct[sql]

    def during(self, ask: Callable[[sqlalchemy.Connection], T]) -> T:
        """The result of a function that reads the template, in one read-only transaction.

        Its errors come through.
        """
        with self._sandbox.transaction(READING) as transaction:
            return ask(transaction.connection)

    def answer(
        self, sql: str, limits: Limits, pins: Pins, *, unordered: bool = False
    ) -> QueryResult | ToolResult:
        """The whole answer of a query as an agent's would be executed; a failed result where it has
        none. ``unordered``: rows without an order come in another one, on engines that can.
        """
        with closing(self._template.open(pins, unordered=unordered)) as sandbox:
            ask = resolve("envs.world.query:ask")
            return ask(sandbox, self._template.tables, sql, limits)

    def columns(self, sql: str, names: Collection[str], where: TaskError) -> Sequence[str]:
        """The columns of a query that binds ``names``: it is prepared, and gives no row."""
        return self._prepared(
            lambda _: f"SELECT * FROM (\n{sql}\n) AS prepared LIMIT 0", names, where
        )

    def check_condition(
        self, table: str, condition: str, names: Collection[str], where: TaskError
    ) -> None:
        """Refuse what is not a condition over the columns of a table."""

        def sql(connection: sqlalchemy.Connection) -> str:
            quoted = connection.dialect.identifier_preparer.quote(table)
            return f"SELECT 1 FROM {quoted} WHERE (\n{condition}\n) LIMIT 0"

        self._prepared(sql, names, where)

    def _prepared(
        self, sql: Callable[[sqlalchemy.Connection], str], names: Collection[str], where: TaskError
    ) -> Sequence[str]:
        nulls = dict.fromkeys(names)

        def ask(connection: sqlalchemy.Connection) -> Sequence[str]:
            own = _in_quotes_of(self._template, sql(connection))
            return list(connection.execute(bound(own, nulls)).keys())

        return _asked(self._sandbox, self._template, where, nulls, ask)


def _asked(
    sandbox: Sandbox,
    template: Template,
    where: TaskError,
    values: Mapping[str, object],
    ask: Callable[[sqlalchemy.Connection], T],
) -> T:
    place = (where.file, where.line, where.family)
    query = f"{where.message}: the query" if where.message else "the query"
    try:
        with sandbox.transaction(READING) as transaction:
            return ask(transaction.connection)
    except KeyError as error:
        name = error.args[0]
        raise TaskError(
            f"{query} binds the unknown slot :{name}; {nearest(name, set(values))}", *place
        ) from None
    except DBAPIError as error:
        to_result = resolve("envs.sql_errors.classify:to_result")
        result = to_result(error, template.dialect, template.tables)
        # Told to a model in words about its tool.
        denied = result.category == ErrorCategory.PERMISSION_DENIED
        reasons = (
            (result.message or "").replace("this tool", "a query"),
            "" if denied else result.advice,
        )
        raise TaskError(f"{query} fails: {'; '.join(filter(None, reasons))}", *place) from None
    except ResourceClosedError:
        raise TaskError(f"{query} gives no rows: write a SELECT", *place) from None
    except (SQLAlchemyError, ValueError) as error:
        raise TaskError(f"{query} fails: {error}", *place) from None
