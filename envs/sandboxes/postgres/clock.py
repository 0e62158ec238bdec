"""The pinned time and the pinned UUIDs of PostgreSQL sandboxes.

``now()``, ``age(...)`` from today and their like have another name in a sandbox's database, and
functions of ours have theirs.
``CURRENT_TIMESTAMP`` is part of the grammar: in statements and in the defaults of columns it is
replaced by a call. The scripts of a template are loaded at the default :class:`~envs.types.Pins`
(:class:`LoadingCursor`). What stays at the server's time: texts such as ``'now'::timestamptz``, and
``CURRENT_TIMESTAMP`` in the bodies of a world's functions, views and triggers.
"""

from __future__ import annotations

import re
from typing import Any

import psycopg

from envs.quoting import quoted
from envs.sandboxes.postgres.schema import WORLD, ask
from envs.types import Pins

_TYPES = {
    "CURRENT_TIMESTAMP": "timestamptz",
    "LOCALTIMESTAMP": "timestamp",
    "CURRENT_DATE": "date",
    "CURRENT_TIME": "timetz",
    "LOCALTIME": "time",
}

MOMENT = """
CREATE FUNCTION envs_guard.moment() RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT coalesce(
    nullif(pg_catalog.current_setting('envs.now', true), '')::timestamptz, pg_catalog.now())
$$;
""" + "".join(
    f"""
CREATE FUNCTION envs_guard.{word.lower()}_() RETURNS {kind} LANGUAGE sql STABLE AS $$
  SELECT envs_guard.moment()::{kind}
$$;
ALTER FUNCTION envs_guard.{word.lower()}_() RENAME TO "{word.lower()}";
"""
    for word, kind in _TYPES.items()
)
"""The functions that defaults and statements call: each is called like the word that it stands for,
and so is its column. A session without a pinned time has the server's.
"""

CLOCKS = ("now", "transaction_timestamp", "statement_timestamp", "clock_timestamp")
"""Functions that tell the time."""

HIDDEN = "envs_unpinned_"

_UUID = """
CREATE FUNCTION pg_catalog.gen_random_uuid() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT overlay(overlay(md5(random()::text || random()::text) PLACING '4' FROM 13)
    PLACING substr('89ab', 1 + floor(random() * 4)::int, 1) FROM 17)::uuid
$$;
"""


def pin_functions(db: psycopg.Connection[Any]) -> None:
    """Give the functions that tell the time, and ``gen_random_uuid()``, ours of their names; before
    the world's scripts come, so that they call these.
    """
    for name in CLOCKS:
        ask(db, f"ALTER FUNCTION pg_catalog.{name}() RENAME TO {HIDDEN}{name}")
        ask(
            db,
            f"CREATE FUNCTION pg_catalog.{name}() RETURNS timestamptz LANGUAGE sql"
            f" {'VOLATILE' if name == 'clock_timestamp' else 'STABLE'} AS $$ SELECT coalesce("
            "nullif(pg_catalog.current_setting('envs.now', true), '')::timestamptz,"
            f" pg_catalog.{HIDDEN}{name}()) $$",
        )
    for kind in ("timestamp", "timestamptz"):
        ask(db, f"ALTER FUNCTION pg_catalog.age({kind}) RENAME TO {HIDDEN}age")
        ask(
            db,
            f"CREATE FUNCTION pg_catalog.age({kind}) RETURNS interval LANGUAGE sql STABLE STRICT"
            " AS $$ SELECT pg_catalog.age(coalesce(nullif(pg_catalog.current_setting('envs.now',"
            f" true), '')::timestamptz, pg_catalog.now())::date::{kind}, $1) $$",
        )
    ask(db, f"ALTER FUNCTION pg_catalog.gen_random_uuid() RENAME TO {HIDDEN}gen_random_uuid")
    ask(db, _UUID)


_CLOCK = re.compile(
    r"""(?P<quoted>\b[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n\r]*"""
    r"""|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)"""
    rf"|\b(?P<word>{'|'.join(sorted(_TYPES, reverse=True))})\b(?:\((?P<digits>\d)\))?",
    re.DOTALL | re.IGNORECASE,
)
"""The words that tell the time, and what they do not count in. The functions have their pins."""


_MAY_TELL = re.compile("current_|local", re.IGNORECASE)


