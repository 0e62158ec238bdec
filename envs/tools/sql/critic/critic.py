"""One statement in, findings out."""

from __future__ import annotations

import re
from collections.abc import Mapping

import sqlglot
from sqlalchemy import Connection
from sqlglot import exp
from sqlglot.errors import SqlglotError

from envs.tools.sql.catalog import Catalog
from envs.tools.sql.critic.frame import Relation, folded, is_always_true
from envs.tools.sql.critic.names import Names
from envs.tools.sql.findings import Finding
from envs.types import ErrorCategory

MAX_SQL = 20_000
"""Characters of a statement that are worth reading: sqlglot reads some 400 a millisecond."""

MAX_FINDINGS = 5

DIALECTS = {"postgresql": "postgres", "mariadb": "mysql", "hive": "spark", "mssql": "tsql"}
_BLANK = re.compile(r"(?:\s|--[^\n]*|/\*.*?\*/|\()*", re.DOTALL)
_READS = frozenset({"SELECT", "WITH", "VALUES", "TABLE"})
_WRITES = frozenset({"INSERT", "REPLACE", "UPDATE", "DELETE", "MERGE"})
_REFUSED = frozenset({"CREATE", "ALTER", "DROP", "TRUNCATE"})


def criticise(
    sql: str, relations: Mapping[str, Relation], dialect: str, *, reading: bool
) -> list[Finding]:
    """Find likely mistakes, at most five; none in a statement that cannot be parsed.

    ``dialect`` is SQLAlchemy's name of it; ``reading`` says that the tool only reads.
    """
    start = _BLANK.match(sql)
    begin = start.end() if start else 0
    first = re.match(r"[A-Za-z]*", sql[begin:])
    word = first.group().upper() if first else ""
    findings: list[Finding] = []
    if reading and word in _WRITES | _REFUSED:
        findings.append(_only_reads(word))
    if len(sql) > MAX_SQL or word not in _READS | _WRITES:
        return findings
    # sqlglot does not know REPLACE; but for its effect on conflicts it is an INSERT.
    if word == "REPLACE":
        sql = f"{sql[:begin]}INSERT{sql[begin + len(word) :]}"
    statement = parse(sql, DIALECTS.get(dialect, dialect))
    if statement is None:
        return findings
    if (
        reading
        and not findings
        and (change := statement.find(exp.Insert, exp.Update, exp.Delete, exp.Merge))
    ):
        findings.append(_only_reads(change.key.upper()))
    # sqlglot reads a comma as CROSS JOIN and JOIN without ON as ON TRUE; only who wrote so meant
    # it.
    crossed = re.search(r"\bcross\b|\bon\s*\(?\s*true\b", sql, re.IGNORECASE) is not None
    names = Names(folded(relations), loose_groups=dialect == "sqlite", crossed=crossed)
    try:
        names.statement(statement)
    except (RecursionError, SqlglotError):  # as for an alias that names two tables
        return findings
    return [*findings, *_whole_table(statement), *names.findings][:MAX_FINDINGS]


def criticise_on(sql: str, db: Connection, reading: bool) -> list[Finding]:
    """Findings about a statement, with the names that the connection's database has.

    ``reading`` says that the tool only reads.
    """
    catalog = Catalog(db)
    relations = {
        name: Relation(name, tuple(column.name for column in table.columns), table.primary_key)
        for name, table in catalog.tables.items()
    }
    for name in catalog.views:
        named = name.lower() in sql.lower()
        relations[name] = Relation(name, catalog.columns(name) if named else None)
    return criticise(sql, relations, db.dialect.name, reading=reading)


def parse(sql: str, dialect: str) -> exp.Expr | None:
    """The statement, or None where sqlglot cannot read it or there is not exactly one."""
    try:
        found = [item for item in sqlglot.parse(sql, dialect=dialect) if item is not None]
    except Exception:  # any text may come, and a reader that stumbles over it has no advice to give
        return None
    return found[0] if len(found) == 1 else None


def _only_reads(word: str) -> Finding:
    reason = f"this tool only reads, and {word} writes; use a tool that writes"
    if word in _REFUSED:
        reason = f"{word} changes the schema, which no tool may do"
    return Finding("write_in_reader", reason, ErrorCategory.PERMISSION_DENIED)


def _whole_table(statement: exp.Expr) -> list[Finding]:
    """UPDATE, DELETE without WHERE, or an always true one, unless a join or LIMIT bounds them."""
    if not isinstance(statement, exp.Update | exp.Delete):
        return []
    where = statement.args.get("where")
    if where is not None and not is_always_true(where.this):
        return []
    target = statement.this
    bounded = any(statement.args.get(key) for key in ("from_", "using", "limit", "joins"))
    if bounded or not isinstance(target, exp.Table) or target.args.get("joins"):
        return []
    does = "changes" if isinstance(statement, exp.Update) else "deletes"
    how = "without WHERE" if where is None else "with a WHERE that is always true"
    reason = (
        f"{statement.key.upper()} {how} {does} every row of `{target.name}`; add WHERE for the rows"
        " meant"
    )
    return [Finding("whole_table", reason, ErrorCategory.PERMISSION_DENIED)]
