"""Accounts with the rights that the guide for servers grants pass the contract tests of sandboxes."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
import sqlalchemy

from envs.connection import open_engine, parse_url
from envs.errors import DatabaseConfigError
from envs.sandboxes.base import DatabaseTarget, find_engine
from envs.sandboxes.postgres.prepare import main as prepare
from tests.contract.lost_sessions import LostSessionTests
from tests.contract.one_contract import OneContractTests
from tests.servers import VARIABLES, server

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "servers.md"


def statements(engine: str, name: str) -> list[str]:
    """The guide's statements for an engine, for an account of that name."""
    blocks = re.findall(r"```sql\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    [block] = [block for block in blocks if ("ROLE" in block) is (engine == "postgresql")]
    text = re.sub(r"\bsynth\b", name, block).replace("PASSWORD'", "geheim1234'")
    return [statement.strip() for statement in text.split(";") if statement.strip()]


def execute(engine: str, *script: str) -> None:
    """Execute statements as the tests' administrator."""
    database = open_engine(parse_url(server(engine)), 10, isolation_level="AUTOCOMMIT")
    try:
        with database.connect() as connection:
            for statement in script:
                connection.exec_driver_sql(statement.replace("%", "%%"))
    finally:
        database.dispose()


@pytest.fixture(scope="module", params=["postgresql", "mariadb"])
def account(request: pytest.FixtureRequest) -> Iterator[tuple[str, sqlalchemy.URL]]:
    """An engine, and the URL of an account that the guide's statements made."""
    engine: str = request.param
    name = f"plain_{uuid.uuid4().hex[:8]}"
    execute(engine, *statements(engine, name))
    url = parse_url(server(engine)).set(username=name, password="geheim1234")
    if engine == "mariadb":
        url = url.set(database="")
    try:
        if engine == "postgresql":
            with pytest.raises(DatabaseConfigError, match=rf"postgres\.prepare {name} --dsn"):
                find_engine(engine).leftovers(DatabaseTarget(text(url)))
            assert prepare([name, "--dsn-env-var", VARIABLES[engine]]) == 0
        yield engine, url
    finally:
        if engine == "postgresql":
            execute(engine, f"DROP OWNED BY {name}", f"DROP ROLE {name}")
        else:
            execute(engine, f"DROP USER {name}@'%'")


def text(url: sqlalchemy.URL) -> str:
    return url.render_as_string(hide_password=False)


class _OfAnAccount(LostSessionTests, OneContractTests):
    url: ClassVar[str] = ""

    @pytest.fixture(autouse=True)
    def _account(self, account: tuple[str, sqlalchemy.URL]) -> None:
        type(self).url = text(account[1])

    def target(self) -> DatabaseTarget:
        return DatabaseTarget(self.url)


@pytest.mark.slow
@pytest.mark.parametrize("account", ["postgresql"], indirect=True)
class TestPostgresRole(_OfAnAccount):
    engine = "postgresql"


@pytest.mark.slow
@pytest.mark.parametrize("account", ["mariadb"], indirect=True)
class TestMariaDBAccount(_OfAnAccount):
    engine = "mariadb"
