"""Other orders of gold's calls keep what a call needs before it."""

from __future__ import annotations

from envs.types import RowChange
from synth.core.types.steps import CallStep, LoopStep, ReplyStep, Step
from synth.core.validation.honest.writing import (
    CallKinds,
    overlapping,
    reads_reversed,
    writes_reversed,
)
from synth.rewards import CallRecord

KINDS = CallKinds({"find", "list"}, {"book", "pay"})
ADA = CallStep("find", {"name": "Ada"}, {"ada": "$.id"})
ROOMS = CallStep("list", {}, {"room": "$.rooms[0]"})
VISITS = CallStep("find", {"id": {"$": "ada"}}, {"visit": "$.visit"})
BOOK = CallStep("book", {"who": {"$": "ada"}}, {"booking": "$.id"})
PAY = CallStep("pay", {"who": {"$": "ada"}, "cents": 5})
PAY_BOOKING = CallStep("pay", {"booking": {"$": "booking"}})
OTHER = CallStep("print", {})


def test_reads_change_places_but_not_with_one_that_they_need():
    assert reads_reversed([ADA, ROOMS, BOOK], KINDS) == [ROOMS, ADA, BOOK]
    assert reads_reversed([ADA, VISITS], KINDS) == [ADA, VISITS]
    assert reads_reversed([ADA, VISITS, ROOMS], KINDS) == [ROOMS, ADA, VISITS]


def test_reads_do_not_pass_a_write():
    assert reads_reversed([ADA, BOOK, ROOMS], KINDS) == [ADA, BOOK, ROOMS]


def test_reads_come_first_and_writes_in_reverse():
    assert writes_reversed([ADA, BOOK, ROOMS, PAY], KINDS) == [ADA, ROOMS, PAY, BOOK]


def test_a_write_stays_behind_one_whose_result_it_needs_or_whose_rows_it_changes():
    assert writes_reversed([ADA, BOOK, PAY_BOOKING], KINDS) == [ADA, BOOK, PAY_BOOKING]
    assert writes_reversed([ADA, BOOK, PAY], KINDS, {("pay", "book")}) == [ADA, BOOK, PAY]


def test_words_and_tools_of_no_known_kind_are_passed_by_nothing():
    for wall in (ReplyStep("Now I pay."), OTHER):
        steps: list[Step] = [ADA, BOOK, wall, PAY]
        assert writes_reversed(steps, KINDS) == steps


def test_loops_are_reordered_inside():
    loop = LoopStep("room", [1], [BOOK, PAY])
    assert writes_reversed([loop], KINDS) == [LoopStep("room", [1], [PAY, BOOK])]


def test_calls_that_change_one_row_overlap():
    row = RowChange("bookings", "update", {"id": 1}, {"paid": 0}, {"paid": 1})
    other = RowChange("bookings", "update", {"id": 2}, {"paid": 0}, {"paid": 1})
    calls = [
        CallRecord(name, {}, True, None, False, [change])
        for name, change in (("book", row), ("pay", row), ("cancel", other))
    ]
    assert overlapping(calls) == {("pay", "book"), ("book", "pay")}
