"""A server that says nothing, from the first or after a while: waiting ends after its timeout."""

from __future__ import annotations

import math
import socket
import threading
from collections.abc import Callable
from contextlib import suppress

import pytest
import sqlalchemy

from envs import connection
from envs.connection import DatabaseConnectionConfig, parse_url
from envs.errors import EnvsError
from envs.reseed import reseed
from envs.sandboxes.attached import mariadb as attached
from envs.sandboxes.attached.engine import AttachedOptions
from envs.sandboxes.attached.template import attach
from envs.sandboxes.base import DatabaseTarget, Engine, find_engine
from envs.sandboxes.server.control_connection import ControlConnection
from synth.core.foundation.shipped import find_world
from synth.ext.authoring.source import Extract, from_url
from tests.servers import server

LIMIT_S = 2  # psycopg waits two seconds at least


def swallow_after(url: sqlalchemy.URL, packets: int) -> socket.socket:
    """A way to the server that lets so many of a client's packets through."""

    def pass_on(source: socket.socket, to: socket.socket, most: float) -> None:
        with suppress(OSError):
            while (data := source.recv(65_536)) and (most := most - 1) >= 0:
                to.sendall(data)

    def serve() -> None:
        with suppress(OSError):  # closed at the end
            while True:
                one, other = listening.accept()[0], socket.create_connection(place)
                for way in ((one, other, packets), (other, one, math.inf)):
                    threading.Thread(target=pass_on, args=way, daemon=True).start()

    place = (url.host, url.port or (3306 if url.drivername.startswith("mysql") else 5432))
    listening = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, daemon=True).start()
    return listening


def _engine(url: str) -> Engine:
    return find_engine("postgresql" if url.startswith("postgresql") else "mariadb")


CONNECTS: dict[str, Callable[[str], object]] = {
    "check": lambda url: DatabaseConnectionConfig(dsn_env_var="DSN").check(),
    "sandboxes": lambda url: _engine(url).build(lambda connection: None, DatabaseTarget(url)),
    "leftovers": lambda url: _engine(url).leftovers(DatabaseTarget(url)),
    "reseed": lambda url: reseed(find_world("shop"), url=url),
    "reflect": lambda url: from_url(url, Extract(), secret=True),
    "attached": lambda url: attach(DatabaseTarget(url), AttachedOptions()),
}


@pytest.mark.slow
@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    ("engine", "packets"),
    [(engine, at) for engine in ("postgresql", "mariadb") for at in (None, 2, 4, 9)],
)
@pytest.mark.parametrize("connect", CONNECTS)
def test_a_silent_server_is_given_up(
    engine: str, packets: int | None, connect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "SILENCE_S", LIMIT_S)
    monkeypatch.setattr(attached, "SILENCE_S", LIMIT_S)
    monkeypatch.setattr(ControlConnection.__init__, "__defaults__", (LIMIT_S,))  # of lost logins
    url = parse_url(server(engine))
    with (
        swallow_after(url, packets) if packets else socket.create_server(("127.0.0.1", 0))
    ) as listening:
        url = url.set(host="127.0.0.1", port=listening.getsockname()[1], drivername=engine)
        url = url.update_query_dict({"connect_timeout": str(LIMIT_S)})
        dsn = url.render_as_string(hide_password=False)
        monkeypatch.setenv("DSN", dsn)
        with pytest.raises(EnvsError, match=r"cannot (connect|read)|(?i:lost)|no login"):
            CONNECTS[connect](dsn)
