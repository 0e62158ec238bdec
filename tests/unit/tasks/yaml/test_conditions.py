"""Conditions of gold's `if`."""

from __future__ import annotations

import pytest

from synth.core.tasks.yaml.conditions import all_hold, compile_conditions, filled
from synth.core.tasks.yaml.scope import Scope
from synth.errors import TaskError

SCOPE = Scope("tasks.yaml", "f", slots=frozenset({"genre", "budget"}))
SLOTS = {"genre": "crime", "budget": 12.5}
NAMES = {
    "kind": "crime",
    "price": 12,
    "tags": ["a", "b"],
    "none": [],
    "day": "2026-03-02",
    "n": None,
}


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("$kind == {genre}", True),
        ("$kind != {genre}", False),
        ("$price <= {budget}", True),
        ("$price > 12", False),
        ("$price == 12.0", True),
        ("$kind == 'crime'", True),
        ('"a" in $tags', True),
        ("'c' not in $tags", True),
        ("'rim' in $kind", True),
        ("$none", False),
        ("not $none", True),
        ("$n == null", True),
        ("$day < '2026-03-10'", True),
        ("$price == '12'", False),
    ],
)
def test_conditions(text: str, held: bool):
    compiled = compile_conditions(text, SCOPE, 7, set(NAMES))
    conditions = [filled(condition, SLOTS) for condition in compiled]
    assert all_hold(conditions, NAMES) is held


def test_all_of_several():
    texts = ["$price < {budget}", "$kind == 'poem'"]
    compiled = compile_conditions(texts, SCOPE, 7, set(NAMES))
    assert not all_hold([filled(condition, SLOTS) for condition in compiled], NAMES)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("$kind = {genre}", "cannot be read"),
        ("$kind == crime", "cannot be read"),
        ("not $kind == 'a'", "cannot be read"),
        (
            "$knd == 'a'",
            "`knd` is neither a slot nor saved by an earlier step; did you mean 'kind'",
        ),
        ("1 == 1", "compares nothing of this task"),
        (5, "cannot be read"),
        ([], "needs a condition"),
    ],
)
def test_a_condition_that_is_none(raw: object, message: str):
    with pytest.raises(TaskError, match=message) as caught:
        compile_conditions(raw, SCOPE, 7, set(NAMES))
    assert (caught.value.file, caught.value.line) == ("tasks.yaml", 7)


def test_what_does_not_compare():
    compiled = compile_conditions("$tags < 3", SCOPE, 7, set(NAMES))
    with pytest.raises(TaskError, match="`if` cannot order 'a and b' and '3'"):
        all_hold([filled(condition, {}) for condition in compiled], NAMES)
