"""Matching of net changes against an independent judge: every renaming of new rows' keys, tried
out.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from sqlalchemy import text

from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.types import Column, Limits, Pins, RowChange, Table
from synth.core.rewards.state import matching
from synth.core.rewards.state.matching import compare
from synth.core.rewards.state.verifier import StateVerifier
from synth.rewards import Evidence, total_reward
from synth.task import GoldEnd, Task

KEY = Column("id", "INTEGER", nullable=False, primary_key=True)
GROUP = ("groups", "id")
TABLES = {
    "groups": Table(
        "groups", (KEY, Column("name", "TEXT"), Column("up", "INTEGER", references=GROUP)), ("id",)
    ),
    "items": Table(
        "items",
        (KEY, Column("group_id", "INTEGER", references=GROUP), Column("name", "TEXT")),
        ("id",),
    ),
    "people": Table("people", (KEY, Column("group_id", "INTEGER", references=GROUP)), ("id",)),
    "rooms": Table("rooms", (KEY, Column("name", "TEXT")), ("id",)),
    "loose": Table(
        "loose", (Column("id", "INT", primary_key=True), Column("name", "TEXT")), ("id",)
    ),
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
        out.append(
            RowChange(
                each.table, each.op, {"id": after.get("id", each.key["id"])}, each.before, after
            )
        )
    return out


def every_renaming() -> list[dict[int, int]]:
    return [
        dict(zip((10, 11, 12, 20, 21), (*groups, *items), strict=True))
        for groups in itertools.permutations((10, 11, 12))
        for items in itertools.permutations((20, 21))
    ]


def as_set(rows: Sequence[RowChange]) -> set[str]:
    return {
        repr((each.table, each.op, sorted(each.key.items()), sorted((each.after or {}).items())))
        for each in rows
    }


@pytest.mark.parametrize("seed", range(300))
def test_two_states_are_equal_exactly_when_some_renaming_makes_them_so(seed: int):
    draw = random.Random(seed)
    expected = changes(draw)
    actual = renamed(expected, draw.choice(every_renaming())) if seed % 3 else changes(draw)
    if seed % 3 == 1:
        at = draw.randrange(len(actual))
        link = {LINKS[actual[at].table]: draw.choice([10, 11, 12, None])}
        after = {**(actual[at].after or {}), **link}
        actual[at] = RowChange(
            actual[at].table, actual[at].op, actual[at].key, actual[at].before, after
        )
    judge = any(as_set(renamed(expected, names)) == as_set(actual) for names in every_renaming())
    assert compare(expected, actual, {}, TABLES).equal is judge


def test_updates_tell_identical_new_rows_apart_by_themselves():
    """Which of two equal new groups comes first is nobody's choice: the people say which is
    which.
    """
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
                out.append(
                    insert(
                        "items", id=1000 + 2 * place + child, group_id=place, name=str(at % kinds)
                    )
                )
        return out

    shuffled = random.Random(1).sample(range(100), 100)
    assert compare(state(range(100)), state(shuffled), {}, TABLES).equal
    assert not compare(
        state(range(100)), state([*shuffled[:-1], shuffled[-1] + 1]), {}, TABLES
    ).equal


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


def nodes(parents: Sequence[int | None], order: Sequence[int], name: str = "x") -> list[RowChange]:
    """Groups that refer to each other; the n-th gets the key ``order[n]``."""
    rows = [
        insert("groups", id=order[at], name=name, up=None if up is None else order[up])
        for at, up in enumerate(parents)
    ]
    return sorted(rows, key=lambda each: each.key["id"])


HUNDREDS = 200
SHAPES = {
    "chain": [None, *range(HUNDREDS - 1)],
    "ring": [HUNDREDS - 1, *range(HUNDREDS - 1)],
    "ten rings": [at - 1 if at % 20 else at + 19 for at in range(HUNDREDS)],
    "binary tree": [None, *((at - 1) // 2 for at in range(1, HUNDREDS))],
    "star": [None, *[0] * (HUNDREDS - 1)],
    "pairs": [None if at % 2 == 0 else at - 1 for at in range(HUNDREDS)],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_hundreds_of_rows_that_only_links_tell_apart_take_few_steps(shape: str):
    straight, shuffled = list(range(HUNDREDS)), random.Random(7).sample(range(HUNDREDS), HUNDREDS)
    ours, theirs = nodes(SHAPES[shape], straight), nodes(SHAPES[shape], shuffled)
    found = compare(ours, theirs, {}, TABLES)
    assert found.equal
    assert found.steps <= HUNDREDS
    parents = list(SHAPES[shape])
    parents[5] = 5
    found = compare(ours, nodes(parents, shuffled), {}, TABLES)
    assert not found.equal
    assert not found.undecided
    assert found.steps <= HUNDREDS


def lines(pairs: Sequence[tuple[int, int]], order: Sequence[int]) -> list[RowChange]:
    """Rows that refer to two new rows each, as the lines of an order refer to an order and a
    product.
    """
    groups = [insert("groups", id=at, name="x", up=None) for at in sorted(order)]
    return [
        *groups,
        *(
            insert("both", id=at, one=order[left], two=order[right])
            for at, (left, right) in enumerate(pairs)
        ),
    ]


BOTH = {
    "both": Table(
        "both",
        (KEY, Column("one", "INT", references=GROUP), Column("two", "INT", references=GROUP)),
        ("id",),
    )
}


@pytest.mark.parametrize("seed", range(5))
def test_rows_with_two_parents_make_any_graph(seed: int):
    """Cycles of six against two of three: each row looks like every other, and only trial tells."""
    draw = random.Random(seed)
    six = [(at, (at + 1) % 6) for at in range(6)]
    threes = [(at, at // 3 * 3 + (at + 1) % 3) for at in range(6)]
    bridged, bridged_threes = [*six, (0, 3)], [*threes, (0, 3)]
    for pairs, others in ((six, threes), (bridged, bridged_threes)):
        order = draw.sample(range(6), 6)
        tables = {**TABLES, **BOTH}
        same = draw.sample(pairs, len(pairs))
        assert compare(lines(pairs, range(6)), lines(same, order), {}, tables).equal
        assert not compare(lines(pairs, range(6)), lines(others, order), {}, tables).equal
        assert not compare(lines(others, order), lines(pairs, range(6)), {}, tables).equal


def circle(count: int, *jumps: int) -> list[tuple[int, int]]:
    return [(at, (at + jump) % count) for at in range(count) for jump in jumps]


def test_a_search_that_gives_up_does_not_call_ends_different(monkeypatch: pytest.MonkeyPatch):
    """Each row of these looks like every other, however far one looks."""
    tables = {**TABLES, **BOTH}
    ours, same = lines(circle(8, 1, 2), range(8)), lines(circle(8, 2, 1), [3, 1, 4, 0, 5, 2, 6, 7])
    other = lines(circle(8, 1, 3), range(8))
    assert compare(ours, same, {}, tables).equal
    found = compare(ours, other, {}, tables)
    assert (found.equal, found.undecided) == (False, False)
    monkeypatch.setattr(matching, "STEPS", 5)
    found = compare(ours, other, {}, tables)
    assert (found.equal, found.undecided) == (False, True)
    task = Task("t", "f", "e", "p", [], end=GoldEnd([each.to_json() for each in ours]))
    verdict = StateVerifier().verify(Evidence(task, other, [], None, tables), None)
    assert (verdict.score, total_reward([verdict])) == (None, None)


@pytest.mark.parametrize("seed", range(200))
def test_tolerances_agree_with_every_pairing_tried_out(seed: int):
    draw = random.Random(seed)
    tables = {
        "prices": Table("prices", (KEY, Column("low", "REAL"), Column("high", "REAL")), ("id",))
    }
    rules = {"prices.low": {"abs": 2}, "prices.high": {"abs": 2}}

    def state() -> list[RowChange]:
        return [
            insert("prices", id=at, low=draw.randint(0, 5), high=draw.randint(0, 5))
            for at in range(5)
        ]

    ours, theirs = state(), state()
    judge = max(
        sum(
            all(
                abs((mine.after or {})[name] - (other.after or {})[name]) <= 2
                for name in ("low", "high")
            )
            for mine, other in zip(ours, order, strict=True)
        )
        for order in itertools.permutations(theirs)
    )
    found = compare(ours, theirs, rules, tables)
    assert found.equal is (judge == 5)
    assert len(found.missing) == len(found.collateral)


def test_decimals_that_travel_as_text_are_numbers():
    tables = {
        "bills": Table(
            "bills", (KEY, Column("sum", "NUMERIC(10, 2)"), Column("code", "TEXT")), ("id",)
        )
    }

    def same(left: Any, right: Any, rule: Any = "exact", column: str = "sum") -> bool:
        rules = {f"bills.{column}": rule}
        return compare(
            [insert("bills", id=1, **{column: left})],
            [insert("bills", id=2, **{column: right})],
            rules,
            tables,
        ).equal

    assert same("25.00", "25.0")
    assert same("25.00", 25)
    assert not same("25.00", "25.01")
    assert same("25.00", "25.01", {"abs": 0.01})
    assert not same("25.00", "25.02", {"abs": 0.01})
    assert same("25.00", "24.99", {"abs": 0.01})
    assert not same("25.00", "25.0", column="code")
    assert not same("NaN", "0")
    assert same(None, None, {"abs": 0.01})
    assert not same(None, 0, {"abs": 0.01})


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (25, 25.0, True),
        (25, 25.5, False),
        ("25", 25, False),
        (None, 0, False),
        ({"$bytes": "AA=="}, {"$bytes": "AQ=="}, False),
        (1, True, False),
        (0, False, False),
        (2**53, float(2**53), True),
        (2**53 + 1, float(2**53), False),
        (2**62, 2**62 + 1, False),
        ("é", "e\u0301", False),
        ("", None, False),
        ({"$float": "NaN"}, {"$float": "NaN"}, True),
        ({"$float": "NaN"}, None, False),
        ([1, {"a": 1}], [1.0, {"a": 1.0}], True),
        ([1], [True], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
    ],
)
def test_values_are_the_same_in_new_and_in_changed_rows_alike(left: Any, right: Any, same: bool):
    assert (
        compare(
            [insert("rooms", id=1, name=left)], [insert("rooms", id=2, name=right)], {}, TABLES
        ).equal
        is same
    )
    changed = [
        RowChange("rooms", "update", {"id": 1}, {"name": "x"}, {"name": each})
        for each in (left, right)
    ]
    assert compare(changed[:1], changed[1:], {}, TABLES).equal is same


def test_references_are_followed_through_keys_that_are_references():
    """A detail's key is its group's; who refers to the detail refers to the group."""
    detail = Column("group_id", "INTEGER", primary_key=True, references=GROUP)
    tables = {
        **TABLES,
        "details": Table("details", (detail,), ("group_id",)),
        "marks": Table(
            "marks",
            (KEY, Column("detail_id", "INTEGER", references=("details", "group_id"))),
            ("id",),
        ),
    }

    def state(group: int, marked: int) -> list[RowChange]:
        return [
            insert("groups", id=group, name="x", up=None),
            RowChange("details", "insert", {"group_id": group}, after={"group_id": group}),
            insert("marks", id=1, detail_id=marked),
        ]

    assert compare(state(10, 10), state(20, 20), {}, tables).equal
    assert not compare(state(10, 10), state(20, 10), {}, tables).equal


def test_keys_that_are_uuids_are_generated_too():
    key = Column("id", "UUID", primary_key=True)
    tables = {
        "notes": Table("notes", (key,), ("id",)),
        "tags": Table("tags", (Column("note", "UUID", references=("notes", "id")),)),
    }

    def state(note: str, tagged: str) -> list[RowChange]:
        return [
            insert("notes", id=note),
            RowChange("tags", "insert", {"rowid": 1}, after={"note": tagged}),
        ]

    assert compare(state("a", "a"), state("b", "b"), {}, tables).equal
    assert not compare(state("a", "a"), state("b", "a"), {}, tables).equal


def test_rows_without_a_key_are_what_they_hold():
    tables = {"log": Table("log", (Column("text", "TEXT"),))}

    def gone(row: int, text: str) -> list[RowChange]:
        return [RowChange("log", "delete", {"rowid": row}, before={"text": text})]

    assert compare(gone(1, "a"), gone(2, "a"), {}, tables).equal, "one of two equal rows, whichever"
    assert not compare(gone(1, "a"), gone(1, "b"), {}, tables).equal
    assert not compare(gone(1, "a"), [*gone(1, "a"), *gone(2, "a")], {}, tables).equal


def test_references_by_a_foreign_key_of_two_columns_are_followed():
    """Orders of a tenant: their lines name both, and the made-up number of the order may be any."""
    schema = (
        "CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, tenant INT, note TEXT, UNIQUE"
        " (tenant, id));"
        "CREATE TABLE lines (tenant INT, number INT, what TEXT, PRIMARY KEY (tenant, number, what),"
        " FOREIGN KEY (tenant, number) REFERENCES orders (tenant, id))"
    )

    def end(*statements: str) -> tuple[RowChange, ...]:
        with (
            SqliteTemplate.build(lambda db: db.executescript(schema)) as template,
            template.open(Pins()) as sandbox,
        ):
            with sandbox.transaction(Limits()) as transaction:
                for each in statements:
                    transaction.connection.execute(text(each))
            tables.update(template.tables)
            return sandbox.diff().changes

    tables: dict[str, Table] = {}
    lamp, desk = (
        "INSERT INTO orders (tenant, note) VALUES (7, 'lamp')",
        "INSERT INTO orders (tenant, note) VALUES (7, 'desk')",
    )
    first = end(lamp, desk, "INSERT INTO lines VALUES (7, 1, 'bulb')")
    assert compare(
        first, end(desk, lamp, "INSERT INTO lines VALUES (7, 2, 'bulb')"), {}, tables
    ).equal
    assert not compare(
        first, end(desk, lamp, "INSERT INTO lines VALUES (7, 1, 'bulb')"), {}, tables
    ).equal
