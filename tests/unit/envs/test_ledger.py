"""The account of an input: used, changed, left out, and counted against the source."""

from __future__ import annotations

import doctest
from collections.abc import Callable

import pytest

from envs import ledger
from envs.ledger import Ledger


def test_the_example_of_the_docstring_holds():
    assert doctest.testmod(ledger).failed == 0


def test_a_part_that_nobody_accounted_for_is_an_error():
    account = Ledger()
    account.found("row", 10)
    account.use("row", 7)
    account.leave_out("row", "orders", "over --rows 7", 2)
    with pytest.raises(AssertionError, match="10 rows came in and 9 are accounted for"):
        account.check()
    account.change("row", "orders", "its date is text", 1)
    account.check()


def test_a_part_that_is_accounted_for_twice_is_an_error():
    account = Ledger()
    account.found("key")
    account.use("key")
    account.leave_out("key", "a.b", "refers to no table")
    with pytest.raises(AssertionError, match="1 keys came in and 2"):
        account.check()


@pytest.mark.parametrize("account_for", [Ledger.leave_out, Ledger.change])
def test_a_kind_that_was_never_counted_is_an_error(account_for: Callable[..., None]):
    account = Ledger()
    account_for(account, "trigger", "t", "a world has the rows only")
    with pytest.raises(AssertionError, match="0 triggers came in and 1 are accounted for"):
        account.check()


def test_the_summary_groups_by_reason_and_is_bounded():
    account = Ledger()
    account.found("query", 30)
    for number in range(30):
        account.leave_out("query", f"q{number}", "it is empty" if number < 25 else f"r{number}")
    lines = list(account.lines(most=3))
    assert lines[:2] == [
        "queries: 0 of 30 used",
        "  left out q0, q1, q2, q3 and 21 more: it is empty",
    ]
    assert lines[-1] == "  and 3 more reasons"


def test_accounts_of_parts_add_up_and_are_plain_data():
    whole, part = Ledger(), Ledger()
    part.found("table", 2)
    part.use("table")
    part.leave_out("table", "x", "a virtual table")
    whole.add(part)
    whole.add(part)
    whole.check()
    assert whole.to_json()["counts"] == {
        "table": {"found": 4, "used": 2, "changed": 0, "left_out": 2}
    }
