"""Where the tests' database servers are: URLs in the environment."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import pytest

from envs.plugins import ENGINES
from envs.sandboxes.base import DatabaseTarget, Template, find_engine

VARIABLES = {
    "postgresql": "SYNTH_TEST_POSTGRES_URL",
    "mariadb": "SYNTH_TEST_MYSQL_URL",
    "mysql": "SYNTH_TEST_MYSQL_URL",
    "mysql itself": "SYNTH_TEST_MYSQL8_URL",
}
"""By engine or SQL dialect, the environment variable that holds the URL of a server. `.ci/mysql`
starts MySQL itself, which cannot be installed beside MariaDB.
"""

_EXAMPLES = {
    "postgresql": "postgresql+psycopg://postgres@127.0.0.1:5432/postgres",
    "mariadb": "mariadb+pymysql://root@127.0.0.1:3306/test",
    "mysql itself": "mysql+pymysql://root@127.0.0.1:3307/test",
}


def server(engine: str) -> str:
    """The URL of the engine's server. Without one the test is skipped, or fails where databases are
    required.
    """
    url = os.environ.get(VARIABLES[engine])
    if url:
        return url
    words = (
        f"set {VARIABLES[engine]} to a server where databases may be created, for example"
        f" {_EXAMPLES.get(engine) or _EXAMPLES[ENGINES.find(engine).name]}"
    )
    if os.environ.get("SYNTH_REQUIRE_DATABASES") == "1":
        pytest.fail(words)
    pytest.skip(words)


@contextmanager
def template_of(engine: str, statements: Sequence[str]) -> Generator[Template]:
    """A template on the engine, filled by these statements."""

    def fill(connection: Any) -> None:
        cursor = connection.cursor()
        for statement in statements:
            cursor.execute(statement)

    target = DatabaseTarget(server(engine) if engine in VARIABLES else None)
    with closing(find_engine(engine).build(fill, target)) as template:
        yield template
