"""A PostgreSQL or MariaDB server of a test's own, on a port of its own, that may be restarted.

    python -m tests.faults.own_server COMMAND...

runs a command with one of each, whose URLs are in the tests' variables. Neither waits for the disk,
so that long tests take half the time.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from envs.connection import DatabaseConnectionConfig
from envs.errors import DatabaseConfigError
from tests.servers import VARIABLES

READY_S = 60


class OwnServer(ABC):
    """One instance, below a folder of its own; programs run as ``account`` where we are root."""

    account: str
    scheme: str

    def __init__(self, folder: Path, connections: int = 100) -> None:
        self.folder = folder
        self.connections = connections
        """How many the server allows."""
        self.data = folder / "data"
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]

    @property
    @abstractmethod
    def url(self) -> str:
        """The administrator's URL."""

    @abstractmethod
    def start(self) -> None:
        """Start the server."""

    @abstractmethod
    def stop(self) -> None:
        """Stop it; sessions are ended, nothing is waited for."""

    def restart(self) -> None:
        self.stop()
        self.start()
        self.wait()

    def wait(self) -> None:
        """Wait until it answers."""
        os.environ["OWN_SERVER"] = self.url
        deadline = time.monotonic() + READY_S
        while True:
            try:
                DatabaseConnectionConfig(dsn_env_var="OWN_SERVER", connect_timeout_s=5).check()
            except DatabaseConfigError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
            else:
                return

    def command(self, *words: str) -> list[str]:
        """A program as the server's account: neither server runs as root."""
        return ["runuser", "-u", self.account, "--", *words] if os.getuid() == 0 else [*words]

    def run(self, *words: str) -> None:
        log = self.folder / "programs.log"
        with log.open("a") as out:
            done = subprocess.run(
                self.command(*words), stdout=out, stderr=out, cwd=self.folder, check=False
            )
        if done.returncode:
            raise RuntimeError(f"{words[0]} failed: {log.read_text()[-2000:]}")


def program(name: str, *places: str) -> str:
    """The path of a server's program; the test is skipped where it is not installed."""
    found = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), *places]))
    return found or pytest.skip(f"{name} is not installed")


class OwnPostgres(OwnServer):
    account = "postgres"

    def __init__(self, folder: Path, connections: int = 100) -> None:
        super().__init__(folder, connections)
        homes = sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), reverse=True)
        self._control = program("pg_ctl", *homes)
        self.run(program("initdb", *homes), "-A", "trust", "-U", "postgres", "-N", str(self.data))

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        options = (
            f"-p {self.port} -k {self.folder} -c fsync=off -c listen_addresses=127.0.0.1"
            f" -c max_connections={self.connections}"
        )
        self.run(
            self._control, "-D", str(self.data), "-w", "-l", f"{self.folder}/log",
            "-o", options, "start",
        )  # fmt: skip

    def stop(self) -> None:
        self.run(self._control, "-D", str(self.data), "-m", "fast", "-w", "stop")


class OwnMariaDB(OwnServer):
    account = "mysql"

    def __init__(self, folder: Path, connections: int = 100) -> None:
        super().__init__(folder, connections)
        self._server = program("mariadbd", "/usr/sbin")
        self._process: subprocess.Popen[bytes] | None = None
        self.run(
            program("mariadb-install-db"),
            "--no-defaults",
            f"--datadir={self.data}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
        )

    @property
    def url(self) -> str:
        return f"mariadb+pymysql://root@127.0.0.1:{self.port}/"

    def start(self) -> None:
        options = (
            "--no-defaults",
            f"--datadir={self.data}",
            f"--port={self.port}",
            f"--socket={self.folder}/socket",
            f"--pid-file={self.folder}/pid",
            "--bind-address=127.0.0.1",
            f"--max-connections={self.connections}",
            "--innodb-flush-log-at-trx-commit=0",
            "--debug-no-sync",
        )
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self.command(self._server, *options), stdout=log, stderr=log, cwd=self.folder
            )

    def stop(self) -> None:
        if self._process is None:
            return
        pid = self.folder / "pid"
        own: Sequence[str] = [pid.read_text().strip()] if pid.exists() else []
        for number in own:
            os.kill(int(number), 15)
        self._process.wait(READY_S)
        self._process = None


@contextmanager
def own_server(kind: type[OwnServer], connections: int = 100) -> Generator[OwnServer]:
    """Make an instance, start it, and remove it in the end."""
    folder = Path(tempfile.mkdtemp(prefix="own_server_", dir="/tmp"))
    try:
        if os.getuid() == 0:
            shutil.chown(folder, kind.account)
        server = kind(folder, connections)
        try:
            server.start()
            server.wait()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main(command: Sequence[str]) -> int:
    """Run the command with both servers; returns its exit code."""
    with own_server(OwnPostgres) as postgres, own_server(OwnMariaDB) as mariadb:
        urls = {VARIABLES["postgresql"]: postgres.url, VARIABLES["mariadb"]: mariadb.url}
        return subprocess.run(command, env={**os.environ, **urls}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
