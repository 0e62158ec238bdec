"""Lazy agents and mutants as data, and where a family in Python stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from synth.core.foundation.perturbations import other_fact
from synth.core.validation.attacks.lazy import CONSTANTS, lazy_agents
from synth.core.validation.attacks.mutants import mutants
from synth.core.validation.attacks.steps import SayStep, ToolStep
from synth.core.validation.check import Options
from synth.core.validation.world import check_world
from synth.task import Task
from synth.user import Consent, Topic, UserRole
from tests.unit import small_world
from tests.unit.rewards.rule_fields import ruled


def task(**fields: Any) -> Task:
    return Task(
        **ruled({"id": "t", "family": "f", "env": "w", "prompt": "Please.", "gold": [], **fields})
    )


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def constants(answer: dict[str, Any]) -> list[dict[str, Any]]:
    attacks = lazy_agents(task(answer=answer), [], [])
    return [
        dict(move.arguments)
        for each in attacks
        if each.kind == "constant answer"
        for move in each.moves
    ]  # type: ignore[union-attr]


def test_a_constant_answer_is_any_combination_of_all_that_can_be_chosen():
    answer = schema(
        outcome={"type": "string", "enum": ["done", "refused"]},
        urgent={"type": "boolean"},
        why={"type": "string"},
    )
    assert constants(answer) == [
        {"outcome": outcome, "urgent": urgent, "why": ""}
        for outcome in ("done", "refused")
        for urgent in (False, True)
    ]
    many = schema(**{f"f{at}": {"type": "boolean"} for at in range(9)})
    assert len(constants(many)) == CONSTANTS
    assert constants(schema(price={"type": "number"})) == []


GOLD = [
    SayStep("When were you born?", ("born",)),
    SayStep("5 mg for Ada, born 1980-05-03?", (), agreed=True),
    ToolStep(
        "prescribe", {"patient_id": 7, "dose": 5}, writes=True, undo={"patient_id": 7, "dose": 2}
    ),
    SayStep("Done."),
]
ROLE = UserRole(
    "Hi", {"born": Topic("1980-05-03", asked="When?")}, Consent(["5 mg", "1980-05-03", "Ada"])
)


def test_with_a_user_each_turn_of_the_talk_is_left_out_once():
    made = list(mutants(GOLD, [], {}, task(user=ROLE)))
    dropped = {
        each.kind: list(each.moves) for each in made if each.kind in {"drop ask", "drop confirm"}
    }
    assert dropped == {"drop ask": GOLD[1:], "drop confirm": [GOLD[0], *GOLD[2:]]}
    wrong = [each.moves[1].text for each in made if each.kind == "confirm a wrong fact"]  # type: ignore[union-attr]
    assert wrong == [
        "6 mg for Ada, born 1980-05-03?",
        "5 mg for Ada, born 1980-05-04?",
        "5 mg for something else, born 1980-05-03?",
    ]
    assert [other_fact(each) for each in ("1999-12-31", "room 12b", "")] == [
        "2000-12-31",
        "room 13b",
        "something else",
    ]


def test_talk_that_no_write_follows_is_left_alone():
    kinds = {
        each.kind
        for each in mutants(
            [GOLD[0], ToolStep("look", {"name": "Ada"}), GOLD[3]], [], {}, task(user=ROLE)
        )
    }
    assert kinds == set()


def test_a_write_is_taken_back_again_only_where_that_is_forbidden():
    stray = ToolStep(
        "prescribe", {"patient_id": 8, "dose": 4}, writes=True, undo={"patient_id": 8, "dose": 1}
    )
    for transient, count in (("allow", 0), ("forbid", 1)):
        made = [
            each
            for each in mutants(GOLD, [stray], {}, task(user=ROLE, transient=transient))
            if each.kind == "write and revert"
        ]
        assert len(made) == count
        for each in made:
            assert list(each.moves) == [
                *GOLD[:3],
                stray,
                ToolStep("prescribe", {"patient_id": 8, "dose": 1}),
                GOLD[3],
            ]


def test_what_other_tasks_pass_is_a_mistake_that_is_tried():
    elsewhere = [ToolStep("prescribe", {"patient_id": 31, "dose": "much"}, writes=True)]
    labels = [
        each.label
        for each in mutants(GOLD, [], {}, task(), elsewhere)
        if each.kind == "change argument"
    ]
    assert "prescribe patient_id=31 instead of 7" in labels
    assert not [each for each in labels if "much" in each]  # of another type


PYTHON = '''\
from sqlalchemy import text


def in_python(db):
    """Plan what is dear."""
    for item_id, name in db.execute(text("SELECT item_id, name FROM items WHERE price > 10 ORDER BY item_id")):
        yield {
            "slots": {"item_id": item_id, "name": name},
            "key": item_id,
            "user": {"says": "Plan {name} for 2026-04-01, in green."},
            "gold": [{"plan_item": {"name": "{name}", "due": "DUE", "colour": "green"}}, {"say": "Done."}],
        }
'''


def test_a_family_in_python_is_proved_and_its_mistakes_have_its_line(tmp_path: Path):
    reports = {}
    for name, due in (("right", "2026-04-01"), ("wrong", "2026-04-02")):
        folder = small_world.make(tmp_path / name)
        (folder / "tasks.py").write_text(PYTHON.replace("DUE", due), "utf-8")
        (reports[name],) = check_world(folder, Options(("in_python",), 2), lambda _: None).families
    assert reports["right"].ok, reports["right"].problems
    assert reports["right"].killed["change argument"] > 0
    (problem,) = reports["wrong"].problems
    assert problem.startswith(
        f"{tmp_path / 'wrong' / 'tasks.py'}:4: family in_python: gold calls plan_item with due="
    )
