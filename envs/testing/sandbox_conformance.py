"""Contract tests of an engine: its templates, their sandboxes and the calls in them."""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from sqlalchemy import Connection, TextClause, text
from sqlalchemy.exc import DBAPIError

from envs.errors import SandboxError, ToolError
from envs.sandboxes.base import DatabaseTarget, Sandbox, Template, find_engine
from envs.scripts import run_script
from envs.sql_errors.classify import classify
from envs.types import ErrorCategory, Limits, Pins, RowChange

STATEMENTS: tuple[str, ...] = (
    "CREATE TABLE author (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL UNIQUE)",
    (
        "CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER NOT NULL, title VARCHAR(80)"
        " NOT NULL, price NUMERIC(10, 2) CHECK (price >= 0), FOREIGN KEY (author_id) REFERENCES"
        " author (id) ON DELETE CASCADE)"
    ),
    (
        "CREATE TABLE loan (book_id INTEGER NOT NULL, due VARCHAR(10) NOT NULL, note VARCHAR(80),"
        " PRIMARY KEY (book_id, due))"
    ),
    (
        "CREATE TABLE reminder (book_id INTEGER NOT NULL, due VARCHAR(10) NOT NULL, day VARCHAR(10)"
        " NOT NULL, PRIMARY KEY (book_id, due, day), FOREIGN KEY (book_id) REFERENCES book (id),"
        " FOREIGN KEY (book_id, due) REFERENCES loan (book_id, due))"
    ),
    "CREATE TABLE visit (line VARCHAR(80))",
    "INSERT INTO author (id, name) VALUES (1, 'Ann'), (2, 'Bo'), (10, 'O''Hara')",
    (
        "INSERT INTO book (id, author_id, title, price) VALUES (1, 1, 'Sea', 10),"
        " (2, 1, 'Sky', 12), (3, 2, '100%', NULL)"
    ),
    "INSERT INTO loan (book_id, due, note) VALUES (1, '2026-01-10', NULL)",
    "INSERT INTO visit (line) VALUES ('first'), ('first')",
)
"""The world of the contract tests, in SQL that every engine reads."""

SLOW = (
    "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 100000000000)"
    " SELECT count(*) AS c FROM n"
)


def run(db: Connection, sql: str, **values: object) -> None:
    """Execute a statement whose rows do not matter."""
    db.execute(text(sql), values)


