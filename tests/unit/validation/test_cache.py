"""What proved itself is not proved again; several processes find what one finds; a seed.py must be
a function.
"""

from __future__ import annotations

import json
import pickle
from contextlib import closing
from pathlib import Path

import pytest

from envs.world.loader import load_world
from synth.core.validation import cache, world
from synth.core.validation.cache import ReportCache
from synth.core.validation.check import FamilyChecker, Options
from synth.core.validation.seed_check import check_seed
from synth.errors import OperatorError, TaskError
from tests.unit import small_world
from tests.unit.validation import talking_world

pytestmark = pytest.mark.slow

OPTIONS = Options(per_case=1)


def remembered(folder: Path, home: Path, options: Options = OPTIONS) -> world.WorldReport:
    """Check with a cache at ``home``."""
    key = {"per_case": options.per_case, "universes": options.universes}
    return world.check_world(
        folder, options, lambda _: None, cache=ReportCache(load_world(folder), key, home)
    )


def test_only_what_changed_is_proved_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder, home = small_world.make(tmp_path / "world"), tmp_path / "home"
    first = remembered(folder, home)
    assert [each.cached for each in first.families] == [False, False]
    again = remembered(folder, home)
    assert [each.cached for each in again.families] == [True, True]
    assert [{**each.to_json(), "cached": False} for each in again.families] == [
        each.to_json() for each in first.families
    ]
    (folder / "policy.md").write_text("Be very careful.\n", "utf-8")
    assert not any(each.cached for each in remembered(folder, home).families)
    assert all(each.cached for each in remembered(folder, home).families)
    monkeypatch.setattr(cache, "source_digest", lambda: "another version of this software")
    assert not any(each.cached for each in remembered(folder, home).families)
    assert not any(each.cached for each in remembered(folder, home, Options(per_case=2)).families)


def test_only_clean_families_are_remembered(tmp_path: Path):
    folder = small_world.make(
        tmp_path / "world", tasks=("SELECT price FROM", "SELECT price + 1 FROM")
    )
    for cached in (False, True):
        report = remembered(folder, tmp_path / "home")
        assert [(each.family, each.ok, each.cached) for each in report.families] == [
            ("plan", True, cached),
            ("price", False, False),
        ]


@pytest.mark.parametrize(
    "damage",
    ["", "{", "[]", "null", '{"key": 1}', "as it was, with a family that failed", "binary"],
)
def test_a_damaged_entry_is_proved_again_and_rewritten(tmp_path: Path, damage: str):
    folder, home = small_world.make(tmp_path / "world"), tmp_path / "home"
    remembered(folder, home)
    (entry,) = home.glob("*/plan.0.json")
    whole = json.loads(entry.read_text("utf-8"))
    if damage.startswith("as it was"):
        whole["value"]["report"]["problems"] = ["a lie"]
        entry.write_text(json.dumps(whole), "utf-8")
    elif damage == "binary":
        entry.write_bytes(b"\xff\xfe\x00")
    else:
        entry.write_text(damage, "utf-8")
    assert [each.cached for each in remembered(folder, home).families] == [False, True]
    assert [each.cached for each in remembered(folder, home).families] == [True, True]
    assert not list(entry.parent.glob(".*"))  # no half-written file is left


def test_a_home_that_cannot_be_written_is_told_and_nothing_fails(tmp_path: Path):
    (tmp_path / "home").write_text("a file where a folder is wanted", "utf-8")
    report = remembered(small_world.make(tmp_path / "world"), tmp_path / "home")
    assert report.ok
    assert report.uncached is not None
    assert str(tmp_path / "home") in report.uncached


