"""The pinned time on PostgreSQL: columns that a statement leaves out take it from the sandbox, not from the server.

``CURRENT_TIMESTAMP`` is part of PostgreSQL's grammar and ``now()`` is resolved before any function of ours, so in SQL they
cannot be replaced. The default of a column can: it is an expression that stands in the catalog.
"""

from __future__ import annotations

import re
from typing import Any

import psycopg

from envs.sandboxes.postgres_schema import WORLD, ask, quoted
from envs.types import Pins

MOMENT = """
CREATE FUNCTION envs_guard.moment() RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT coalesce(nullif(pg_catalog.current_setting('envs.now', true), '')::timestamptz, pg_catalog.now())
$$;
"""
"""What the defaults call; a session for which nothing is pinned has the server's time."""

_TYPES = {
    "CURRENT_TIMESTAMP": "timestamptz",
    "LOCALTIMESTAMP": "timestamp",
    "CURRENT_DATE": "date",
    "CURRENT_TIME": "timetz",
    "LOCALTIME": "time",
}

_CLOCK = re.compile(
    r"""(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*")"""
    rf"|\b(?P<word>{'|'.join(sorted(_TYPES, reverse=True))})\b(?:\((?P<digits>\d)\))?"
    r"|(?<![\w.])(?P<call>(?:pg_catalog\.)?(?:now|transaction_timestamp|statement_timestamp|clock_timestamp)\(\))"
)
"""What tells the time in an expression as PostgreSQL writes it out."""


def pin(pins: Pins) -> str:
    """The statement that pins the time until the transaction ends."""
    return f"SET LOCAL envs.now = '{pins.moment.isoformat(sep=' ')}+00'"


def pinned(expression: str) -> str:
    """The expression with the pinned time in the place of the server's; the same where it does not tell the time."""

    def replace(found: re.Match[str]) -> str:
        if found["quoted"] is not None:
            return found[0]
        kind = _TYPES[found["word"]] if found["word"] else "timestamptz"
        digits = f"({found['digits']})" if found["digits"] else ""
        return f"(envs_guard.moment())::{kind}{digits}"

    return _CLOCK.sub(replace, expression)


def pin_defaults(db: psycopg.Connection[Any]) -> None:
    """Have the defaults of the world's columns ask for the pinned time."""
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