class SandboxConformance:
    """Contract tests for an :class:`~envs.sandboxes.base.Engine`.

    Subclass it in a test module, name the class ``Test...`` and set ``engine``; override
    :meth:`target` for an engine with a server.
    """

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
        """Build a template of :data:`STATEMENTS`."""
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

    def test_a_sandbox_starts_as_the_template(self) -> None:
        """A fresh sandbox holds the seed's rows and no change."""
        with self.opened() as sandbox:
            assert self.ask(sandbox, "SELECT name FROM author ORDER BY id") == [
                ("Ann",),
                ("Bo",),
                ("O'Hara",),
            ]
            assert self.ask(sandbox, "SELECT title FROM book WHERE id = 3") == [("100%",)]
            assert not sandbox.diff()

    def test_the_template_describes_its_tables(self) -> None:
        """``tables`` holds columns, keys and references; keys of one column come first."""
        with self.template() as template:
            assert set(template.tables) == {"author", "book", "loan", "reminder", "visit"}
            assert template.tables["loan"].primary_key == ("book_id", "due")
            assert template.tables["visit"].primary_key == ()
            assert template.tables["book"].column("author_id").references == ("author", "id")
            assert template.tables["reminder"].column("book_id").references == ("book", "id")
            assert template.tables["reminder"].column("due").references == ("loan", "due")
            assert template.tables["book"].column("title").nullable is False

    def test_equal_scripts_give_equal_digests(self) -> None:
        """The digest names the content, not the build."""
        with self.template() as one, self.template() as other:
            assert one.digest == other.digest

    def test_a_call_reports_its_rows(self) -> None:
        """Changes are reported with key, before and after; updates with what differs only."""
        with self.opened() as sandbox:
            changes = self.call(
                sandbox,
                "INSERT INTO author (id, name) VALUES (3, 'Cy')",
                "UPDATE book SET title = 'Seas' WHERE id = 1",
                "DELETE FROM loan WHERE book_id = 1",
            )
            assert [change.to_json() for change in changes] == [
                {
                    "table": "author",
                    "op": "insert",
                    "key": {"id": 3},
                    "after": {"id": 3, "name": "Cy"},
                },
                {
                    "table": "book",
                    "op": "update",
                    "key": {"id": 1},
                    "before": {"title": "Sea"},
                    "after": {"title": "Seas"},
                },
                {
                    "table": "loan",
                    "op": "delete",
                    "key": {"book_id": 1, "due": "2026-01-10"},
                    "before": {"book_id": 1, "due": "2026-01-10", "note": None},
                },
            ]
            assert sandbox.diff().changes == changes

    def test_changes_stand_in_canonical_order(self) -> None:
        """By table and key, numbers by value, whatever the order of the statements."""
        with self.opened() as sandbox:
            self.call(
                sandbox,
                "UPDATE author SET name = 'Z' WHERE id = 10",
                "UPDATE author SET name = 'B' WHERE id = 2",
                "DELETE FROM loan",
            )
            keys = [
                (change.table, next(iter(change.key.values()))) for change in sandbox.diff().changes
            ]
            assert keys == [("author", 2), ("author", 10), ("loan", 1)]

    def test_calls_compose(self) -> None:
        """Over several calls only the net change remains, and nothing of what was undone."""
        with self.opened() as sandbox:
            before = sandbox.state_hash()
            self.call(sandbox, "INSERT INTO author (id, name) VALUES (3, 'Cy')")
            self.call(sandbox, "UPDATE author SET name = 'Dee' WHERE id = 3")
            assert [change.op for change in sandbox.diff().changes] == ["insert"]
            assert self.call(sandbox, "DELETE FROM author WHERE id = 3")[0].before == {
                "id": 3,
                "name": "Dee",
            }
            assert not sandbox.diff()
            self.call(sandbox, "UPDATE author SET name = 'Anna' WHERE id = 1")
            self.call(sandbox, "UPDATE author SET name = 'Ann' WHERE id = 1")
            assert not sandbox.diff()
            self.call(sandbox, "DELETE FROM book WHERE id = 3")
            self.call(
                sandbox, "INSERT INTO book (id, author_id, title, price) VALUES (3, 2, 'New', NULL)"
            )
            (change,) = sandbox.diff().changes
            assert (change.op, change.before, change.after) == (
                "update",
                {"title": "100%"},
                {"title": "New"},
            )
            self.call(sandbox, "UPDATE book SET title = '100%' WHERE id = 3")
            assert not sandbox.diff()
            assert sandbox.state_hash() == before

    def test_cascades_are_reported(self) -> None:
        """Rows that a foreign key takes with it are changes too."""
        with self.opened() as sandbox:
            changes = self.call(sandbox, "DELETE FROM author WHERE id = 1")
            assert [(change.table, change.op) for change in changes] == [
                ("author", "delete"),
                ("book", "delete"),
                ("book", "delete"),
            ]

    def test_a_table_without_key_is_reported(self) -> None:
        """Equal rows of a table without a primary key are told apart."""
        with self.opened() as sandbox:
            changes = self.call(sandbox, "INSERT INTO visit (line) VALUES ('first')")
            assert [(change.op, change.after) for change in changes] == [
                ("insert", {"line": "first"})
            ]
            self.call(sandbox, "DELETE FROM visit")
            assert [change.op for change in sandbox.diff().changes] == ["delete", "delete"]

    def test_an_exception_leaves_nothing(self) -> None:
        """A call that raises is undone as a whole."""
        with self.opened() as sandbox:
            try:
                with sandbox.transaction(Limits()) as transaction:
                    run(transaction.connection, "DELETE FROM loan")
                    raise ToolError("no")
            except ToolError:
                pass
            assert not sandbox.diff()
            assert self.ask(sandbox, "SELECT count(*) FROM loan") == [(1,)]

    def test_rollback_leaves_nothing(self) -> None:
        """A transaction told to roll back is undone, though no exception leaves its block."""
        with self.opened() as sandbox:
            with sandbox.transaction(Limits()) as transaction:
                run(transaction.connection, "DELETE FROM loan")
                transaction.rollback()
            assert transaction.changes == ()
            assert not sandbox.diff()

    def test_a_failing_statement_undoes_the_call(self) -> None:
        """An error of the database undoes the statements before it as well."""
        with self.opened() as sandbox:
            category = self.refused(
                sandbox, "DELETE FROM loan", "INSERT INTO author (id, name) VALUES (1, 'x')"
            )
            assert category is ErrorCategory.UNIQUE_VIOLATION
            assert not sandbox.diff()

    def test_nested_blocks(self) -> None:
        """An executor's ``begin_nested()`` undoes its own part, and the call goes on."""
        with self.opened() as sandbox:
            with sandbox.transaction(Limits()) as transaction:
                db = transaction.connection
                run(db, "INSERT INTO visit (line) VALUES ('kept')")
                try:
                    with db.begin_nested():
                        run(db, "DELETE FROM visit")
                        run(db, "INSERT INTO author (id, name) VALUES (1, 'x')")
                except DBAPIError:
                    run(db, "INSERT INTO author (id, name) VALUES (4, 'Di')")
            assert [(change.table, change.op) for change in transaction.changes] == [
                ("author", "insert"),
                ("visit", "insert"),
            ]

    def test_an_executors_commit_is_contained(self) -> None:
        """``db.commit()`` keeps work against ``db.rollback()``; it goes when the call fails."""
        with self.opened() as sandbox:
            with sandbox.transaction(Limits()) as transaction:
                db = transaction.connection
                run(db, "INSERT INTO author (id, name) VALUES (3, 'Cy')")
                db.commit()
                run(db, "INSERT INTO author (id, name) VALUES (4, 'Di')")
                db.rollback()
                run(db, "INSERT INTO author (id, name) VALUES (5, 'Ed')")
            assert [change.key for change in transaction.changes] == [{"id": 3}, {"id": 5}]
            before = sandbox.state_hash()
            try:
                with sandbox.transaction(Limits()) as transaction:
                    run(transaction.connection, "DELETE FROM loan")
                    transaction.connection.commit()
                    raise ToolError("no")
            except ToolError:
                pass
            assert sandbox.state_hash() == before

    def test_an_executors_own_begin_is_contained(self) -> None:
        """``with db.begin():`` works inside a call, and does not outlive it."""
        with self.opened() as sandbox:
            with sandbox.transaction(Limits()) as transaction:
                with transaction.connection.begin():
                    run(transaction.connection, "INSERT INTO author (id, name) VALUES (3, 'Cy')")
                with transaction.connection.begin() as block:
                    run(transaction.connection, "DELETE FROM loan")
                    block.rollback()
            assert [change.table for change in transaction.changes] == ["author"]

    def test_transactions_by_text_are_refused(self) -> None:
        """SQL cannot end, begin or split the call's transaction."""
        for words in ("COMMIT", "ROLLBACK", "BEGIN", "SAVEPOINT mine"):
            with self.opened() as sandbox:
                category = self.refused(sandbox, "DELETE FROM loan", words)
                assert category is ErrorCategory.PERMISSION_DENIED, words
                assert not sandbox.diff(), words

    def test_schema_changes_are_refused(self) -> None:
        """The schema is fixed: a row diff could not tell of its changes."""
        for words in (
            "CREATE TABLE x (a INTEGER)",
            "DROP TABLE visit",
            "ALTER TABLE visit ADD COLUMN x INTEGER",
        ):
            with self.opened() as sandbox:
                assert self.refused(sandbox, words) is ErrorCategory.PERMISSION_DENIED, words

    def test_read_only_calls_cannot_write(self) -> None:
        """A read-only call refuses every write, also one that an earlier call was allowed."""
        with self.opened() as sandbox:
            statements = (
                "UPDATE author SET name = 'Anna' WHERE id = 1",
                "INSERT INTO visit (line) VALUES ('x')",
                "DELETE FROM loan",
            )
            for statement in statements:
                self.call(sandbox, statement)
            before = sandbox.state_hash()
            for statement in statements:
                category = self.refused(sandbox, statement, limits=Limits(read_only=True))
                assert category is ErrorCategory.PERMISSION_DENIED, statement
            assert sandbox.state_hash() == before
            assert self.call(sandbox, "INSERT INTO visit (line) VALUES ('y')")

    def test_rows_past_the_limit_are_an_error(self) -> None:
        """Fetching more rows than a call may is refused in every style of fetching, fewer not."""
        limits = Limits(max_rows=2)
        with self.opened() as sandbox:
            query = text("SELECT id FROM author ORDER BY id")
            with sandbox.transaction(limits) as transaction:
                assert [row[0] for row in transaction.connection.execute(query).fetchmany(2)] == [
                    1,
                    2,
                ]
                assert transaction.connection.execute(
                    text("SELECT id FROM author WHERE id < 10")
                ).all()
            for style in ("all", "one by one", "many"):
                assert (
                    self._fetching(sandbox, query, limits, style) is ErrorCategory.LIMIT_EXCEEDED
                ), style

    def _fetching(
        self, sandbox: Sandbox, query: TextClause, limits: Limits, style: str
    ) -> ErrorCategory | None:
        try:
            with sandbox.transaction(limits) as transaction:
                result = transaction.connection.execute(query)
                if style == "all":
                    result.all()
                elif style == "many":
                    result.fetchmany(3)
                else:
                    for _ in range(3):
                        result.fetchone()
        except DBAPIError as error:
            return classify(error, sandbox.dialect)
        return None

    def test_a_slow_statement_is_cut(self) -> None:
        """A statement past its time ends with an error, and the sandbox lives on."""
        with self.opened() as sandbox:
            limits = Limits(statement_timeout_ms=50)
            assert (
                self.refused(sandbox, "DELETE FROM loan", self.slow, limits=limits)
                is ErrorCategory.TIMEOUT
            )
            assert not sandbox.diff()
            assert self.ask(sandbox, "SELECT count(*) FROM loan") == [(1,)]

    def test_errors_have_their_category(self) -> None:
        """The same mistake is the same category on every engine."""
        mistakes = {
            "SELECT nme FROM author": ErrorCategory.COLUMN_NOT_FOUND,
            "SELECT 1 FROM writer": ErrorCategory.TABLE_NOT_FOUND,
            "SELEC 1": ErrorCategory.SYNTAX_ERROR,
            (
                "SELECT id FROM author JOIN book ON author.id = book.author_id"
            ): ErrorCategory.JOIN_ERROR,
            "INSERT INTO author (id, name) VALUES (3, 'Ann')": ErrorCategory.UNIQUE_VIOLATION,
            (
                "INSERT INTO book (id, author_id, title) VALUES (9, 99, 'x')"
            ): ErrorCategory.FK_VIOLATION,
            "INSERT INTO author (id, name) VALUES (3, NULL)": ErrorCategory.NOT_NULL_VIOLATION,
            "UPDATE book SET price = -1 WHERE id = 1": ErrorCategory.CHECK_VIOLATION,
            "SELECT title FROM book WHERE max(price) > 1": ErrorCategory.AGGREGATION_ERROR,
        }
        with self.opened() as sandbox:
            for sql, category in mistakes.items():
                assert self.refused(sandbox, sql) is category, sql

    def test_sandboxes_are_apart(self) -> None:
        """Two sandboxes of one template do not see each other, nor does the template see them."""
        with (
            self.template() as template,
            template.open(Pins()) as one,
            template.open(Pins()) as other,
        ):
            self.call(one, "DELETE FROM loan")
            assert self.ask(other, "SELECT count(*) FROM loan") == [(1,)]
            with template.open(Pins()) as third:
                assert self.ask(third, "SELECT count(*) FROM loan") == [(1,)]

    def test_state_hash_names_the_rows(self) -> None:
        """Equal rows by different ways hash alike; different rows do not."""
        with (
            self.template() as template,
            template.open(Pins()) as one,
            template.open(Pins()) as other,
        ):
            self.call(
                one,
                "UPDATE author SET name = 'A' WHERE id = 1",
                "UPDATE author SET name = 'B' WHERE id = 2",
            )
            self.call(other, "UPDATE author SET name = 'B' WHERE id = 2")
            assert one.state_hash() != other.state_hash()
            self.call(other, "UPDATE author SET name = 'X' WHERE id = 1")
            self.call(other, "UPDATE author SET name = 'A' WHERE id = 1")
            assert one.state_hash() == other.state_hash()

    def test_a_fork_goes_its_own_way(self) -> None:
        """A fork starts with the rows and the diff of its origin; then neither sees the other."""
        with self.opened() as sandbox:
            self.call(sandbox, "UPDATE author SET name = 'A' WHERE id = 1")
            with sandbox.fork() as fork:
                assert fork.diff() == sandbox.diff()
                assert fork.state_hash() == sandbox.state_hash()
                self.call(fork, "UPDATE author SET name = 'Ann' WHERE id = 1")
                assert not fork.diff()
                assert sandbox.diff()

    def test_the_clock_is_pinned(self) -> None:
        """CURRENT_TIMESTAMP is the pinned time, each sandbox its own."""
        if not self.pins_clock:
            return
        with (
            self.template() as template,
            template.open(Pins(now="2031-02-03T04:05:06")) as one,
            template.open(Pins(now="2032-01-01T00:00:00")) as other,
        ):
            assert str(self.ask(one, "SELECT CURRENT_TIMESTAMP")[0][0]).startswith(
                "2031-02-03 04:05:06"
            )
            assert str(self.ask(other, "SELECT CURRENT_TIMESTAMP")[0][0]).startswith(
                "2032-01-01 00:00:00"
            )

    def test_unordered_changes_no_rows(self) -> None:
        """A sandbox that reverses unordered queries holds the same rows."""
        with self.opened(unordered=True) as sandbox:
            assert self.ask(sandbox, "SELECT id FROM author ORDER BY id") == [(1,), (2,), (10,)]
            assert sorted(self.ask(sandbox, "SELECT id FROM author"), key=repr) == [
                (1,),
                (10,),
                (2,),
            ]

    def test_closing(self) -> None:
        """Closing twice is fine; a closed sandbox says so."""
        with self.template() as template:
            sandbox = template.open(Pins())
            sandbox.close()
            sandbox.close()
            try:
                sandbox.diff()
            except SandboxError:
                pass
            else:
                raise AssertionError("a closed sandbox gave a diff")
        template.close()
