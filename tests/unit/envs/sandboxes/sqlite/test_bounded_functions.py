"""Functions that take the product of their arguments' lengths: bounded in place, and SQLite's own
to the last byte.
"""

from __future__ import annotations

import threading
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.exc import DBAPIError

from envs.sandboxes.sqlite.bounded_functions import BoundedFunctions
from envs.sandboxes.sqlite.guard import SqliteGuard
from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.sql_errors.classify import classify
from envs.types import ErrorCategory, Limits, Pins

LONG = "replace(hex(zeroblob(60000)), '0', '{}')"
ATTACKS = {
    "instr": "SELECT " + ", ".join(["instr(zeroblob(240000), zeroblob(120000) || x'01')"] * 60),
    "trim": "SELECT " + ", ".join([f"trim({LONG.format('a')}, {LONG.format('b')} || 'a')"] * 60),
    "unhex": f"SELECT unhex({LONG.format('z')}, {LONG.format('b')} || 'z')",
    "json_patch": "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 9000),"
    " a AS MATERIALIZED (SELECT json_group_object('k' || x, 1) AS j FROM n),"
    " b AS MATERIALIZED (SELECT json_group_object('j' || x, 1) AS j FROM n) SELECT "
    + ", ".join(["length(json_patch(a.j, b.j))"] * 60)
    + " FROM a, b",
    "LIKE": f"SELECT {', '.join(['x LIKE p'] * 60)} FROM"
    f" (SELECT {LONG.format('a')} AS x, '%' || substr({LONG.format('a')}, 1, 480) || 'b' AS p)",
    "endless": "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n",
}


def test_the_watchdog_ends_what_the_progress_handler_does_not(monkeypatch: pytest.MonkeyPatch):
    """Between two looks of the handler there may be many rows with costly functions."""
    monkeypatch.setattr(SqliteGuard, "overdue", lambda self: False)
    assert ends_of("endless") == [ErrorCategory.TIMEOUT]


@pytest.mark.parametrize("name", ATTACKS)
def test_columns_of_costly_functions_end_with_their_time(name: str):
    ends = ends_of(name)
    if name in {"json_patch", "LIKE"}:
        assert ends == [ErrorCategory.PERMISSION_DENIED]
    elif name == "unhex":
        assert ends == [ErrorCategory.LIMIT_EXCEEDED]
    else:
        # In linear time it may well be done.
        assert {*ends} <= {ErrorCategory.TIMEOUT, ErrorCategory.LIMIT_EXCEEDED}


def ends_of(name: str) -> list[ErrorCategory]:
    """How the attack ended, within a minute."""
    ends: list[ErrorCategory] = []

    def attack() -> None:
        with SqliteTemplate.build(lambda db: None) as made, made.open(Pins()) as sandbox:
            try:
                with sandbox.transaction(Limits(statement_timeout_ms=300)) as transaction:
                    transaction.connection.exec_driver_sql(ATTACKS[name]).all()
            except DBAPIError as error:
                ends.append(classify(error))

    running = threading.Thread(target=attack, daemon=True)
    running.start()
    running.join(60)
    assert not running.is_alive(), "the statement goes on after its time"
    return ends


VALUES = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.sampled_from("ab 0é\U0001f600A1"), max_size=8),
    st.binary(max_size=6),
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=6),
)


@given(st.sampled_from(["instr", "trim", "ltrim", "rtrim", "unhex"]), VALUES, VALUES)
def test_of_two_arguments_the_results_are_sqlites_own(name: str, first: Any, second: Any):
    _equal(name, first, second)


@given(VALUES, VALUES, VALUES)
def test_replace_is_sqlites_own(first: Any, second: Any, third: Any):
    _equal("replace", first, second, third)


def _equal(name: str, *values: Any) -> None:
    ours, own = apsw.Connection(":memory:"), apsw.Connection(":memory:")
    BoundedFunctions(lambda: False, 250_000).install(ours)
    sql = f"SELECT r, typeof(r) FROM (SELECT {name}({', '.join('?' * len(values))}) AS r)"
    results: list[Any] = []
    for connection in (ours, own):
        try:
            results.append(connection.execute(sql, values).fetchall())
        except (apsw.Error, UnicodeDecodeError) as error:
            results.append(type(error))
        finally:
            connection.close()
    assert results[0] == results[1]
