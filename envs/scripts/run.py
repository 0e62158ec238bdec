"""Load a script through a raw driver connection.

Statements go to the cursor without parameters: drivers and SQLAlchemy rewrite ``%`` and ``:name``
when they look for placeholders, and would change the data silently.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import sqlalchemy

from envs.errors import ScriptError
from envs.scripts.engines import ScriptEngine, engine_for
from envs.scripts.lexis import Dialect, Statement
from envs.scripts.policy import Policy, StatementAction
from envs.scripts.read import beside, read_script
from envs.scripts.split import split

_CLIENT_COPY = re.compile(
    r"\\copy\s+(?P<table>.+?)\s+from\s+(?:p?stdin\b|'(?P<file>[^']+)'"
    r"|(?P<bare>\S+))(?P<options>.*)",
    re.IGNORECASE,
)


Watch = Callable[[Path, int], None]
"""Called after each statement with its file and line."""


def run_script(path: Path, connection: Any, dialect: Dialect, watch: Watch | None = None) -> int:
    r"""Run every statement of ``path`` and return how many ran.

    ``connection`` is a driver's own (sqlite3, apsw, psycopg, PyMySQL) or SQLAlchemy's. On an
    autocommit connection the script's BEGIN and COMMIT run as written; otherwise the transaction is
    the caller's, who commits: theirs are left out (a COMMIT still checks deferred constraints on
    PostgreSQL), and a ROLLBACK is refused. MariaDB commits with every DDL statement whatever the
    caller wants. Session settings that the script makes end with it. Files that it includes
    (``source``, ``\\i``, ``.read``) are looked for in the script's own folder.

    ``watch`` is called after each statement.

    WorldError where the file cannot be read; ScriptError with file, line and the database's words
    where a statement fails or demands what a script may not do.
    """
    raw: Any = connection
    if isinstance(connection, sqlalchemy.Connection):
        raw = connection.connection.dbapi_connection
    path = Path(path)
    with engine_for(dialect, raw) as engine:
        count = 0
        for file, statement, verdict in walk(path, Policy(dialect, engine.database())):
            try:
                count += _execute(engine, path, statement, verdict)
            except ScriptError as error:
                if error.file is not None:
                    raise
                raise ScriptError(error.message, file, error.line or statement.line) from error
            except engine.errors as error:
                raise ScriptError(engine.words(error), file, statement.line) from error
            if watch is not None:
                watch(file, statement.line)
        engine.finish(path)
        return count


def walk(
    script: Path, policy: Policy, included: Path | None = None, depth: int = 0
) -> Iterator[tuple[Path, Statement, StatementAction]]:
    """The statements of a script and of the files that it includes, with their file and what the
    policy makes of them. Raises WorldError and ScriptError.
    """
    path = included or script
    for statement in _statements(path, policy.dialect):
        try:
            verdict = policy.judge(statement)
            if verdict.action == "include":
                base = path if verdict.relative else None
                further = beside(script, verdict.text, depth, base)
                yield from walk(script, policy, further, depth + 1)
        except ScriptError as error:
            line = error.line or statement.line
            raise ScriptError(error.message, error.file or path, line) from error
        if verdict.action == "quit":
            return
        if verdict.action != "include":
            yield path, statement, verdict


def _statements(path: Path, dialect: Dialect) -> Iterator[Statement]:
    try:
        yield from split(read_script(path), dialect)
    except ScriptError as error:
        raise ScriptError(error.message, error.file or path, error.line) from error


def _execute(
    engine: ScriptEngine, script: Path, statement: Statement, verdict: StatementAction
) -> bool:
    """Do what the verdict says; False where there was nothing to do."""
    match verdict.action:
        case "skip":
            return False
        case "begin" | "commit" | "rollback":
            engine.transaction(verdict.action, verdict.text)
        case _ if verdict.action == "copy" or statement.kind == "copy":
            _copy(engine, script, verdict.text, statement.data)
        case _:
            engine.execute(verdict.text)
    return True


def _copy(engine: ScriptEngine, script: Path, words: str, data: str | None) -> None:
    r"""COPY with its rows, or psql's ``\copy`` with rows in the script or a file beside it."""
    if words.startswith("\\"):
        found = _CLIENT_COPY.match(words)
        if found is None:
            raise ScriptError("only \\copy TABLE FROM a file or stdin can be carried out here")
        if data is None:
            data = read_script(beside(script, found["file"] or found["bare"]))
        words = f"COPY {found['table']} FROM STDIN {found['options'].rstrip(' ;')}"
    engine.copy(words, data or "")
