"""Contract tests of an attached database: it is read and never written, and changes are named."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, ClassVar

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from envs.errors import SandboxError
from envs.sandboxes.attached.description import differences
from envs.sandboxes.base import DatabaseTarget, Sandbox, Template, find_engine
from envs.sql_errors.classify import classify
from envs.testing.sandbox_conformance import SLOW
from envs.types import ErrorCategory, Limits, Pins

READ = Limits(True, 60_000, 1_000, None)


class AttachedContract(ABC):
    """Contract tests for the engine ``attached`` on one dialect.

    Subclass it in a test module, name the class ``Test...`` and return the URL of a database that
    holds the tables ``author`` and ``visit`` of
    :data:`envs.testing.STATEMENTS`.
    """

    slow: ClassVar[str] = SLOW
    """A query that runs for minutes where nothing stops it."""

    writes: ClassVar[tuple[str, ...]] = ()
    """Further statements of the dialect that write, in whatever way."""

    many: ClassVar[str] = "SELECT 1 FROM author a, author b, author c"
    """A query of more than three rows."""

    @abstractmethod
    def address(self) -> str:
        """Return the URL."""

    @abstractmethod
    def change(self) -> None:
        """Insert a row into ``visit``, past the engine."""

    @contextmanager
    def attached(self) -> Generator[Template]:
        engine = find_engine("attached")
        with engine.build(lambda _: None, DatabaseTarget(self.address())) as template:
            yield template

    def ask(
        self, sandbox: Sandbox, sql: str, limits: Limits = READ, **values: object
    ) -> list[tuple[Any, ...]]:
        with sandbox.transaction(limits) as transaction:
            db = transaction.connection
            if values:
                return [tuple(row) for row in db.execute(text(sql), values)]
            raw = db.exec_driver_sql(sql, execution_options={"no_parameters": True})
            return [tuple(row) for row in raw]

    def refused(self, sandbox: Sandbox, sql: str, limits: Limits = READ) -> ErrorCategory:
        try:
            rows = self.ask(sandbox, sql, limits)
        except DBAPIError as error:
            return classify(error, sandbox.dialect)
        raise AssertionError(f"{sql!r} gave {rows[:3]!r}")

    def test_it_is_read_as_it_is(self) -> None:
        """Rows, parameters, marks that are not parameters, and the tables as they are declared."""
        with self.attached() as template, template.open(Pins()) as sandbox:
            assert self.ask(sandbox, "SELECT name FROM author ORDER BY id") == [
                ("Ann",),
                ("Bo",),
                ("O'Hara",),
            ]
            found = self.ask(sandbox, "SELECT id FROM author WHERE name = :name", name="O'Hara")
            assert found == [(10,)]
            assert self.ask(sandbox, "SELECT '%', ':x'") == [("%", ":x")]
            some = "SELECT '%' FROM author WHERE name LIKE 'B%' AND id = :id"
            assert self.ask(sandbox, some, id=2) == [("%",)]
            with sandbox.transaction(READ) as transaction:
                shown = transaction.connection.execute(text("SELECT '%' FROM author"))
                assert [tuple(row) for row in shown] == [("%",)] * 3
            assert [column.name for column in template.tables["author"].columns] == ["id", "name"]
            assert not sandbox.diff()

    def test_nothing_writes(self) -> None:
        """Statements that write are refused, and the database is what it was."""
        statements = (
            "INSERT INTO visit (line) VALUES ('x')",
            "UPDATE visit SET line = 'x'",
            "DELETE FROM visit",
            "DROP TABLE visit",
            "CREATE TABLE x (a INTEGER)",
            "SELECT 1; DELETE FROM visit",
            "EXPLAIN DELETE FROM visit",
            "COMMIT",
            *self.writes,
        )
        allowed = {ErrorCategory.PERMISSION_DENIED, ErrorCategory.SYNTAX_ERROR}
        with self.attached() as template, template.open(Pins()) as sandbox:
            before = sandbox.state_hash()
            for statement in statements:
                assert self.refused(sandbox, statement) in allowed, statement
            assert sandbox.state_hash() == before
            with self.attached() as again:
                assert differences(template.fingerprint or {}, again.fingerprint or {}) == []
                assert again.digest == template.digest

    def test_a_mistake_has_its_category(self) -> None:
        """A model reads the kind of its mistake, as on other engines."""
        mistakes = {
            "SELECT nme FROM author": ErrorCategory.COLUMN_NOT_FOUND,
            "SELECT 1 FROM writer": ErrorCategory.TABLE_NOT_FOUND,
            "SELECT a.id FROM author a JOIN author b ON id = b.id": ErrorCategory.JOIN_ERROR,
        }
        with self.attached() as template, template.open(Pins()) as sandbox:
            for sql, category in mistakes.items():
                assert self.refused(sandbox, sql) is category, sql

    def test_limits_hold(self) -> None:
        """Time and rows are bounded, and the next statement is answered."""
        with self.attached() as template, template.open(Pins()) as sandbox:
            few, short = Limits(True, 60_000, 3, None), Limits(True, 300, 1_000, None)
            assert self.refused(sandbox, self.many, few) is ErrorCategory.LIMIT_EXCEEDED
            assert self.refused(sandbox, self.slow, short) is ErrorCategory.TIMEOUT
            assert self.ask(sandbox, "SELECT count(*) FROM author") == [(3,)]

    def test_a_change_is_named(self) -> None:
        """A database that is not what it was has another digest, and its table is named."""
        with self.attached() as template:
            before, digest = template.fingerprint, template.digest
        self.change()
        with self.attached() as template:
            lines = differences(before or {}, template.fingerprint or {})
            assert lines == ["the table visit has 3 rows, not 2"]
            assert template.digest != digest

    def test_closing(self) -> None:
        """A closed sandbox and a closed template say so; a fork is another sandbox."""
        with self.attached() as template:
            sandbox = template.open(Pins())
            fork = sandbox.fork()
            sandbox.close()
            sandbox.close()
            assert not fork.diff()
            for ask in (sandbox.diff, sandbox.state_hash, sandbox.fork):
                try:
                    ask()
                except SandboxError:
                    continue
                raise AssertionError("a closed sandbox answered")
        try:
            template.open(Pins())
        except SandboxError:
            return
        raise AssertionError("a closed template gave a sandbox")
