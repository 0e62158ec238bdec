"""Arguments that an agent works out, and others that only look like it."""

from __future__ import annotations

import pytest

from envs.types import RowChange
from synth.ext.action_lists.inference import _is_day, multiple_of_policy, names_something
from synth.ext.action_lists.support import supported
from synth.ext.action_lists.values import said_days, said_values

SEEN = "the time is 2024-05-15. i fly on may 20 and pay 54.5."


@pytest.mark.parametrize(
    ("day", "follows"),
    [
        *(("2024-05-20", True), ("2024-05-21", False), ("2025-05-20", False), ("May 20", False)),
        *(("05/20/2024", True), ("05/21/2024", False)),
    ],
)
def test_a_day_follows_from_a_day_and_a_year_that_were_named(day: str, follows: bool):
    assert _is_day(day, SEEN) is follows


@pytest.mark.parametrize(
    ("name", "value", "follows"),
    [("amount", 150, True), ("amount", 145, False), ("room", 150, False), ("amount", 48, False)],
)
def test_an_amount_may_be_a_multiple_of_one_in_the_policy(name: str, value: int, follows: bool):
    assert multiple_of_policy(name, value, "Offer 50 for each, until 24:30.") is follows


def test_a_name_tells_whether_a_number_names_a_thing():
    assert names_something("passengers[].user_id")
    assert not names_something("total_baggages")


def test_values_are_found_in_what_is_said():
    found = {
        value.value: value.shape for value in said_values("It is Ada Kern, #W12, a@b.org.", "")
    }
    wanted = {"Ada": "name", "Ada Kern": "name", "#W12": "id", "a@b.org": "email"}
    assert wanted.items() <= found.items()
    days = [value.value for value in said_days("on 3 March, or 12 April 2026", [2024], "")]
    assert days == ["2024-03-03", "2026-04-12"]


RESULTS = [
    {
        "lines": [
            {"item": "a1", "price": 10.25, "state": "kept"},
            {"item": "b2", "price": 20.5, "state": "kept"},
            {"item": "c3", "price": 99.0, "state": "sold"},
        ]
    }
]


@pytest.mark.parametrize(
    ("output", "there"),
    [
        ("20.50", True),
        ("$99", True),
        ("3", True),
        ("2", True),
        ("129.75", True),
        ("30.75", True),
        ("10.25", True),
        ("5", False),
        ("109.25", False),
        ("sold out", False),
    ],
)
def test_an_output_is_in_the_results_or_follows_from_them(output: str, there: bool):
    """30.75 is the sum of the two items that gold acts on; 109.25 adds another one."""
    assert supported(output, RESULTS, ["a1", "b2"]) is there


PAID = [
    RowChange("payments", "insert", {"id": number}, None, {"id": number, "card": card, "sum": sum_})
    for number, card, sum_ in [(7, "visa", -20.5), (8, "visa", -30), (9, "gift", 4)]
] + [RowChange("orders", "update", {"id": 1}, {"total": 9}, {"total": 3})]


@pytest.mark.parametrize(
    ("output", "there"), [("50.5", True), ("46.50", True), ("6", True), ("7", False)]
)
def test_an_output_adds_up_over_what_gold_changes(output: str, there: bool):
    """50.5 went to one card, 46.5 is the sum of all payments, and a total fell by 6."""
    assert supported(output, [], [], PAID) is there
