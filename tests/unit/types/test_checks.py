"""The JSON of gates and alternative ends, which is stored in tasks.parquet."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from synth.core.types.checks import AlternativeEnd, ChangeFrame, EndRules, Gate
from synth.task import Task

FRAME = {"where": "id = :id", "columns": ["note"], "ops": ["insert", "update"], "at_most": 2}
END: dict[str, Any] = {
    "bind": {"newest": "SELECT MAX(id) FROM visits"},
    "must": ["SELECT 1", "SELECT :newest > 0"],
    "may_change": {
        "visits": FRAME,
        "days": {"where": "1 = 1", "columns": None, "ops": None, "at_most": None},
    },
}


@pytest.mark.parametrize(
    ("gate", "raw"),
    [
        (Gate("state"), "state"),
        (Gate("answer", {"days": "days"}), {"answer": {"days": "days"}}),
        (Gate("required_calls", ["find"]), {"required_calls": ["find"]}),
        (Gate("extensions.reward:FewCalls", {}), {"extensions.reward:FewCalls": {}}),
    ],
)
def test_a_gate_is_its_name_or_its_name_with_options(gate: Gate, raw: Any):
    assert gate.to_json() == raw
    assert Gate.from_json(raw) == gate


def test_an_alternative_end_keeps_its_json_to_the_byte():
    end = AlternativeEnd.from_json(END)
    assert json.dumps(end.to_json()) == json.dumps(END)
    assert end.may_change["visits"] == ChangeFrame("id = :id", ("note",), ("insert", "update"), 2)
    assert end.may_change["days"] == ChangeFrame("1 = 1")


def test_absent_keys_of_an_alternative_end_are_defaults():
    assert AlternativeEnd.from_json({}) == AlternativeEnd()
    assert ChangeFrame.from_json({"where": "1 = 1"}) == ChangeFrame("1 = 1")


def test_a_task_and_its_json_are_equal_also_with_defaults():
    plain = Task(id="t", family="f", env="e", prompt="p", gold=[])
    full = Task(
        id="t",
        family="f",
        env="e",
        prompt="p",
        gold=[],
        gates=(Gate("state"), Gate("says", {"all": ["Done"]})),
        rules=EndRules(alternatives=(AlternativeEnd.from_json(END),)),
    )
    for task in (plain, full):
        assert Task.from_json(task.to_json()) == task
        assert Task.from_json(json.loads(json.dumps(task.to_json()))) == task
    assert full.to_json()["gates"] == ["state", {"says": {"all": ["Done"]}}]
    assert full.to_json()["rules"]["alternatives"] == [END]


def test_a_task_finds_its_gates_by_name():
    options = {"all": ["Done"]}
    gates = (Gate("state"), Gate("says", options))
    task = Task(id="t", family="f", env="e", prompt="p", gold=[], gates=gates)
    assert task.gate_names == {"state", "says"}
    assert task.gate("says") == Gate("says", options)
    assert task.gate("answer") is None


def test_gates_and_ends_are_frozen():
    with pytest.raises(FrozenInstanceError):
        Gate("state").name = "answer"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        AlternativeEnd().must = ()  # type: ignore[misc]
