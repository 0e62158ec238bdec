"""Every shipped engine, and one of a stranger, passes the contract tests of envs.testing,
and those for lost sessions and for what engines do differently by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import synth
from envs.errors import DatabaseConfigError
from envs.processes import close_pools, pool_of
from envs.sandboxes.base import DatabaseTarget, Kind, Sandbox, Template
from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.testing import STATEMENTS
from envs.types import ErrorCategory, Limits, RowChange, ToolCall, ToolOutcome
from envs.world.loader import SUBPROCESS_SERVICE, World, load_world
from synth.config import RunConfig, from_dict, problems
from synth.core.runner.setup import database_target
from synth.errors import ConfigProblems
from tests.contract.lost_sessions import LostSessionTests
from tests.contract.one_contract import OneContractTests
from tests.servers import server


class ShippedEngine(LostSessionTests, OneContractTests):
    """What a stranger's engine promises, and what ours promise beyond it."""


class TestSqlite(ShippedEngine):
    engine = "sqlite"


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


class TestSqliteApart(ShippedEngine):
    """Calls of text go to processes that may be killed; what an executor does with its connection
    stays here.
    """

    @pytest.fixture(autouse=True)
    def _library(self, library: World):
        self.world = library
        self.pool = pool_of(SUBPROCESS_SERVICE, (str(library.path), library.digest))

    def template(self) -> Template:
        return self.world.template()

    def _in_subprocess(
        self, sandbox: Sandbox, statements: tuple[str, ...], limits: Limits | None
    ) -> ToolOutcome:
        outcome = sandbox.subprocess_call(
            self.pool, ToolCall.of("act", {"statements": statements}), limits or Limits()
        )
        if not outcome.result.ok:
            raise _RefusedError(outcome.result.category)
        return outcome

    def call(
        self, sandbox: Sandbox, *statements: str, limits: Limits | None = None
    ) -> tuple[RowChange, ...]:
        return self._in_subprocess(sandbox, statements, limits).changes

    def refused(
        self, sandbox: Sandbox, *statements: str, limits: Limits | None = None
    ) -> ErrorCategory:
        with pytest.raises(_RefusedError) as caught:
            self.call(sandbox, *statements, limits=limits)
        return ErrorCategory(caught.value.args[0])

    def ask(self, sandbox: Sandbox, sql: str) -> list[tuple[object, ...]]:
        rows = self._in_subprocess(sandbox, (sql,), Limits(read_only=True)).result.output["rows"]
        return [tuple(row) for row in rows]


class _OnServer(ShippedEngine):
    kind: Kind

    def target(self) -> DatabaseTarget:
        return DatabaseTarget(server(self.engine), self.kind)


class _Postgres(_OnServer):
    engine = "postgresql"


class TestPostgresPooled(_Postgres):
    kind = "pooled"


class TestPostgresCloned(_Postgres):
    kind = "cloned"


class _MariaDB(_OnServer):
    engine = "mariadb"


class TestMariaDBPooled(_MariaDB):
    kind = "pooled"


class TestMariaDBCloned(_MariaDB):
    kind = "cloned"


STRANGER = '''
"""An engine from outside of the tree: a subclass of a shipped one, with an option."""

from dataclasses import dataclass

from envs.sandboxes.sqlite.engine import SqliteEngine


class NumberedEngine(SqliteEngine):
    """SQLite whose databases carry a version of the user's own."""

    @dataclass(frozen=True)
    class Options:
        version: int = 1

    def build(self, load, target):
        def load_and_number(connection):
            load(connection)
            connection.execute(f"PRAGMA user_version = {self.options(target).version}")

        return super().build(load_and_number, target)


ENGINE = NumberedEngine()
'''
NAME = "engine_of_a_stranger:ENGINE"


@pytest.fixture(scope="module", autouse=True)
def _stranger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("stranger")
    (folder / "engine_of_a_stranger.py").write_text(STRANGER)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield


class TestStranger(ShippedEngine):
    engine = NAME


def test_the_option_of_an_engine_reaches_its_template(library: World):
    versions: list[int] = []
    for options in ({}, {"version": 7}):
        with library.template(NAME, place=DatabaseTarget(options=options)) as template:
            assert isinstance(template, SqliteTemplate)
            versions.append(int.from_bytes(template.image[60:64], "big"))
    assert versions == [1, 7]
    with pytest.raises(DatabaseConfigError, match="unexpected keyword argument 'verison'"):
        library.template(NAME, place=DatabaseTarget(options={"verison": 7}))


def test_a_world_is_played_on_the_engine_of_a_stranger():
    with synth.open("shop", database=NAME) as episode:
        assert episode.tools


def test_the_config_is_checked_against_the_options_of_the_engine():
    def config(**options: object) -> RunConfig:
        database = {"engine": NAME, "options": options}
        return from_dict({"env": {"name": "shop"}, "database": database})

    assert database_target(config(version=7).database).options == {"version": 7}
    with pytest.raises(
        ConfigProblems, match=r"database\.options\.verison: unknown key; did you mean"
    ):
        database_target(config(verison=7).database)
    with pytest.raises(ConfigProblems, match=r"database\.options\.version: must be a whole number"):
        database_target(config(version="seven").database)


def test_a_server_for_an_engine_without_one_is_refused():
    raw = {"env": {"name": "shop"}, "database": {"engine": NAME, "dsn_env_var": "PATH"}}
    assert "\n".join(problems(raw)) == (
        f"database.dsn_env_var: engine {NAME!r} has no server; use database=postgres or"
        " database=mariadb"
    )