@pytest.mark.filterwarnings("ignore:resource_tracker")  # of a tracker that an earlier test ended
def test_several_processes_find_what_one_finds(tmp_path: Path):
    """Failures too, in the order of the families."""
    folder = talking_world.make(
        tmp_path / "world", ("SELECT colour = 'red'", "SELECT colour = 'blue'")
    )
    told: list[list[str]] = [[], []]
    alone = world.check_world(folder, OPTIONS, lambda each: told[0].append(each.family))
    together = world.check_world(
        folder, OPTIONS, lambda each: told[1].append(each.family), workers=2
    )
    assert [each.to_json() for each in alone.families] == [
        each.to_json() for each in together.families
    ]
    assert told[0] == told[1] == ["book_namesake", "perhaps_not", "any_red_room"]
    assert [each.ok for each in together.families] == [True, True, False]


def test_a_tool_that_kills_its_process_is_one_error(tmp_path: Path):
    """It lives in the process that only reads the world, and dies in those that play."""
    old = 'found = db.execute(text("SELECT * FROM items WHERE instr'
    folder = small_world.make(
        tmp_path / "world", executors=(old, f"__import__('os')._exit(3)\n    {old}")
    )
    with pytest.raises(OperatorError, match=r"a worker process died.*--workers 1"):
        world.check_world(folder, OPTIONS, lambda _: None, workers=2)


SEED = """\
def rows(universe, random):
    for at in range(3):
        name = random.choice(["Lamp", "Chair", "Desk"])
        yield "items", {{"item_id": 10 * universe + at, "name": f"{{name}} {{universe}}{{at}}", "price": {price}}}
"""


def seeded(folder: Path, price: str = "random.randint(1, 99)") -> Path:
    small_world.make(folder)
    (folder / "seed.py").write_text(SEED.format(price=price), "utf-8")
    return folder


def test_each_family_is_proved_in_each_universe(tmp_path: Path):
    options = Options(per_case=1, universes=3)
    for cached in (False, True):
        report = remembered(seeded(tmp_path / "world"), tmp_path / "home", options)
        assert report.ok, report
        assert [(each.family, each.tasks, each.cached) for each in report.families] == [
            ("plan", 3, cached),
            ("price", 3, cached),
        ]


@pytest.mark.parametrize(
    ("price", "words"),
    [
        ("hash(name) % 97", "rows(1) gives other rows in another process"),
        ("len(list({'a', name}).pop(0))", "rows(1) gives other rows in another process"),
        ("1 / 0", "rows(1) breaks: ZeroDivisionError"),
    ],
)
def test_a_seed_that_is_no_function_of_its_arguments_is_refused(
    tmp_path: Path, price: str, words: str
):
    told = check_seed(seeded(tmp_path / "world", price), "sqlite")
    assert told is not None
    assert words in told
    assert str(tmp_path / "world" / "seed.py") in told


def test_a_seed_that_forgets_the_universe_is_refused(tmp_path: Path):
    folder = seeded(tmp_path / "world")
    text = (
        "def rows(universe, random):\n    yield 'items', {'item_id': 7, 'name': 'Lamp',"
        " 'price': 1}\n"
    )
    (folder / "seed.py").write_text(text, "utf-8")
    told = check_seed(folder, "sqlite")
    assert told is not None
    assert "universes 1 and 2 the same rows" in told
    assert check_seed(seeded(tmp_path / "other"), "sqlite") is None


def test_a_universe_without_rows_for_a_family_is_named(tmp_path: Path):
    folder = seeded(tmp_path / "world")
    text = (
        (folder / "tasks.yaml")
        .read_text("utf-8")
        .replace(
            'sql: "SELECT item_id, name FROM items"}\n  vary',
            'sql: "SELECT item_id, name FROM items WHERE item_id < 5"}\n  vary',
        )
    )
    (folder / "tasks.yaml").write_text(text, "utf-8")
    report = world.check_world(folder, Options(per_case=1, universes=2), lambda _: None)
    plan, *_ = report.families
    assert plan.ok
    assert plan.notes == ["universe 1: it has no task here: the grounding yields no row"]


