"""Every engine's sandboxes sit the exam of envs.testing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from envs.folder import APART, World, load_world
from envs.processes import close_pools, pool_of
from envs.sandboxes.base import Sandbox, Template
from envs.sandboxes.mysql import MysqlTemplate
from envs.sandboxes.postgres import Kind, PostgresTemplate
from envs.sandboxes.sqlite import SqliteTemplate
from envs.testing import STATEMENTS, SandboxExam
from envs.types import ErrorCategory, Limits, RowChange, ToolCall, ToolOutcome
from tests.servers import server


class TestSqlite(SandboxExam):
    def template(self) -> SqliteTemplate:
        return SqliteTemplate.build(lambda connection: [connection.execute(each) for each in STATEMENTS])


ACT = """
from sqlalchemy import Connection, text
from envs import tool

@tool(free_sql=True)
def act(db: Connection, statements: list[str]) -> dict:
    \"\"\"Execute statements.

    Args:
        statements: One after the other; the rows of the last are the result.
    \"\"\"
    done = [db.execute(text(each)) for each in statements][-1]
    return {"rows": [list(row) for row in done] if done.returns_rows else []}
"""


class _RefusedError(Exception):
    """What a call ended with."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("apart") / "library"
    folder.mkdir()
    (folder / "schema.sql").write_text(";\n".join(STATEMENTS) + ";")
    (folder / "seed.sql").write_text("")
    (folder / "executors.py").write_text(ACT)
    yield load_world(folder)
    close_pools()


class TestSqliteApart(SandboxExam):
    """Calls of text go to processes that may be killed; what an executor does with its connection stays here."""

    @pytest.fixture(autouse=True)
    def _library(self, library: World):
        self.world = library
        self.pool = pool_of(APART, (str(library.path), library.digest))

    def template(self) -> Template:
        return self.world.template()

    def _apart(self, sandbox: Sandbox, statements: tuple[str, ...], limits: Limits | None) -> ToolOutcome:
        outcome = sandbox.call_apart(self.pool, ToolCall.of("act", {"statements": statements}), limits or Limits())
        if not outcome.result.ok:
            raise _RefusedError(outcome.result.category)
        return outcome

    def call(self, sandbox: Sandbox, *statements: str, limits: Limits | None = None) -> tuple[RowChange, ...]:
        return self._apart(sandbox, statements, limits).changes

    def refused(self, sandbox: Sandbox, *statements: str, limits: Limits | None = None) -> ErrorCategory:
        with pytest.raises(_RefusedError) as caught:
            self.call(sandbox, *statements, limits=limits)
        return ErrorCategory(caught.value.args[0])

    def ask(self, sandbox: Sandbox, sql: str) -> list[tuple[object, ...]]:
        rows = self._apart(sandbox, (sql,), Limits(read_only=True)).result.output["rows"]
        return [tuple(row) for row in rows]


class _Postgres(SandboxExam):
    kind: Kind
    pins_clock = False

    def template(self) -> PostgresTemplate:
        def load(connection: Any) -> None:
            for each in STATEMENTS:
                connection.execute(each)

        return PostgresTemplate.build(load, server("postgresql"), self.kind)


class TestPostgresPooled(_Postgres):
    kind = "pooled"


class TestPostgresCloned(_Postgres):
    kind = "cloned"


class _Mysql(SandboxExam):
    kind: Kind

    def template(self) -> MysqlTemplate:
        def load(connection: Any) -> None:
            for each in STATEMENTS:
                connection.query(each)

        return MysqlTemplate.build(load, server("mysql"), self.kind)


class TestMysqlPooled(_Mysql):
    kind = "pooled"


class TestMysqlCloned(_Mysql):
    kind = "cloned"
