"""Cursors over apsw: what is kept between statements and rows never shows, neither in a guard nor
in a result.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from envs.sandboxes.sqlite import dbapi as apsw_dbapi
from envs.sandboxes.sqlite.guard import SqliteGuard
from envs.sandboxes.sqlite.sandbox import SqliteSandbox, SqliteTemplate
from envs.types import Limits, Pins

SCRIPT = """
CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT);
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO t SELECT i, 'x' || i FROM n;
"""
ALL = text("SELECT a, b FROM t ORDER BY a")
POINT = text("SELECT y.b FROM t x JOIN t y ON y.a = x.a WHERE x.a = :a ORDER BY y.a")


@pytest.fixture
def sandbox() -> Iterator[SqliteSandbox]:
    with (
        SqliteTemplate.build(lambda db: db.executescript(SCRIPT)) as template,
        template.open(Pins()) as opened,
    ):
        yield opened


class TestStatements:
    @pytest.mark.parametrize(
        "sql",
        [
            "BEGIN",
            "COMMIT",
            "ROLLBACK",
            'SAVEPOINT "envs_unit"',
            'RELEASE "envs_unit"',
            'ROLLBACK TO "envs_unit"',
        ],
    )
    def test_the_sandbox_s_own_are_never_lent(self, sandbox: SqliteSandbox, sql: str) -> None:
        """What the sandbox has compiled for itself is on hand, and yet refused to the SQL of a
        call.
        """
        for _ in range(3):
            with sandbox.transaction(Limits()) as transaction:
                db = transaction.connection
                db.rollback()
                db.commit()
                db.execute(text("DELETE FROM t WHERE a = 1"))
                db.rollback()
                db.execute(text("DELETE FROM t WHERE a = 2"))
                db.commit()
                with pytest.raises(DBAPIError, match="not authorized"):
                    db.execute(text(sql))
                transaction.rollback()
        assert not sandbox.diff()

    def test_other_parameters_compile_nothing(
        self, sandbox: SqliteSandbox, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """SQLite asks the authorizer when it compiles a statement."""
        asked: list[int] = []
        before = SqliteGuard.authorize

        def authorize(self: SqliteGuard, action: int, *names: str | None) -> int:
            asked.append(action)
            return before(self, action, *names)  # pyright: ignore[reportCallIssue]

        monkeypatch.setattr(SqliteGuard, "authorize", authorize)
        counts: list[int] = []
        for a in (3, 4, 5):
            asked.clear()
            with sandbox.transaction(Limits()) as transaction:
                assert transaction.connection.execute(POINT, {"a": a}).scalar_one() == f"x{a}"
            counts.append(len(asked))
        assert counts[0] > 0
        assert counts[1:] == [0, 0]

    def test_one_that_was_seen_before_gives_the_same(self, sandbox: SqliteSandbox) -> None:
        """Columns, rows and counts, the second time and the hundredth."""
        for sql, columns, rows, count in (
            ("SELECT a, b AS c FROM t WHERE a < 3", ["a", "c"], 2, -1),
            ("UPDATE t SET b = 'y' WHERE a < 3", [], 0, 2),
            ("UPDATE t SET b = 'z' WHERE a < 3 RETURNING a", ["a"], 2, 2),
            ("SELECT 1 AS n -- a comment behind it\n;", ["n"], 1, -1),
        ):
            for _ in range(3):
                with sandbox.transaction(Limits()) as transaction:
                    cursor = transaction.connection.connection.cursor()
                    cursor.execute(sql)
                    assert [each[0] for each in cursor.description or ()] == columns
                    assert len(cursor.fetchall()) == rows
                    assert cursor.rowcount == count

    def test_more_than_are_remembered(
        self, sandbox: SqliteSandbox, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(apsw_dbapi, "KNOWN", 2)
        with sandbox.transaction(Limits()) as transaction:
            for number in [*range(5), *range(5)]:
                found = (
                    transaction.connection.exec_driver_sql(f"SELECT {number} AS n{number}")
                    .mappings()
                    .one()
                )
                assert dict(found) == {f"n{number}": number}


class TestColumns:
    def test_one_text_over_tables_of_other_columns(self) -> None:
        """Worlds of one process share what is kept of a statement; each has the columns that its
        own table has.
        """
        every = text("SELECT * FROM t WHERE 1 = :one")
        shapes = [
            ("a", "b"),
            ("b", "a"),
            ("c",),
            ("a", "b", "c"),
            *((f"d{at}",) for at in range(10)),
        ]
        scripts = [
            (
                f"CREATE TABLE t ({', '.join(each)}); INSERT INTO t VALUES"
                f" ({', '.join('12345'[: len(each)])});"
            )
            for each in shapes
        ]
        templates = [
            SqliteTemplate.build(lambda db, script=script: db.executescript(script))
            for script in scripts
        ]
        for _ in range(3):
            for template, names in zip(templates, shapes, strict=True):
                with template.open(Pins()) as opened, opened.transaction(Limits()) as transaction:
                    row = transaction.connection.execute(every, {"one": 1}).mappings().one()
                assert list(row.items()) == list(zip(names, (1, 2, 3), strict=False))

    def test_columns_of_one_name(self, sandbox: SqliteSandbox) -> None:
        for _ in range(3):
            with sandbox.transaction(Limits()) as transaction:
                found = transaction.connection.execute(text("SELECT a, b AS a FROM t WHERE a = 1"))
                assert list(found.keys()) == ["a", "a"]
                assert [tuple(row) for row in found] == [(1, "x1")]

    def test_columns_that_the_author_names(self, sandbox: SqliteSandbox) -> None:
        """With types of their own, and by position."""
        for _ in range(3):
            with sandbox.transaction(Limits()) as transaction:
                db = transaction.connection
                assert db.execute(text("SELECT a FROM t WHERE a = 1")).mappings().one() == {"a": 1}
                typed = (
                    db.execute(text("SELECT a FROM t WHERE a = 1").columns(a=sa.Boolean))
                    .mappings()
                    .one()
                )
                assert typed["a"] is True


class TestRows:
    def test_every_way_of_fetching_gives_every_row(self, sandbox: SqliteSandbox) -> None:
        """Alone, in turns, in parts and at once, within the limit and without one."""
        for limits in (
            Limits(max_rows=None),
            Limits(max_rows=500),
            Limits(statement_timeout_ms=None),
        ):
            with sandbox.transaction(limits) as transaction:
                raw = transaction.connection.connection.cursor()
                wanted = [(a, f"x{a}") for a in range(1, 501)]
                for size in (1, 3, 8, 9, 300):
                    raw.execute("SELECT a, b FROM t ORDER BY a")
                    rows = [raw.fetchone(), *raw.fetchmany(size), raw.fetchone()]
                    while part := raw.fetchmany(size):
                        rows += part
                    assert rows == wanted
                    raw.execute("SELECT a, b FROM t ORDER BY a")
                    assert [raw.fetchone(), *raw.fetchall()] == wanted
                    assert raw.fetchone() is None
                    assert list(raw.execute("SELECT a, b FROM t ORDER BY a")) == wanted

    def test_only_rows_that_are_asked_for_count(self, sandbox: SqliteSandbox) -> None:
        """What lies ready behind them does not."""
        with sandbox.transaction(Limits(max_rows=10)) as transaction:
            raw = transaction.connection.connection.cursor()
            for before in (0, 1, 5, 10):
                raw.execute("SELECT a FROM t")
                assert len([raw.fetchone() for _ in range(before)]) == before
                assert len(raw.fetchmany(10 - before)) == 10 - before
                with pytest.raises(apsw_dbapi.RowLimitError, match="more than 10 rows"):
                    raw.fetchone()
                raw = transaction.connection.connection.cursor()

    def test_the_bytes_of_rows_fetched_one_by_one_count(
        self, sandbox: SqliteSandbox, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(apsw_dbapi, "MAX_FETCHED", 300)
        with (
            sandbox.transaction(Limits()) as transaction,
            pytest.raises(DBAPIError, match="more than 300 characters"),
        ):
            for _ in transaction.connection.execute(ALL):
                pass

    def test_writing_to_a_table_that_is_being_read(self, sandbox: SqliteSandbox) -> None:
        with sandbox.transaction(Limits()) as transaction:
            seen = []
            for a, b in transaction.connection.execute(ALL):
                transaction.connection.execute(
                    text("UPDATE t SET b = 'y' || b WHERE a = :a"), {"a": a}
                )
                seen.append((a, b))
        assert seen == [(a, f"x{a}") for a in range(1, 501)]
        assert len(transaction.changes) == 500

    def test_rows_of_a_failed_statement_are_gone(self, sandbox: SqliteSandbox) -> None:
        """A cursor that ran one statement and failed at the next has nothing to give."""
        with sandbox.transaction(Limits()) as transaction:
            raw = transaction.connection.connection.cursor()
            raw.execute("SELECT a FROM t")
            with pytest.raises(apsw_dbapi.OperationalError):
                raw.execute("SELECT nothing FROM nowhere")
            assert raw.fetchone() is None
            assert raw.fetchall() == []