def pin(pins: Pins) -> str:
    """The statement that pins the time until the transaction ends."""
    return f"SET LOCAL envs.now = '{pins.moment.isoformat(sep=' ')}+00'"


def pinned(sql: str) -> str:
    """A statement or expression with our functions in the place of words that tell the time."""
    return _CLOCK.sub(_by_name, sql) if _MAY_TELL.search(sql) is not None else sql


def _by_name(found: re.Match[str]) -> str:
    word = found["word"]
    if word is None:
        return found[0]
    call = f'envs_guard."{word.lower()}"()'
    return f"{call}::{_TYPES[word.upper()]}({found['digits']})" if found["digits"] else call


_ROWS = re.compile(r"\s*(?:INSERT|UPDATE|WITH|(?:CREATE|ALTER)\b[^(]*?\bTABLE)\b", re.IGNORECASE)
"""Statements that write rows or declare the defaults of columns."""

_COPIES_ROWS = re.compile(r"\bAS\b[\s(]*(?:SELECT|WITH|VALUES|TABLE)\b", re.IGNORECASE)
"""The end of a CREATE TABLE that names its columns after words of a query."""


class LoadingCursor(psycopg.Cursor[Any]):
    """Executes the statements of a template's scripts. The words that tell the time call our
    functions: the rows that a script leaves to the clock are the same in each template.
    """

    def execute(self, query: Any, *args: Any, **options: Any) -> LoadingCursor:
        return super().execute(_loading(query), *args, **options)


def _loading(query: Any) -> Any:
    if not isinstance(query, str) or not _ROWS.match(query) or _COPIES_ROWS.search(query):
        return query
    return _CLOCK.sub(_by_call, query)


def _by_call(found: re.Match[str]) -> str:
    if found["word"] is None:
        return found[0]
    digits = f"({found['digits']})" if found["digits"] else ""
    return f"(pg_catalog.now())::{_TYPES[found['word'].upper()]}{digits}"


def loading_options() -> str:
    """The options of a session that loads a template, which pin its time whatever it resets."""
    return f"-c envs.now={Pins().moment.isoformat()}+00"


def read_expressions(db: psycopg.Connection[Any]) -> list[str]:
    """The columns' defaults, and bodies of triggers that may tell the time or draw by chance."""
    found = ask(
        db,
        "SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d JOIN pg_class c ON c.oid ="
        f" d.adrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE {WORLD} UNION ALL"
        " SELECT p.prosrc || ' body()' FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace"
        f" WHERE {WORLD} AND p.prorettype = 'trigger'::regtype"
        " AND p.prosrc ~* 'current_|localtime|uuid|random|timeofday'",
    )
    return [str(row[0]) for row in found]


def read_column_sums(db: psycopg.Connection[Any]) -> dict[str, object]:
    """By ``table.column``, the sum of the hashes of the column's values."""
    columns = ask(
        db,
        "SELECT n.nspname, c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid ="
        " a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r'"
        f" AND a.attnum > 0 AND NOT a.attisdropped AND {WORLD}",
    ).fetchall()
    sums: dict[str, object] = {}
    for schema, table, column in columns:
        name = f"{table}.{column}" if schema == "public" else f"{schema}.{table}.{column}"
        sums[name] = ask(
            db,
            f"SELECT count(*), sum(hashtext({quoted(column)}::text)::bigint) FROM"
            f" {quoted(schema)}.{quoted(table)}",
        ).fetchone()
    return sums


def pin_defaults(db: psycopg.Connection[Any]) -> None:
    """Make the defaults of the world's columns ask for the pinned time."""
    found = ask(
        db,
        "SELECT n.nspname, c.relname, a.attname, pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d"
        " JOIN pg_class c ON c.oid = d.adrelid JOIN pg_namespace n ON n.oid = c.relnamespace"
        " JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum"
        f" WHERE a.attgenerated = '' AND c.relkind IN ('r', 'p') AND {WORLD}",
    ).fetchall()
    for schema, table, column, expression in found:
        if (better := pinned(expression)) != expression:
            where = f"{quoted(schema)}.{quoted(table)}"
            ask(db, f"ALTER TABLE ONLY {where} ALTER COLUMN {quoted(column)} SET DEFAULT {better}")
