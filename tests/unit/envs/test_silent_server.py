"""A server that says nothing, from the first or after a while: waiting ends after its timeout."""

from __future__ import annotations

import select
import socket
import socketserver
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress

import pytest
import sqlalchemy

from envs import connection
from envs.connection import DatabaseConnectionConfig, parse_url
from envs.errors import EnvsError
from envs.reseed import reseed
from envs.sandboxes.attached import mariadb as attached
from envs.sandboxes.attached.engine import AttachedOptions
from envs.sandboxes.attached.template import attach
from envs.sandboxes.base import DatabaseTarget, find_engine
from envs.sandboxes.server.control_connection import ControlConnection
from synth.core.foundation.shipped import find_world
from synth.ext.authoring.source import Extract, from_url
from tests.servers import server

LIMIT_S = 2  # psycopg waits two seconds at least


@contextmanager
def swallow_after(url: sqlalchemy.URL, packets: int) -> Iterator[int]:
    """The port of a way that lets so many of a client's packets through; with none, it is silent."""
    place = (url.host, url.port or (3306 if url.drivername.startswith("mysql") else 5432))

    class Way(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            left = packets
            with suppress(OSError), socket.create_connection(place) as other:
                while self.server.fileno() >= 0:
                    sides = [other] * bool(packets) + [self.request] * bool(left)
                    for side in select.select(sides, [], [], 0.05)[0]:
                        if not (data := side.recv(65_536)):
                            return
                        left -= side is self.request
                        (self.request if side is other else other).sendall(data)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Way) as ways, ExitStack() as after:
        after.callback(ways.shutdown)
        threading.Thread(target=ways.serve_forever, args=(0.05,)).start()
        yield ways.server_address[1]


def check(dsn: str) -> None:
    """Check a config whose variable holds the URL; the variable has a name of its own."""
    variable = f"DSN_{uuid.uuid4().hex}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(variable, dsn)
        DatabaseConnectionConfig(dsn_env_var=variable).check()


CONNECTS: dict[str, Callable[[str], object]] = {
    "check": check,
    "sandboxes": lambda url: find_engine(url.partition(":")[0]).build(
        lambda connection: None, DatabaseTarget(url)
    ),
    "leftovers": lambda url: find_engine(url.partition(":")[0]).leftovers(DatabaseTarget(url)),
    "reseed": lambda url: reseed(find_world("shop"), url=url),
    "reflect": lambda url: from_url(url, Extract(), secret=True),
    "attached": lambda url: attach(DatabaseTarget(url), AttachedOptions()),
}


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
def test_a_silent_server_is_given_up(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each connects at the same time as all others: what they do is wait."""
    monkeypatch.setattr(connection, "SILENCE_S", LIMIT_S)
    monkeypatch.setattr(attached, "SILENCE_S", LIMIT_S)
    monkeypatch.setattr(ControlConnection.__init__, "__defaults__", (LIMIT_S,))  # of lost logins
    url = parse_url(server(engine))

    def given_up(connect: str, dsn: str) -> None:
        with pytest.raises(EnvsError, match=r"cannot (connect|read)|(?i:lost)|no login"):
            CONNECTS[connect](dsn)

    with ExitStack() as ways, ThreadPoolExecutor(64) as pool:
        ended: dict[tuple[str, int], Future[None]] = {}
        for packets in (0, 2, 4, 9):
            port = ways.enter_context(swallow_after(url, packets))
            way = url.set(host="127.0.0.1", port=port, drivername=engine)
            way = way.update_query_dict({"connect_timeout": str(LIMIT_S)})
            dsn = way.render_as_string(hide_password=False)
            for connect in CONNECTS:
                ended[connect, packets] = pool.submit(given_up, connect, dsn)
        assert not {case: done.exception() for case, done in ended.items() if done.exception()}
