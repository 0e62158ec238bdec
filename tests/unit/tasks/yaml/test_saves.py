"""Values that a step saves: by JSONPath with names in it, and computed."""

from __future__ import annotations

from typing import Any

import pytest

from synth.core.tasks.yaml.saves import fill_save, saved_values

ROWS = {
    "rows": [
        {"id": 1, "sku": "A", "cents": 250, "weight": "1.5"},
        {"id": 2, "sku": "B", "cents": 1999, "weight": "0.25"},
        {"id": 3, "sku": "C", "cents": 10, "weight": "2"},
    ],
    "bought": "2026-02-27T10:00:00",
    "price": 0.1,
}
CENTS = "$.rows[*].cents"


@pytest.mark.parametrize(
    ("word", "operands", "value"),
    [
        ("one", [{"$path": ["$.rows[?@.sku == ", {"$": "sku"}, "].id"]}], 2),
        ("count", [CENTS], 3),
        ("sum", [CENTS], 2259),
        ("sum", ["$.rows[*].weight"], 3.75),
        ("mean", ["$.rows[*].id"], 2),
        ("mean", [[1, 2]], 1.5),
        ("max", [CENTS], 1999),
        ("min", [["b", "a"]], "a"),
        ("max_by", ["$.rows[*]", "cents"], ROWS["rows"][1]),
        ("min_by", ["$.rows[*]", "sku"], ROWS["rows"][0]),
        ("pick", ["$.rows[:1]", "cents", "id"], [{"cents": 250, "id": 1}]),
        ("records", [["x y", "x y", "SUM(c)"], [[0, "b", 2]]], [{"x y": 0, "1": "b", "2": 2}]),
        ("days_between", ["$.bought", {"$": "day"}], 3),
        ("plus", ["$.price", 0.2], 0.3),
        ("minus", [{"$": "due"}, "$.rows[0].cents", 50], 700),
        ("times", ["$.rows[0].cents", 3], 750),
    ],
)
def test_computed_values(word: str, operands: list[Any], value: object):
    names = {"sku": "B", "day": "2026-03-02", "due": 1000}
    assert saved_values({"x": {"$compute": word, "of": operands}}, ROWS, names) == {"x": value}


@pytest.mark.parametrize(
    ("word", "operands", "error", "message"),
    [
        ("one", [CENTS], LookupError, "there are 3"),
        ("one", ["$.rows[?@.sku == 'Z'].id"], LookupError, "there are 0"),
        ("sum", ["$.price"], ValueError, "a list is needed, not '0.1'"),
        ("sum", ["$.rows[*].sku"], ValueError, "'A' is not a number"),
        ("max", ["$.none[*]"], LookupError, "the list is empty"),
        ("max_by", ["$.rows[*]", "size"], LookupError, "no field 'size'"),
        ("days_between", ["$.bought", "soon"], ValueError, "'soon' is not a day"),
        ("minus", ["$.gone", 1], LookupError, "finds nothing"),
        ("minus", [{"$": "gone"}, 1], LookupError, "no step before has saved 'gone'"),
        ("plus", [True, 1], ValueError, "is not a number"),
    ],
)
def test_what_cannot_be_computed_says_why(
    word: str, operands: list[Any], error: type[Exception], message: str
):
    with pytest.raises(error, match=message):
        saved_values({"x": {"$compute": word, "of": operands}}, ROWS, {})


def test_later_values_use_earlier_ones_and_text_of_a_name_is_data():
    saves = {
        "sku": "$.rows[1].sku",
        "id": {"$path": ["$.rows[?@.sku == ", {"$": "sku"}, "].id"]},
        "first": {"$compute": "one", "of": ["$.rows[?@.id == 1].sku"]},
    }
    assert saved_values(saves, ROWS, {}) == {"sku": "B", "id": [2], "first": "A"}
    hostile = {"x": {"$path": ["$.rows[?@.sku == ", {"$": "s"}, "].id"]}}
    assert saved_values(hostile, ROWS, {"s": "B' || @.id > 0 || 'a"}) == {"x": []}


def test_slots_are_put_in_first():
    save = {"$compute": "one", "of": [{"$path": ["$.r[?@.a == ", {"$slot": "a"}, "]"]}]}
    assert fill_save(save, "$slot", {"a": "it's"}) == {
        "$compute": "one",
        "of": ['$.r[?@.a == "it\'s"]'],
    }
