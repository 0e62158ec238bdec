"""Families in Python: what tasks.py yields is checked as tasks.yaml is, and played as it is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from envs.errors import WorldError
from envs.world.loader import load_world
from synth.core.tasks.families import FamilyTasks
from synth.core.validation.prove import prove
from synth.errors import TaskError
from tests.unit.small_world import make

TASKS = '''\
"""Families that count."""

from collections import Counter
from datetime import date
from decimal import Decimal

from sqlalchemy import text

SAID = Counter("ab")


def plan_cheap(db):
    """Plan what costs little."""
    for item_id, name, price in db.execute(text("SELECT item_id, name, price FROM items ORDER BY price DESC")):
        for round_ in (1, 1):
            yield {
                "slots": {"name": name, "price": Decimal(str(price)), "day": date(2026, 4, item_id)},
                "key": item_id,
                "case": "cheap" if price < 100 else "dear",
                "user": {"says": ["Plan {name} for {day} if it is cheap, in green.", "{name}, {day}, green?"]},
                "answer": {"done": {"type": "boolean", "description": "Whether it is planned."}},
                "gold": [
                    {"find_items": {"name": "{name}"}, "save": {"price_": "$.items[?@.name == {name}].price"}},
                    {"cheap": _steps()} if price < 100 else {"submit": {"done": False}},
                ],
            }


def _steps():
    return [{"plan_item": {"name": "{name}", "due": "{day}", "colour": "green"}}, {"submit": {"done": True}}]


def count_items(db):
    yield {
        "slots": {}, "key": 0, "user": {"says": "How many?"}, "gold": ({"all_items": None}, {"say": "Three."}),
        "compare": {"items.note": "free_text"},
    }
'''


def source(folder: Path, code: str, *, yaml: bool = True) -> FamilyTasks:
    make(folder)
    (folder / "tasks.py").write_text(code, "utf-8")
    if not yaml:
        (folder / "tasks.yaml").unlink()
    world = load_world(folder)
    with world.template() as template:
        return FamilyTasks(world, template)


def test_python_families_come_after_those_of_the_yaml(tmp_path: Path):
    made = source(tmp_path, TASKS)
    assert [each.id for each in made.families] == ["plan", "price", "plan_cheap", "count_items"]
    assert made.families[2].about == "Plan what costs little."
    assert (made.families[2].line, Path(made.families[2].file).name) == (12, "tasks.py")


def test_each_task_is_yielded_once_in_the_functions_order(tmp_path: Path):
    made = source(tmp_path, TASKS)
    assert made.capacity("plan_cheap") == 3
    assert made.cases("plan_cheap") == ["dear", "cheap"]
    assert {made.task("plan_cheap", at, seed).key for at in range(3) for seed in (1, 2)} == {
        1,
        2,
        3,
    }
    with pytest.raises(IndexError):
        made.task("plan_cheap", 3, 1)


async def test_its_tasks_are_proved_and_judged_like_any(tmp_path: Path):
    made = source(tmp_path, TASKS)
    world = made.world
    with world.template() as template:
        proved = [await prove(made.task("plan_cheap", at, 0), world, template) for at in range(3)]
    cheap = [each for each in proved if each.case == "cheap"]
    assert [len(each.end.changes) for each in cheap] == [1, 1]
    assert {each.slots["day"] for each in proved} == {"2026-04-01", "2026-04-02", "2026-04-03"}
    assert {each.slots["price"] for each in proved} == {9.5, 20.0, 120.25}
    assert all(each.slots["name"] in each.prompt for each in proved)
    assert {each.end.answer["done"] for each in cheap} == {True}


def test_a_world_with_python_families_alone(tmp_path: Path):
    made = source(tmp_path, TASKS, yaml=False)
    assert [each.id for each in made.families] == ["plan_cheap", "count_items"]
    assert made.task("count_items", 0, 0).now.startswith("2026-01-01T")


def test_what_the_yaml_says_of_the_world_holds_for_them(tmp_path: Path):
    make(
        tmp_path, tasks=("families:", "compare: {items.due: ignore}\ntransient: forbid\nfamilies:")
    )
    (tmp_path / "tasks.py").write_text(TASKS, "utf-8")
    world = load_world(tmp_path)
    with world.template() as template:
        task = FamilyTasks(world, template, ["count_items"]).task("count_items", 0, 0)
    assert task.rules.compare == {"items.due": "ignore", "items.note": "free_text"}
    assert (task.rules.transient, task.now[:10]) == ("forbid", "2026-03-02")


def test_the_ids_do_not_depend_on_the_order_of_yield(tmp_path: Path):
    one = source(tmp_path / "w", TASKS)
    other = source(tmp_path / "v" / "w", TASKS.replace("ORDER BY price DESC", "ORDER BY price"))
    ids = [{made.task("plan_cheap", at, 0).id for at in range(3)} for made in (one, other)]
    assert ids[0] == ids[1]


FAMILY = (
    'def one(db):\n    yield {"slots": {"a": 1}, "key": 1, "user": {"says": "{a}"}, "gold":'
    ' [{"say": "x"}]}\n'
)


@pytest.mark.parametrize(
    ("code", "line", "words"),
    [
        ("x = 1\n", None, "defines no family: a family is a public function that yields tasks"),
        ("\n\ndef plan(db):\n    yield {}\n", 3, "family plan: another family has this id"),
        ("def one(db):\n    yield from ()\n", 1, "yields no task"),
        ("def one(db):\n    return 5\n", 1, "returns 5; it should yield dicts"),
        ("def one(db):\n    yield 5\n", 1, "must yield dicts, not 5"),
        (
            "def one(db):\n    if True:\n        raise ValueError('no stock')\n    yield\n",
            3,
            "ValueError: no stock",
        ),
        (
            "def one(db):\n    db.exec_driver_sql('DELETE FROM items')\n    yield {}\n",
            2,
            "DatabaseError",
        ),
        ("def one(db, more):\n    yield {}\n", 1, "family one: must take one argument, (db)"),
        (
            "async def one(db):\n    pass\n",
            1,
            "family one: is async; write a plain function that yields",
        ),
        ("async def one(db):\n    yield {}\n", 1, "family one: is async"),
        (FAMILY.replace('"slots": {"a": 1}, ', ""), 1, "a task needs `slots`"),
        (FAMILY.replace('"key": 1, ', ""), 1, "a task needs `key`"),
        (FAMILY.replace('"key"', '"kye"'), 1, "a task has no key 'kye'; did you mean 'key'?"),
        (FAMILY.replace('"key": 1', '"key": 1, "vary": {}'), 1, "a task has no key 'vary'"),
        (FAMILY.replace('"a": 1', '"a b": 1'), 1, "the name 'a b' must match"),
        (FAMILY.replace('"a": 1', "5: 1"), 1, "a task: slots: a key must be text, not 5"),
        (
            FAMILY.replace('"a": 1', '"a": {1, 2}'),
            1,
            "a task: slots: a: {1, 2} is not a JSON value",
        ),
        (FAMILY.replace('"a": 1', '"a": float("nan")'), 1, "slots: a: nan is not a JSON value"),
        (FAMILY.replace('"a": 1', '"a": 2 ** 64'), 1, "does not fit into 64 bits"),
        (
            FAMILY.replace('"a": 1', '"a": {"$": "pid"}'),
            1,
            "a key in a slot's value must not begin with $",
        ),
        (FAMILY.replace('"{a}"', '"{b}"'), 1, "says: unknown slot 'b'; known are a"),
        (
            FAMILY.replace('"say": "x"', '"sya": "x"'),
            1,
            "'sya' is neither a tool nor a step word; did you mean 'say'?",
        ),
        (FAMILY.replace('"key": 1', '"key": 1, "case": 2'), 1, "`case` must be text, not 2"),
        (
            FAMILY.replace('"key": 1', '"key": 1, "alternatives": {"any_of": [{}]}'),
            1,
            "alternatives any_of needs `must`",
        ),
        (
            FAMILY + FAMILY.partition("\n")[2].replace('"x"', '"y"'),
            1,
            "two tasks have the slots {'a': 1}",
        ),
    ],
)
def test_each_mistake_is_one_message_at_its_function(
    tmp_path: Path, code: str, line: int | None, words: str
):
    with pytest.raises(TaskError) as caught:
        source(tmp_path, code)
    error = caught.value
    assert words in str(error)
    assert Path(str(error.file)).name == "tasks.py"
    assert error.line == line


def test_code_that_cannot_be_imported(tmp_path: Path):
    with pytest.raises(WorldError, match=re.escape("tasks.py:2: ZeroDivisionError")):
        source(tmp_path, "x = 0\n1 / x\n")


def test_more_than_anyone_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A function that never stops yielding is stopped."""
    monkeypatch.setattr("synth.core.tasks.python.MOST", 50)
    endless: Any = (
        "import itertools\n\ndef one(db):\n    for a in itertools.count():\n       "
        ' yield {"slots": {"a": a}}\n'
    )
    with pytest.raises(TaskError, match="yields more than 50 tasks"):
        source(tmp_path, endless)
