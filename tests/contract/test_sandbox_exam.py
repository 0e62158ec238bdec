"""Every engine's sandboxes sit the exam of envs.testing."""

from __future__ import annotations

from typing import Any

import pytest

from envs.sandboxes.mysql import MysqlTemplate
from envs.sandboxes.postgres import Kind, PostgresTemplate
from envs.sandboxes.sqlite import SqliteTemplate
from envs.testing import STATEMENTS, SandboxExam


class TestSqlite(SandboxExam):
    def template(self) -> SqliteTemplate:
        return SqliteTemplate.build(lambda connection: [connection.execute(each) for each in STATEMENTS])


class _Postgres(SandboxExam):
    kind: Kind
    pins_clock = False

    @pytest.fixture(autouse=True)
    def _server(self, postgres_url: str):
        self.url = postgres_url

    def template(self) -> PostgresTemplate:
        def load(connection: Any) -> None:
            for each in STATEMENTS:
                connection.execute(each)

        return PostgresTemplate.build(load, self.url, self.kind)


class TestPostgresPooled(_Postgres):
    kind = "pooled"


class TestPostgresCloned(_Postgres):
    kind = "cloned"


class _Mysql(SandboxExam):
    kind: Kind

    @pytest.fixture(autouse=True)
    def _server(self, mysql_url: str):
        self.url = mysql_url

    def template(self) -> MysqlTemplate:
        def load(connection: Any) -> None:
            for each in STATEMENTS:
                connection.query(each)

        return MysqlTemplate.build(load, self.url, self.kind)


class TestMysqlPooled(_Mysql):
    kind = "pooled"


class TestMysqlCloned(_Mysql):
    kind = "cloned"
