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
        run = _Run(path, engine, Policy(dialect, engine.database()), watch)
        count = run.file(path, 0)
        engine.finish(path)
        return count


class _Run:
    def __init__(
        self, script: Path, engine: ScriptEngine, policy: Policy, watch: Watch | None
    ) -> None:
        self._script = script
        self._watch = watch
        self._engine = engine
        self._policy = policy

    def file(self, path: Path, depth: int) -> int:
        count = 0
        for statement in self._statements(path):
            try:
                verdict = self._policy.judge(statement)
                if verdict.action == "quit":
                    return count
                count += self._one(statement, verdict, path, depth)
                if self._watch is not None and verdict.action != "include":
                    self._watch(path, statement.line)
            except ScriptError as error:
                if error.file is not None:
                    raise
                raise ScriptError(error.message, path, error.line or statement.line) from error
            except self._engine.errors as error:
                raise ScriptError(self._engine.words(error), path, statement.line) from error
        return count

    def _statements(self, path: Path) -> Iterator[Statement]:
        try:
            yield from split(read_script(path), self._policy.dialect)
        except ScriptError as error:
            raise ScriptError(error.message, error.file or path, error.line) from error

    def _one(self, statement: Statement, verdict: StatementAction, path: Path, depth: int) -> int:
        if statement.kind == "copy" and verdict.action != "skip":
            self._copy(verdict.text, statement.data)
            return 1
        match verdict.action:
            case "skip" | "quit":
                return 0
            case "include":
                base = path if verdict.relative else None
                return self.file(beside(self._script, verdict.text, depth, base), depth + 1)
            case "copy":
                self._copy(verdict.text)
            case "run":
                self._engine.execute(verdict.text)
            case "begin" | "commit" | "rollback":
                self._engine.transaction(verdict.action, verdict.text)
        return 1

    def _copy(self, words: str, data: str | None = None) -> None:
        r"""COPY with its rows, or psql's ``\\copy`` with its rows in the script or in a file beside
        it.
        """
        if words.startswith("\\"):
            found = _CLIENT_COPY.match(words)
            if found is None:
                raise ScriptError("only \\copy TABLE FROM a file or stdin can be carried out here")
            if data is None:
                data = read_script(beside(self._script, found["file"] or found["bare"]))
            words = f"COPY {found['table']} FROM STDIN {found['options'].rstrip(' ;')}"
        self._engine.copy(words, data or "")