COUNTER = (
    'found = db.execute(text("SELECT * FROM items WHERE instr',
    'COUNT.append(1)\n    found = db.execute(text("SELECT * FROM items WHERE instr',
)


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (
            '{"name": name, "due": due, "n": len(COUNT)}',
            "plan_item gives another result when gold is played again",
        )
    ],
)
def test_a_tool_with_a_memory_is_told_apart_from_one_that_depends_on_order(
    tmp_path: Path, result: str, words: str
):
    folder = small_world.make(tmp_path / "world", executors=('{"name": name, "due": due}', result))
    code = (folder / "executors.py").read_text("utf-8")
    code = code.replace("\n\n@tool", "\n\nCOUNT = []\n\n\n@tool", 1).replace(*COUNTER)
    (folder / "executors.py").write_text(code, "utf-8")
    with closing(FamilyChecker(folder, OPTIONS)) as checker:
        (problem,) = checker.prove("plan", 0).problems
    assert problem is not None
    assert words in problem
    assert "depends on something besides the database and its arguments" in problem
    assert "ORDER BY" not in problem


def test_a_changed_word_proves_one_family_again(tmp_path: Path):
    folder, home = small_world.make(tmp_path / "world"), tmp_path / "home"
    remembered(folder, home)
    tasks = folder / "tasks.yaml"
    text = tasks.read_text("utf-8")
    assert text.count("says:") >= 2
    first, _, rest = text.rpartition("says: ")
    quote = rest[0] if rest[0] in "\"'" else rest[:2]
    tasks.write_text(f"{first}says: {quote}Please: {rest[len(quote) :]}", "utf-8")
    changed = remembered(folder, home)
    assert changed.ok
    assert [report.cached for report in changed.families] == [True, False]
    tasks.write_text(f"# a remark\n{tasks.read_text('utf-8')}", "utf-8")
    assert all(report.cached for report in remembered(folder, home).families)
    tasks.write_text(tasks.read_text("utf-8").replace('now: "2026-03-02', 'now: "2026-03-03'))
    assert not any(report.cached for report in remembered(folder, home).families)
    (folder / "executors.py").write_text((folder / "executors.py").read_text() + "\n# same\n")
    assert not any(report.cached for report in remembered(folder, home).families)


def test_the_first_mistake_of_each_family_is_reported_at_once(tmp_path: Path):
    folder = talking_world.make(tmp_path / "world")
    tasks = folder / "tasks.yaml"
    text = tasks.read_text("utf-8")
    tasks.write_text(text.replace("  gold:\n", "  gold:\n  - fly: {}\n"), "utf-8")
    with closing(FamilyChecker(folder, OPTIONS)) as checker, pytest.raises(TaskError) as caught:
        checker.families()
    lines = str(caught.value).splitlines()
    assert len(lines) == text.count("  gold:\n") == 3
    assert all("'fly' is neither a tool nor a step word" in line for line in lines)
    assert len({line.partition(": family")[0] for line in lines}) == 3
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


BAD_TASKS = '''
def plan_all(db):
    """Plan each item."""
    for name in ("Chair", "Desk"):
        yield {
            "slots": {"name": name},
            "key": name,
            "user": {"says": "Plan the {name} for 2026-04-01."},
            "gold": [{"plan_item": {"name": "{name}" if name == "Desk" else "{nme}", "due": "2026-04-01"}}],
        }
'''


def test_a_bad_task_of_a_function_is_left_out_with_its_key_and_reason(tmp_path: Path):
    folder = small_world.make(tmp_path / "world")
    (folder / "tasks.yaml").unlink()
    (folder / "tasks.py").write_text(BAD_TASKS, "utf-8")
    report = world.check_world(folder, OPTIONS, lambda _: None)
    assert report.families[0].capacity == 1
    counts, left_out = report.notes
    assert counts == "tasks: 1 of 2 used"
    where = f"{folder / 'tasks.py'}:2: family plan_all: `nme` is neither a slot nor"
    assert left_out.startswith(f"  left out plan_all 'Chair': {where}")
