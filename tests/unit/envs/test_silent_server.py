"""A server that accepts a connection and says nothing: every connect ends after its timeout."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from envs.connection import DatabaseConnectionConfig
from envs.errors import DatabaseConfigError
from envs.reseed import reseed
from envs.sandboxes.attached.engine import AttachedOptions
from envs.sandboxes.attached.template import attach
from envs.sandboxes.base import DatabaseTarget, find_engine
from synth.core.foundation.shipped import find_world
from synth.ext.authoring.source import Extract, from_url

LIMIT_S = 2
"""psycopg waits two seconds at least."""


@pytest.fixture
def port() -> Iterator[int]:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()[1]


def _check(url: str) -> None:
    DatabaseConnectionConfig(dsn_env_var="DSN").check()


def _sandboxes(url: str) -> None:
    engine = "postgresql" if url.startswith("postgresql") else "mariadb"
    find_engine(engine).build(lambda connection: None, DatabaseTarget(url))


def _leftovers(url: str) -> None:
    engine = "postgresql" if url.startswith("postgresql") else "mariadb"
    find_engine(engine).leftovers(DatabaseTarget(url))


def _reseed(url: str) -> None:
    reseed(find_world("shop"), url=url)


def _reflect(url: str) -> None:
    from_url(url, Extract(), secret=True)


def _attached(url: str) -> None:
    attach(DatabaseTarget(url), AttachedOptions())


@pytest.mark.slow
@pytest.mark.timeout(30)
@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
@pytest.mark.parametrize("connect", [_check, _sandboxes, _leftovers, _reseed, _reflect, _attached])
def test_a_silent_server_is_given_up(
    engine: str,
    connect: Callable[[str], None],
    port: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    url = f"{engine}://me@127.0.0.1:{port}/d?connect_timeout={LIMIT_S}"
    monkeypatch.setenv("DSN", url)
    with pytest.raises(DatabaseConfigError, match=r"cannot (connect|read)"):
        connect(url)
