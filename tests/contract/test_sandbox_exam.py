"""Every engine's sandboxes sit the exam of envs.testing."""

from __future__ import annotations

from typing import Any

from envs.sandboxes.mysql import MysqlTemplate
from envs.sandboxes.postgres import Kind, PostgresTemplate
from envs.sandboxes.sqlite import SqliteTemplate
from envs.testing import STATEMENTS, SandboxExam
from tests.servers import server


class TestSqlite(SandboxExam):
    def template(self) -> SqliteTemplate:
        return SqliteTemplate.build(lambda connection: [connection.execute(each) for each in STATEMENTS])


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
