"""Contract tests of a session that is lost: never a result, never a wrong diff, never a bug of the
executor's.

A server ends a session when an administrator says so, at a failover, or when it restarts. The call
that meets it raises :class:`~envs.errors.SandboxError`, so that the rollout is played again; what
the sandbox reports is either the truth or that error.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from sqlalchemy import Connection, NullPool, create_engine, text

from envs.connection import connect_args, parse_url
from envs.errors import SandboxError, ToolError
from envs.sandboxes.base import Sandbox
from envs.testing.sandbox_conformance import SandboxConformance, run
from envs.types import Limits, RowChange, StateDiff

_SESSION = {
    "postgresql": ("SELECT pg_backend_pid()", "SELECT pg_terminate_backend({})"),
    "mysql": ("SELECT CONNECTION_ID()", "KILL {}"),
}
"""By dialect, the statement that tells a session's number, and the one that ends it."""

WRITES = ("DELETE FROM loan", "INSERT INTO author (id, name) VALUES (7, 'Gil')")

End = Callable[[], None]


def _before_the_first(db: Connection, end: End) -> None:
    end()
    for sql in WRITES:
        run(db, sql)


def _between_statements(db: Connection, end: End) -> None:
    run(db, WRITES[0])
    end()
    run(db, WRITES[1])


def _after_the_last(db: Connection, end: End) -> None:
    for sql in WRITES:
        run(db, sql)
    end()


def _after_a_read(db: Connection, end: End) -> None:
    run(db, WRITES[0])
    db.execute(text("SELECT id FROM author")).all()
    end()


def _after_an_executors_commit(db: Connection, end: End) -> None:
    run(db, WRITES[0])
    db.commit()
    end()
    run(db, WRITES[1])


def _in_a_nested_block(db: Connection, end: End) -> None:
    with db.begin_nested():
        run(db, WRITES[0])
        end()
        run(db, WRITES[1])


# Executors of careless authors: they swallow whatever there is.
def _swallowed(db: Connection, end: End) -> None:
    end()
    with suppress(Exception):
        run(db, WRITES[0])


def _swallowed_and_rolled_back(db: Connection, end: End) -> None:
    run(db, WRITES[0])
    end()
    try:
        run(db, WRITES[1])
    except Exception:
        with suppress(Exception):
            db.rollback()


def _refused_after_it(db: Connection, end: End) -> None:
    end()
    try:
        run(db, WRITES[0])
    except Exception as error:
        raise ToolError("no such loan") from error


MOMENTS: Sequence[Callable[[Connection, End], None]] = (
    _before_the_first,
    _between_statements,
    _after_the_last,
    _after_a_read,
    _after_an_executors_commit,
    _in_a_nested_block,
    _swallowed,
    _swallowed_and_rolled_back,
    _refused_after_it,
)
"""Executors that meet the end of their session at each moment of a call."""


class LostSessionTests(SandboxConformance):
    """Ends the session of a sandbox from outside; on an engine without sessions nothing is lost."""

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

    def test_a_session_that_ends_in_a_call_is_no_result(self) -> None:
        """Whatever the executor makes of it, the call raises SandboxError."""
        for play in MOMENTS:
            with self.opened() as sandbox:
                session = self.session(sandbox)
                if session is None:
                    return
                self.call(sandbox, "INSERT INTO visit (line) VALUES ('kept')")
                end = partial(self.end_session, sandbox, session)
                with suppress(SandboxError):
                    with sandbox.transaction(Limits()) as transaction:
                        play(transaction.connection, end)
                    raise AssertionError(f"{play.__name__}: a call without its session succeeded")
                self._true_or_lost(sandbox)

    def test_a_session_that_ends_between_calls_is_no_result(self) -> None:
        """The next call, the diff, a fork and a look either tell the truth or raise
        SandboxError.
        """
        steps: tuple[Callable[[Sandbox], object], ...] = (
            lambda sandbox: self.call(sandbox, WRITES[0]),
            lambda sandbox: self.ask(sandbox, "SELECT count(*) FROM loan"),
            lambda sandbox: sandbox.diff(),
        )
        for step in steps:
            with self.opened() as sandbox:
                self.call(sandbox, "INSERT INTO visit (line) VALUES ('kept')")
                session = self.session(sandbox)
                if session is None:
                    return
                self.end_session(sandbox, session)
                with suppress(SandboxError):
                    step(sandbox)
                    raise AssertionError("a sandbox without its session went on")
                self._true_or_lost(sandbox)

    def test_a_session_that_ends_in_a_statement_is_no_result(self) -> None:
        """A statement that is ended from outside is neither a timeout nor an error of the SQL."""
        with self.opened() as sandbox:
            session = self.session(sandbox)
            if session is None:
                return
            ending = threading.Timer(0.5, self.end_session, (sandbox, session))
            ending.start()
            began = time.monotonic()
            try:
                self.call(sandbox, WRITES[0], self.slow)
            except SandboxError:
                assert time.monotonic() - began < 25, "the end of the session was not noticed"
            else:
                raise AssertionError("a statement without its session came to a result")
            finally:
                ending.join()

    def test_a_lost_session_is_not_the_next_rollouts(self) -> None:
        """What is opened after it holds the template's rows and works."""
        with self.opened() as sandbox:
            session = self.session(sandbox)
            self.call(sandbox, WRITES[0])
            self.end_session(sandbox, session)
        for _ in range(3):
            with self.opened() as sandbox:
                assert self.ask(sandbox, "SELECT count(*) FROM loan") == [(1,)]
                assert len(self.call(sandbox, *WRITES)) == len(WRITES)

    def _true_or_lost(self, sandbox: Sandbox) -> None:
        """What the sandbox still says is what its calls did."""
        visit = RowChange("visit", "insert", {"rowid": 3}, None, {"line": "kept"})
        with suppress(SandboxError):
            assert sandbox.diff() == StateDiff((visit,))
        with suppress(SandboxError):
            assert self.ask(sandbox, "SELECT count(*) FROM visit") == [(3,)]
            assert self.ask(sandbox, "SELECT count(*) FROM loan") == [(1,)]
        with suppress(SandboxError), sandbox.fork() as fork:
            assert self.ask(fork, "SELECT count(*) FROM visit") == [(3,)]
