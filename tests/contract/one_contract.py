"""Contract tests of what engines do differently by themselves: an executor sees no difference."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from envs.environments.database import DatabaseExecutableEnvironment
from envs.sql_errors.classify import classify
from envs.testing.sandbox_conformance import SandboxConformance, run
from envs.tools.tool import Tool
from envs.tools.toolbox import Toolbox
from envs.types import ErrorCategory, Limits, ToolCall, ToolResult

TAKEN = "INSERT INTO author (id, name) VALUES (1, 'x')"
MANY = (
    "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 300)"
    " SELECT a.x FROM n a, n b, n c"
)
"""27 million rows."""


def _refused(db: Connection, sql: str) -> str:
    try:
        run(db, sql)
    except IntegrityError:
        return "taken"
    except DBAPIError as error:
        return type(error).__name__
    return "done"


class OneContractTests(SandboxConformance):
    """The same executor and the same query on each engine."""

    def test_an_executor_may_catch_an_error_of_its_statement(self) -> None:
        """The statement is undone by itself: what came before and what comes after it stays."""
        with self.opened() as sandbox:
            with sandbox.transaction(Limits()) as transaction:
                db = transaction.connection
                answers = [
                    _refused(db, TAKEN),
                    _refused(db, "INSERT INTO visit (line) VALUES ('before')"),
                    _refused(db, TAKEN),
                    _refused(db, "INSERT INTO author (id, name) VALUES (8, 'Hal'), (1, 'x')"),
                    _refused(db, "INSERT INTO visit (line) VALUES ('after')"),
                ]
                try:
                    run(db, "SELECT nme FROM author")
                except DBAPIError as error:
                    answers.append(classify(error, sandbox.dialect))
                rows = db.execute(text("SELECT count(*) FROM visit")).scalar_one()
            assert answers == ["taken", "done", "taken", "taken", "done", "column_not_found"]
            assert rows == 4
            assert [(change.table, change.op) for change in transaction.changes] == [
                ("visit", "insert"),
                ("visit", "insert"),
            ]
            assert self.ask(sandbox, "SELECT count(*) FROM author") == [(3,)]

    def test_an_error_is_caught_in_nested_blocks_and_after_a_commit(self) -> None:
        """An executor's savepoints and commits stand beside those that undo a statement."""
        with self.opened() as sandbox:
            with sandbox.transaction(Limits()) as transaction:
                db = transaction.connection
                run(db, "INSERT INTO visit (line) VALUES ('first')")
                with db.begin_nested():
                    assert _refused(db, TAKEN) == "taken"
                    run(db, "INSERT INTO visit (line) VALUES ('inner')")
                    assert _refused(db, TAKEN) == "taken"
                block = db.begin_nested()
                run(db, "DELETE FROM loan")
                assert _refused(db, TAKEN) == "taken"
                block.rollback()
                db.commit()
                run(db, "DELETE FROM loan")
                assert _refused(db, TAKEN) == "taken"
                db.rollback()
                assert _refused(db, TAKEN) == "taken"
                run(db, "INSERT INTO visit (line) VALUES ('last')")
            assert [(change.table, change.op) for change in transaction.changes] == [
                ("visit", "insert")
            ] * 3
            with sandbox.transaction(Limits(read_only=True)) as transaction:
                db = transaction.connection
                with db.begin_nested():
                    assert _refused(db, "SELECT nme FROM author") != "done"
                assert db.execute(text("SELECT count(*) FROM visit")).scalar_one() == 5

    def test_a_result_of_millions_of_rows_gives_the_first(self) -> None:
        """A call that only reads gets the first ``max_rows``, and asking for more is refused; the
        limit reaches the server, and the call goes on.
        """
        limits = Limits(read_only=True, max_rows=7, statement_timeout_ms=20_000)
        with self.opened() as sandbox:
            with sandbox.transaction(limits) as transaction:
                db = transaction.connection
                result = db.execute(text(MANY))
                assert len(result.fetchmany(7)) == 7
                category: str | None = None
                try:
                    result.fetchone()
                except DBAPIError as error:
                    category = classify(error, sandbox.dialect)
                assert category == ErrorCategory.LIMIT_EXCEEDED
                result.close()
                assert db.execute(text("SELECT count(*) FROM author")).scalar_one() == 3
            assert not sandbox.diff()

    def test_values_of_the_database_are_json_in_a_result(self) -> None:
        """What a driver returns goes into a tool's result as it stands."""

        def look(arguments: dict[str, object], db: Connection) -> ToolResult:
            row = db.execute(text("SELECT * FROM book WHERE id = 1")).mappings().one()
            extra = [decimal.Decimal("2.50"), uuid.UUID(int=7), dt.date(2026, 1, 2), b"x"]
            return ToolResult({"row": row, "price": row["price"], "values": extra})

        parameters: dict[str, object] = {"type": "object"}
        toolbox = Toolbox([Tool("look", "Look.", parameters, look, read_only=True)])
        with self.opened() as sandbox:
            environment = DatabaseExecutableEnvironment(toolbox, sandbox, {})
            result = environment.call(ToolCall.of("look", {})).result
            assert result.ok
            assert result.output["row"]["title"] == "Sea"
            assert float(result.output["price"]) == 10
            assert result.output["values"] == [
                "2.50",
                "00000000-0000-0000-0000-000000000007",
                "2026-01-02",
                {"$bytes": "eA=="},
            ]
