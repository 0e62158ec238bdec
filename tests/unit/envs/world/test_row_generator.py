"""Rows made up from a learned shape: what each word of a generated seed.py draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date
from random import Random
from typing import Any

import pytest

from envs.world.row_generator import (
    GIVEN,
    After,
    Blend,
    Choice,
    Email,
    Form,
    Link,
    Lookup,
    MadeTable,
    Maybe,
    Mix,
    Number,
    Serial,
    Texts,
    When,
    Within,
    made_rows,
)

PARENTS = Lookup("parents", ["parent_id"], [(n,) for n in range(1, 5)])


def made(*tables: Lookup | MadeTable, universe: int = 1) -> dict[str, list[dict[str, Any]]]:
    out: dict[str, list[dict[str, Any]]] = {}
    for name, row in made_rows(tables, universe, Random(universe)):
        out.setdefault(name, []).append(row)
    return out


def column(rows: Sequence[dict[str, Any]], name: str) -> list[Any]:
    return [row[name] for row in rows]


def test_a_lookup_is_the_same_in_every_universe():
    assert made(PARENTS, universe=1) == made(PARENTS, universe=2)


def test_the_same_universe_has_the_same_rows():
    table = MadeTable("t", 30, {"id": Serial(100), "n": Number([0.0, 1.0], 3)})
    assert made(table) == made(table)
    assert made(table) != made(table, universe=2)
    assert column(made(table, universe=2)["t"], "id") == list(range(201, 231))


def test_the_fan_out_of_a_link_is_kept():
    link = Link(["parent_id"], "parents", ["parent_id"], {0: 1, 2: 1, 3: 2})
    rows = made(PARENTS, MadeTable("t", 8, {"id": Serial(100)}, [link]))["t"]
    assert sorted(Counter(column(rows, "parent_id")).values()) == [2, 3, 3]


def test_a_table_refers_to_rows_of_its_own_that_stand_before():
    link = Link(["boss"], "t", ["id"], {0: 10}, nulls=0.3)
    rows = made(MadeTable("t", 30, {"id": Serial(100)}, [link]))["t"]
    seen: set[object] = {None}
    for row in rows:
        assert row["boss"] in seen or row["boss"] == row["id"]
        seen.add(row["id"])
    assert len(seen) == 31


def test_parents_of_a_later_table_fit_what_is_set():
    later = Link(("firm", "head"), "heads", ("firm", "id"), {1: 1})
    teams = MadeTable("teams", 9, {}, [later], Mix(("firm",), {(1,): 1, (2,): 1}))
    rows = made(teams, Lookup("heads", ("firm", "id"), [(1, 11), (2, 22)]))["teams"]
    assert {(row["firm"], row["head"]) for row in rows} == {(1, 11), (2, 22)}


def test_columns_that_vary_together_stay_together():
    table = MadeTable(
        "t",
        60,
        {"id": Serial(100), "closed_on": When(["2026-01-01", "2026-02-01"])},
        mix=Mix(["state", "closed_on"], {("open", None): 2, ("closed", GIVEN): 1}),
    )
    rows = made(table)["t"]
    assert {row["state"] for row in rows} == {"open", "closed"}
    assert all((row["closed_on"] is None) == (row["state"] == "open") for row in rows)


def test_a_key_within_another_counts_from_one():
    link = Link(["parent_id"], "parents", ["parent_id"], {2: 2, 3: 2})
    unique = [("parent_id", "line")]
    rows = made(
        PARENTS, MadeTable("t", 10, {"line": Within(["parent_id"])}, [link], unique=unique)
    )["t"]
    by_parent = Counter(column(rows, "parent_id"))
    assert len(rows) == 10
    assert all(row["line"] <= by_parent[row["parent_id"]] for row in rows)


def test_a_date_follows_others_of_the_row_and_of_its_parent():
    days = When(["2026-01-01", "2026-03-01"])
    parent = MadeTable("p", 9, {"id": Serial(9), "made": days})
    dates = {"a": days, "b": After(["a", "p_id.made"], [86400, 4 * 86400], days)}
    child = MadeTable("t", 40, dates, [Link(["p_id"], "p", ["id"], {4: 1})])
    rows = made(parent, child)
    of_parent = {row["id"]: row["made"] for row in rows["p"]}
    for row in rows["t"]:
        gap = date.fromisoformat(row["b"]) - max(
            map(date.fromisoformat, (row["a"], of_parent[row["p_id"]]))
        )
        assert 0 <= gap.days <= 4
        assert row["b"] <= "2026-03-01"


def test_a_moment_has_the_steps_and_the_form_of_its_marks():
    maker = When(["2026-01-01 08:00", "2026-01-02 08:00"], "%Y-%m-%d %H:%M", 1800)
    values = column(made(MadeTable("t", 40, {"at": maker}))["t"], "at")
    assert {value[-2:] for value in values} == {"00", "30"}


def test_a_blend_is_none_of_the_texts_that_there_are():
    maker = Blend(["Blue", "Red", "Green"], [" Door", " Lamp", " Chair"])
    values = set(column(made(MadeTable("t", 60, {"name": maker}))["t"], "name"))
    assert not values & {"Blue Door", "Red Lamp", "Green Chair"}
    assert "Blue Lamp" in values


def test_a_blend_without_another_combination_gets_a_number_and_keeps_its_length():
    values = column(made(MadeTable("t", 9, {"name": Blend(["ab"], ["cd"], 6)}))["t"], "name")
    assert all(len(value) <= 6 and value != "abcd" for value in values)


def test_codes_keep_their_form():
    maker = Form({"INV-####": 1, "@%": 1})
    values = column(made(MadeTable("t", 40, {"code": maker}))["t"], "code")
    assert all(
        (v.startswith("INV-") and v[4:].isdigit()) or (v[0].isupper() and v[1].islower())
        for v in values
    )


def test_an_address_follows_the_name():
    columns = {"name": Texts(["Ida"], ["O'Hara"]), "email": Email(["name"])}
    assert made(MadeTable("t", 1, columns))["t"][0]["email"] == "ida.o.hara@example.org"


def test_rules_and_uniqueness_hold():
    table = MadeTable(
        "t",
        40,
        {"low": Number([1, 9]), "high": Number([1, 9]), "key": Number([1, 60])},
        unique=[("key",)],
        rules=["low <= high"],
    )
    rows = made(table)["t"]
    assert all(row["low"] <= row["high"] for row in rows)
    assert len({row["key"] for row in rows}) == len(rows) > 30


def test_a_null_breaks_no_rule_and_no_unique_constraint():
    columns = {"a": Maybe(0.5, Choice({1: 1})), "id": Serial(10)}
    rows = made(MadeTable("t", 20, columns, unique=[("a",)], rules=["a > 0"]))["t"]
    assert Counter(column(rows, "a")) == {None: len(rows) - 1, 1: 1}


def test_a_rule_that_no_row_meets_is_named():
    with pytest.raises(ValueError, match="t: only 0 of 3 rows meet its rules: a > 1"):
        made(MadeTable("t", 3, {"a": Choice({1: 1})}, rules=["a > 1"]))
