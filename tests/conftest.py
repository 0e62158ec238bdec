"""Scratch databases on real servers: created for one test, dropped after it; and a cache of the
tests' own.
"""

from __future__ import annotations

import gc
import signal
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy

from envs.connection import connect_args, parse_url
from envs.sandboxes.base import Template
from envs.world.world import World
from synth.core.foundation.own_process import THRESHOLDS
from tests.e2e import chromium
from tests.servers import server


def pytest_configure() -> None:
    """Restore the default handling of Ctrl-C. Jobs that a shell starts with ``&`` ignore SIGINT, and
    their child processes inherit that; some tests interrupt theirs. Collect garbage as a command
    does: a seventh of the tests' CPU.
    """
    gc.set_threshold(*THRESHOLDS)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def scratch(dialect: str) -> Iterator[str]:
    """The URL of a database of the test's own on the engine's server."""
    url = parse_url(server(dialect))
    engine = sqlalchemy.create_engine(
        url,
        isolation_level="AUTOCOMMIT",
        poolclass=sqlalchemy.NullPool,
        connect_args=connect_args(url),
    )
    name = f"synth_test_{uuid.uuid4().hex[:12]}"
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text(f"CREATE DATABASE {name}"))
    try:
        yield url.set(database=name).render_as_string(hide_password=False)
    finally:
        force = " WITH (FORCE)" if url.drivername.startswith("postgresql") else ""
        with engine.connect() as connection:
            connection.execute(sqlalchemy.text(f"DROP DATABASE {name}{force}"))
        engine.dispose()


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is remembered between commands stays out of the home of whoever tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """The URL of an empty PostgreSQL database."""
    yield from scratch("postgresql")


@pytest.fixture
def mysql_url() -> Iterator[str]:
    """The URL of an empty MariaDB or MySQL database."""
    yield from scratch("mysql")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium.sync_api().sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.executable(), args=chromium.FLAGS
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def template(world: World) -> Iterator[Template]:
    """A template of the module's ``world``."""
    with world.template() as made:
        yield made
