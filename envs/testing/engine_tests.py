"""The parts that the contract tests of engines share: a template, a sandbox, and calls in it."""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from sqlalchemy import NullPool, create_engine, text
from sqlalchemy.exc import DBAPIError

from envs.connection import connect_args, parse_url
from envs.sandboxes.base import DatabaseTarget, Sandbox, Template, find_engine
from envs.scripts import run_script
from envs.sql_errors import classify
from envs.testing.conformance_world import SLOW, STATEMENTS, run
from envs.types import ErrorCategory, Limits, Pins, RowChange

_SESSION = {
    "postgresql": ("SELECT pg_backend_pid()", "SELECT pg_terminate_backend({})"),
    "mysql": ("SELECT CONNECTION_ID()", "KILL {}"),
}
"""By dialect, the statement that tells a session's number, and the one that ends it."""


class EngineTests:
    """The setting of the contract tests; subclasses bring the tests."""

    engine: ClassVar[str] = ""
    """The engine's name, or ``package.module:attribute``."""

    slow: ClassVar[str] = SLOW
    """A statement that runs for minutes where nothing stops it."""

    pins_clock: ClassVar[bool] = True
    """Whether CURRENT_TIMESTAMP follows the pins; otherwise worlds pass the time explicitly."""

    def target(self) -> DatabaseTarget:
        """Return the server, the kind of sandboxes and the options to test with."""
        return DatabaseTarget()

    def template(self) -> Template:
        """Build a template of :data:`~envs.testing.conformance_world.STATEMENTS`."""
        engine = find_engine(self.engine)

        def load(connection: object) -> None:
            with tempfile.TemporaryDirectory() as folder:
                script = Path(folder) / "schema.sql"
                script.write_text(";\n".join(STATEMENTS) + ";", "utf-8")
                run_script(script, connection, engine.dialect)

        return engine.build(load, self.target())

    built: ClassVar[Template | None] = None

    @classmethod
    def teardown_class(cls) -> None:
        if cls.built is not None:
            cls.built.close()
            cls.built = None

    def shared(self) -> Template:
        """The template that most tests share, so that a trace left by one shows in the next."""
        tests = type(self)
        if tests.built is None:
            tests.built = self.template()
        return tests.built

    @contextmanager
    def opened(self, pins: Pins | None = None, *, unordered: bool = False) -> Generator[Sandbox]:
        with self.shared().open(pins or Pins(), unordered=unordered) as sandbox:
            yield sandbox

    def call(
        self, sandbox: Sandbox, *statements: str, limits: Limits | None = None
    ) -> tuple[RowChange, ...]:
        """Run one tool call that executes the statements, and return its changes."""
        with sandbox.transaction(limits or Limits()) as transaction:
            for statement in statements:
                run(transaction.connection, statement)
        return transaction.changes

    def refused(
        self, sandbox: Sandbox, *statements: str, limits: Limits | None = None
    ) -> ErrorCategory:
        """The category of the error with which one call of these statements ends."""
        try:
            self.call(sandbox, *statements, limits=limits)
        except DBAPIError as error:
            return classify(error, sandbox.dialect)
        raise AssertionError(f"nothing refused {statements!r}")

    def ask(self, sandbox: Sandbox, sql: str) -> list[tuple[object, ...]]:
        with sandbox.transaction(Limits(read_only=True)) as transaction:
            return [tuple(row) for row in transaction.connection.execute(text(sql))]

    def session(self, sandbox: Sandbox) -> int | None:
        """The number of the sandbox's session on its server, None for an engine without any."""
        words = _SESSION.get(sandbox.dialect)
        if words is None:
            return None
        return int(str(self.ask(sandbox, words[0])[0][0]))

    def end_session(self, sandbox: Sandbox, session: int | None) -> None:
        """End a session from outside, as an administrator or a failover does."""
        if session is None:
            return
        url = self.target().url
        assert url is not None, "override end_session() for an engine with a server of its own"
        parsed = parse_url(url)
        admin = create_engine(
            parsed,
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",
            connect_args=connect_args(parsed),
        )
        with admin.connect() as connection:
            connection.execute(text(_SESSION[sandbox.dialect][1].format(session)))
