"""Matching of net changes against an independent judge: every renaming of new rows' keys, tried out."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from envs.types import Column, RowChange, Table
from synth.verifiers.matching import compare

KEY = Column("id", "INTEGER", nullable=False, primary_key=True)
GROUP = ("groups", "id")
TABLES = {
    "groups": Table("groups", (KEY, Column("name", "TEXT"), Column("up", "INTEGER", references=GROUP)), ("id",)),
    "items": Table("items", (KEY, Column("group_id", "INTEGER", references=GROUP), Column("name", "TEXT")), ("id",)),
    "people": Table("people", (KEY, Column("group_id", "INTEGER", references=GROUP)), ("id",)),
    "rooms": Table("rooms", (KEY, Column("name", "TEXT")), ("id",)),
    "loose": Table("loose", (Column("id", "INT", primary_key=True), Column("name", "TEXT")), ("id",)),
    "tied": Table("tied", (KEY, Column("loose_id", "INT", references=("loose", "id"))), ("id",)),
}
LINKS = {"groups": "up", "items": "group_id", "people": "group_id"}


def insert(name: str, /, **row: Any) -> RowChange:
    return RowChange(name, "insert", {"id": row["id"]}, after=row)


def joins(person: int, group: int | None) -> RowChange:
    return RowChange("people", "update", {"id": person}, {"group_id": 7}, {"group_id": group})


def changes(draw: random.Random) -> list[RowChange]:
    def some() -> int | None:
        return draw.choice([10, 11, 12, 1, None])

    return [
        *(insert("groups", id=at, name=draw.choice("xy"), up=some()) for at in (10, 11, 12)),
        *(insert("items", id=at, group_id=some(), name=draw.choice("ab")) for at in (20, 21)),
        *(joins(at, some()) for at in (1, 2)),
    ]


def renamed(rows: Sequence[RowChange], names: Mapping[int, int]) -> list[RowChange]:
    out: list[RowChange] = []
    for each in rows:
        after = dict(each.after or {})
        after[LINKS[each.table]] = names.get(after[LINKS[each.table]], after[LINKS[each.table]])
        if each.op == "insert":
            after["id"] = names[after["id"]]
        out.append(RowChange(each.table, each.op, {"id": after.get("id", each.key["id"])}, each.before, after))
    return out


def every_renaming() -> list[dict[int, int]]:
    return [
        dict(zip((10, 11, 12, 20, 21), (*groups, *items), strict=True))
        for groups in itertools.permutations((10, 11, 12))
        for items in itertools.permutations((20, 21))
    ]


def as_set(rows: Sequence[RowChange]) -> set[str]:
    return {repr((each.table, each.op, sorted(each.key.items()), sorted((each.after or {}).items()))) for each in rows}


@pytest.mark.parametrize("seed", range(300))
def test_two_states_are_equal_exactly_when_some_renaming_makes_them_so(seed: int):
    draw = random.Random(seed)
    expected = changes(draw)
    actual = renamed(expected, draw.choice(every_renaming())) if seed % 3 else changes(draw)
    if seed % 3 == 1:
        at = draw.randrange(len(actual))
        link = {LINKS[actual[at].table]: draw.choice([10, 11, 12, None])}
        after = {**(actual[at].after or {}), **link}
        actual[at] = RowChange(actual[at].table, actual[at].op, actual[at].key, actual[at].before, after)
    judge = any(as_set(renamed(expected, names)) == as_set(actual) for names in every_renaming())
    assert compare(expected, actual, {}, TABLES).equal is judge


def test_updates_tell_identical_new_rows_apart_by_themselves():
    """Which of two equal new groups comes first is nobody's choice: the people say which is which."""
    groups = [insert("groups", id=at, name="x", up=None) for at in (10, 11)]
    expected = [*groups, joins(1, 10), joins(2, 11)]
    assert compare(expected, [*groups, joins(1, 11), joins(2, 10)], {}, TABLES).equal
    assert not compare(expected, [*groups, joins(1, 10), joins(2, 10)], {}, TABLES).equal


def test_a_hundred_equal_parents_are_told_apart_by_their_children():
    def state(order: Sequence[int]) -> list[RowChange]:
        out: list[RowChange] = []
        for place, at in enumerate(order):
            out.append(insert("groups", id=place, name="x", up=None))
            for child, kinds in enumerate((2, 3)):
                out.append(insert("items", id=1000 + 2 * place + child, group_id=place, name=str(at % kinds)))
        return out

    shuffled = random.Random(1).sample(range(100), 100)
    assert compare(state(range(100)), state(shuffled), {}, TABLES).equal
    assert not compare(state(range(100)), state([*shuffled[:-1], shuffled[-1] + 1]), {}, TABLES).equal


def test_a_key_whose_rule_is_exact_means_something():
    expected, actual = [insert("rooms", id=12, name="a")], [insert("rooms", id=99, name="a")]
    assert compare(expected, actual, {}, TABLES).equal
    assert not compare(expected, actual, {"rooms.id": "exact"}, TABLES).equal


def test_null_in_a_key_names_no_row():
    def state(key: int | None) -> list[RowChange]:
        row = RowChange("loose", "insert", {"rowid": 1}, after={"id": key, "name": "a"})
        return [row, insert("tied", id=1, loose_id=key)]

    assert compare(state(None), state(None), {}, TABLES).equal
    assert not compare(state(None), state(5), {}, TABLES).equal
    assert not compare(state(5), state(None), {}, TABLES).equal


def test_bytes_may_stand_in_keys_and_references():
    """SQLite takes any value in an INT column."""
    blob = {"$bytes": "AA=="}
    rows = [insert("loose", id=blob, name="a"), insert("items", id=1, group_id=blob, name="a")]
    assert compare(rows, rows, {}, TABLES).equal
    other = [insert("loose", id={"$bytes": "AQ=="}, name="a"), rows[1]]
    assert not compare(rows, other, {}, TABLES).equal
