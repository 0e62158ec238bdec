"""The check of a statement by its text, where the driver has no switch for reading only.

sqlglot reads the statement: it must be one query, and no part of it may write.
"""

from __future__ import annotations

import re

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.expressions.dml import DML

from envs.sandboxes.attached.access import ONLY_READS, QUERIES, first_word

_READERS = {"hive": "spark", "mssql": "tsql", "awsathena": "athena"}
"""sqlglot's name of a dialect, by SQLAlchemy's, where the two differ."""

_WRITES = (DML, exp.DDL, exp.Into, exp.Command, exp.Lock, exp.QueryTransform)

_CODE = frozenset({"reflect", "java_method", "try_reflect"})
"""Functions that run code of the server's, whatever it does."""


def refusal(sql: str, dialect: str) -> str | None:
    """The reason for which a statement is not one query; None if it is one."""
    if first_word(sql) not in QUERIES:
        return ONLY_READS
    name = _READERS.get(dialect, dialect)
    try:
        read = sqlglot.parse(sql, read=name if Dialect.get(name) is not None else "")
    except (SqlglotError, RecursionError):
        return "the statement was not executed: it cannot be read as one query"
    found = [item for item in read if item is not None]
    if len(found) != 1:
        return f"{ONLY_READS}; these are {len(found)} statements"
    if not isinstance(found[0], exp.Query | exp.Values) or found[0].find(*_WRITES):
        return ONLY_READS
    for call in found[0].find_all(exp.Func):
        name = call.name if isinstance(call, exp.Anonymous) else call.sql_name()
        if name.lower() in _CODE:
            return f"permission denied for function {name}: it runs code on the server"
    return None


def targets(sql: str, word: str) -> set[tuple[str, str]] | str:
    """Schema and name of the tables that a statement of MySQL may change, by its text: all of an
    UPDATE or DELETE but what its inner queries read, and those whose rows it locks. Otherwise the
    reason for which its text does not tell.

    ``word`` is its first one. A name without a schema has an empty one.
    """
    text = (
        sql
        if word != "REPLACE"
        else re.sub(r"\bREPLACE\b", "INSERT", sql, count=1, flags=re.IGNORECASE)
    )
    try:
        read = [item for item in sqlglot.parse(text, read="mysql") if item is not None]
    except (SqlglotError, RecursionError):
        return "the statement was not executed: it cannot be read as one statement"
    if len(read) != 1:
        return f"the statement was not executed: these are {len(read)} statements"
    found = read[0]
    if isinstance(found, exp.Query | exp.Values):
        return "a query does not write" if found.find(DML, exp.DDL, exp.Command) else _locked(found)
    if not isinstance(found, exp.Insert | exp.Update | exp.Delete):
        return "the statement was not executed: it is of another kind"
    return _changed(found) | _locked(found)


def _locked(found: exp.Expr) -> set[tuple[str, str]]:
    queries = [lock.parent for lock in found.find_all(exp.Lock) if lock.parent is not None]
    tables = [table for query in queries for table in query.find_all(exp.Table)]
    return {(table.db, table.name) for table in tables}


def _changed(found: exp.Expr) -> set[tuple[str, str]]:
    if isinstance(found, exp.Insert):
        tables = list(found.this.find_all(exp.Table))
    else:
        tables = [
            table
            for table in found.find_all(exp.Table)
            if table.find_ancestor(exp.Select, exp.SetOperation) is None
        ]
    aliases = {("", table.alias) for table in tables if table.alias}
    return {(table.db, table.name) for table in tables if table.name} - aliases
