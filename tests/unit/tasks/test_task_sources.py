"""Every task source keeps the contract: the shipped ones, and one of a stranger's package."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy

from envs.sandboxes.base import Template
from envs.world.loader import World, load_world
from synth.config import RunConfig, from_dict
from synth.core.config.task_rules import load_task_source, task_source_options
from synth.core.foundation.hashing import digest
from synth.core.tasks.families import FamilySource
from synth.core.tasks.python import function_tasks
from synth.errors import ConfigProblems, TaskError
from synth.ext.text2sql.sources import BirdOptions, BirdSource
from synth.plugins import FAMILY_READERS, TASK_SOURCES, NoOptions
from synth.prepare import prepare
from synth.source import TaskPool, TaskSource
from synth.testing import TaskSourceConformance
from tests.bird_folder import bird_folder
from tests.unit import small_world

FAMILIES_IN_PYTHON = '''
from sqlalchemy import text


def price_of(db):
    """What an item costs."""
    for item_id, name in db.execute(text("SELECT item_id, name FROM items")):
        yield {
            "slots": {"name": name},
            "key": item_id,
            "user": {"says": ["The price of {name}?", "What is {name}?"]},
            "gold": [{"find_items": {"name": "{name}"}}, {"say": "Found."}],
        }
'''


@dataclass(frozen=True)
class CsvOptions:
    file: str
    greeting: str = "Hello"


class CsvSource(TaskSource):
    """A stranger's source: one question for each line of a CSV file."""

    Options = CsvOptions

    def __init__(self, options: CsvOptions) -> None:
        super().__init__(options)
        self._text = Path(options.file).read_text("utf-8")
        self._greeting = options.greeting

    def open(
        self, world: World, template: Template, families: Any = None, universe: int = 0
    ) -> TaskPool:
        identity = digest(self._text, self._greeting)
        return function_tasks([self.asked], world, template, families, universe, identity=identity)

    def asked(self, db: sqlalchemy.Connection) -> Iterator[Mapping[str, Any]]:
        for row in csv.DictReader(self._text.splitlines()):
            yield {
                "slots": {"name": row["item"]},
                "key": row["item"],
                "user": {"says": f"{self._greeting}, do you have {{name}}?"},
                "gold": [{"find_items": {"name": "{name}"}}, {"say": "We do."}],
            }


OWN = f"{__name__}:CsvSource"


class _Small(TaskSourceConformance):
    @pytest.fixture(autouse=True)
    def _write(self, tmp_path: Path) -> None:
        self.folder = small_world.make(tmp_path / "small")

    def world_folder(self) -> Path:
        return self.folder

    def source(self) -> TaskSource:
        return FamilySource(NoOptions())


class TestYaml(_Small):
    """Families of tasks.yaml."""


class TestPython(_Small):
    """Families of tasks.py, without a tasks.yaml."""

    @pytest.fixture(autouse=True)
    def _python(self, _write: None) -> None:
        (self.folder / "tasks.yaml").unlink()
        (self.folder / "tasks.py").write_text(FAMILIES_IN_PYTHON, "utf-8")


class TestBird(TaskSourceConformance):
    @pytest.fixture(autouse=True)
    def _publish(self, tmp_path: Path) -> None:
        self.published = bird_folder(tmp_path / "bird")

    def source(self) -> TaskSource:
        return BirdSource(BirdOptions(str(self.published), 2))


class TestStrangers(_Small):
    @pytest.fixture(autouse=True)
    def _csv(self, tmp_path: Path) -> None:
        self.file = tmp_path / "asked.csv"
        self.file.write_text("item\nLamp\nChair\nDesk\n", "utf-8")

    def source(self) -> TaskSource:
        return CsvSource(CsvOptions(str(self.file)))


def test_the_built_in_sources_come_in_by_the_same_door():
    assert TASK_SOURCES.load("families") is FamilySource
    assert TASK_SOURCES.load("bird") is BirdSource
    assert list(FAMILY_READERS.builtin) == ["tasks.yaml", "tasks.py", "questions.json"]


def config(folder: Path, **tasks: Any) -> RunConfig:
    return from_dict({"env": {"name": None, "path": str(folder)}, "tasks": tasks})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return small_world.make(tmp_path / "small")


def test_a_run_takes_its_tasks_from_a_strangers_source(folder: Path, tmp_path: Path):
    file = tmp_path / "asked.csv"
    file.write_text("item\nLamp\nChair\n", "utf-8")
    options = {"file": str(file), "greeting": "Good day"}
    run = prepare(config(folder, kind=OWN, options=options, count=2))
    prompts = {run.plan.task(index).prompt for index in range(2)}
    assert prompts == {"Good day, do you have Lamp?", "Good day, do you have Chair?"}
    before = run.plan.digest()
    file.write_text("item\nLamp\nDesk\n", "utf-8")
    assert prepare(config(folder, kind=OWN, options=options, count=2)).plan.digest() != before


@pytest.mark.parametrize(
    ("tasks", "line"),
    [
        ({"kind": "familys"}, "tasks.kind: unknown task source 'familys'; did you mean families?"),
        ({"kind": "no_such_package:Source"}, "tasks.kind: cannot import 'no_such_package'"),
        ({"kind": OWN}, "tasks.options.file: "),
        (
            {"kind": OWN, "options": {"file": "x", "greetin": "Hi"}},
            "tasks.options.greetin: unknown key",
        ),
        ({"kind": OWN, "options": {"file": 7}}, "tasks.options.file: must be text, not 7"),
        ({"kind": OWN, "options": {"file": "x"}, "path": "y"}, "tasks.path: tasks="),
        (
            {"kind": "bird"},
            "tasks.path: tasks=bird needs the folder of its questions, as in tasks.path=data",
        ),
        ({"path": "data"}, "tasks.path: tasks=families reads no path; leave it null"),
        ({"options": {"shuffle": True}}, "tasks.options.shuffle: unknown key"),
        (
            {"kind": "bird", "path": "x", "universes": 2},
            "tasks.universes, tasks.splits: not with tasks=bird, which makes its own universes",
        ),
    ],
)
def test_a_config_that_does_not_fit_the_source_is_refused(
    folder: Path, tasks: dict[str, Any], line: str
):
    with pytest.raises(ConfigProblems) as caught:
        prepare(config(folder, **tasks))
    assert any(problem.startswith(line) for problem in caught.value.problems), caught.value


def test_path_and_suite_are_options_of_a_source_that_declares_them():
    source = load_task_source("bird")
    tasks = {"path": "there", "suite": 5, "options": {}}
    assert task_source_options(source, tasks) == BirdOptions("there", 5)


def test_a_world_without_families_is_told_to_write_tasks_yaml(folder: Path):
    (folder / "tasks.yaml").unlink()
    world = load_world(folder)
    with world.template() as template, pytest.raises(TaskError, match=r"tasks\.yaml"):
        FamilySource(NoOptions()).open(world, template)
