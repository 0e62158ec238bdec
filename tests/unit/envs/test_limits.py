"""Limits of a call: a tool only tightens its environment's, and none lasts beyond its call."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from envs.types import Limits, Pins
from tests.servers import template_of

SOME = (None, 1, 50, 30_000)
NUMBERS = ("statement_timeout_ms", "max_rows", "max_result_bytes")
TIMEOUT = {"postgresql": "SHOW statement_timeout", "mariadb": "SELECT @@max_statement_time"}
"""What an engine's session says of its time limit; SQLite has none."""


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize(("given", "own"), [*itertools.product(SOME, SOME)])
def test_a_tool_only_tightens(name: str, given: int | None, own: int | None):
    limits = Limits(**{name: given})
    found = getattr(limits.tightened(Limits(**{name: own})), name)
    known = [value for value in (given, own) if value is not None]
    assert found == (min(known) if known else None)


@pytest.mark.parametrize(("given", "own"), [*itertools.product((False, True), repeat=2)])
def test_a_tool_of_a_read_only_environment_only_reads(*, given: bool, own: bool):
    assert Limits(read_only=given).tightened(Limits(read_only=own)).read_only is (given or own)


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [0, -5])
def test_a_limit_of_nothing_is_refused(name: str, value: int):
    """A driver reads 0 as no limit at all."""
    with pytest.raises(ValueError, match=f"{name} must be positive, not {value}"):
        Limits(**{name: value})


@pytest.mark.parametrize("engine", ["sqlite", "postgresql", "mariadb"])
@pytest.mark.parametrize("failing", [False, True], ids=["after a result", "after an error"])
def test_a_limit_of_one_call_is_not_the_next_ones(engine: str, *, failing: bool):
    rows = ("CREATE TABLE t (a INTEGER PRIMARY KEY)", "INSERT INTO t VALUES (1)")

    def limit(transaction: Any) -> Any:
        if engine not in TIMEOUT:
            return None
        return transaction.connection.execute(text(TIMEOUT[engine])).scalar()

    with template_of(engine, rows) as template, template.open(Pins()) as sandbox:
        with sandbox.transaction(Limits()) as transaction:
            usual = limit(transaction)
        tight = Limits(read_only=True, statement_timeout_ms=7_777)
        try:
            with sandbox.transaction(tight) as transaction:
                assert limit(transaction) != usual or engine not in TIMEOUT
                transaction.connection.execute(text("SELECT a FROM t"))
                if failing:
                    transaction.connection.execute(text("INSERT INTO t VALUES (2)"))
        except DBAPIError:
            assert failing
        else:
            assert not failing
        with sandbox.transaction(Limits()) as transaction:
            assert limit(transaction) == usual
            transaction.connection.execute(text("INSERT INTO t VALUES (3)"))
            found = transaction.connection.execute(text("SELECT a FROM t ORDER BY a")).all()
    assert [one for (one,) in found] == [1, 3]
