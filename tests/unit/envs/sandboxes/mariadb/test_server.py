"""The removal of databases, on a server that is stopped or whose sessions are ended meanwhile."""

from __future__ import annotations

import threading
import time
from contextlib import closing, suppress

import pymysql

from envs.connection import parse_url
from envs.sandboxes.mariadb.sandbox import MariaDBTemplate
from envs.sandboxes.mariadb.server import MariaDBServer
from envs.sandboxes.mariadb.wire import BoundedConnection
from tests.servers import server

ATTEMPTS = 40
SCHEMA = tuple(f"CREATE TABLE t{number} (a int PRIMARY KEY)" for number in range(8)) + tuple(
    f"CREATE TRIGGER own{number} BEFORE INSERT ON t{number} FOR EACH ROW SET NEW.a = 1"
    for number in range(8)
)


def load(connection: BoundedConnection) -> None:
    for statement in SCHEMA:
        connection.query(statement)


def drop_and_kill(server: MariaDBServer, name: str, after_s: float) -> None:
    """Begin to drop a database, and end the session that does it."""
    with closing(server.connect()) as dropping, closing(server.connect()) as killing:

        def drop() -> None:
            with suppress(pymysql.Error):
                dropping.query(f"DROP DATABASE {name}")

        thread = threading.Thread(target=drop)
        thread.start()
        time.sleep(after_s)
        with suppress(pymysql.OperationalError):  # its session has ended
            killing.query(f"KILL {dropping.thread_id()}")
        thread.join()


def is_stuck(server: MariaDBServer, name: str) -> bool:
    """True if the database can no longer be dropped in the usual way."""
    try:
        server.ask(f"DROP DATABASE IF EXISTS {name}")
    except pymysql.OperationalError as error:
        return "Directory not empty" in str(error)
    return False


def test_a_database_whose_drop_was_killed_is_removed_all_the_same():
    stuck = 0
    with MariaDBTemplate.build(load, parse_url(server("mariadb"))) as template:
        for attempt in range(ATTEMPTS):
            slot = template.new_slot()
            drop_and_kill(template.server, slot.name, after_s=0.0005 * attempt)
            stuck += is_stuck(template.server, slot.name)
            slot.drop()
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline:
                if not template.server.ask(f"SHOW DATABASES LIKE '{slot.name}%'"):
                    break
                time.sleep(0.01)
            assert not template.server.ask(f"SHOW DATABASES LIKE '{slot.name}%'")
            if stuck == 3:
                return
    assert stuck, "no kill came in time"
