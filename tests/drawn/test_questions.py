"""Drawn questions about drawn databases: each is asked, or left out by name; gold is right."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs.sandboxes.base import DatabaseTarget, Template
from envs.world.loader import World, load_world
from synth.core.tasks.families import FamilyTasks
from synth.core.validation.prove import prove
from synth.errors import TaskError
from synth.ext.text2sql.sources import QuestionOptions, QuestionSource, write_bird_world
from tests.drawn.databases import databases, make_sqlite
from tests.drawn.questions import as_json, question_sets, tables_of
from tests.drawn.running import drawn, sentence

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")]

NAME = "shop"


@drawn(3)
@given(st.data())
def test_questions_about_an_attached_database(data: st.DataObject):
    database = data.draw(databases())
    with tempfile.TemporaryDirectory() as home:
        file = Path(home) / "live.db"
        make_sqlite(database, file)
        questions = data.draw(question_sets(tables_of(file), NAME))
        (Path(home) / "questions.json").write_bytes(as_json(questions))
        with attached(Path(home), f"sqlite:///{file}") as found:
            check(questions, *found)


@drawn(3)
@given(st.data())
def test_a_folder_of_published_questions(data: st.DataObject):
    database = data.draw(databases())
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "bird"
        file = folder / "dev_databases" / NAME / f"{NAME}.sqlite"
        file.parent.mkdir(parents=True)
        make_sqlite(database, file)
        questions = data.draw(question_sets(tables_of(file), NAME))
        (folder / "dev.json").write_bytes(as_json(questions))
        with published(folder, Path(home) / "world") as found:
            check(questions, *found)


@contextmanager
def attached(home: Path, url: str) -> Iterator[tuple[World, Template]]:
    source = QuestionSource(QuestionOptions(str(home / "questions.json")))
    world = load_world(source.write_world(home / "world", None))
    with world.template("attached", 0, DatabaseTarget(url)) as template:
        yield world, template


@contextmanager
def published(folder: Path, home: Path) -> Iterator[tuple[World, Template]]:
    world = load_world(write_bird_world(folder, home))
    with world.template() as template:
        yield world, template


def check(questions: list[dict[str, Any]], world: World, template: Template) -> None:
    """Each question is asked or named, and gold earns the reward of each that is asked."""
    try:
        pool = FamilyTasks(world, template, None, 0)
    except TaskError as error:  # nothing can be asked
        sentence(error)
        return
    asked = [
        pool.task(family.id, at, 0)
        for family in pool.families
        for at in range(pool.capacity(family.id))
    ]
    pool.account.check()
    named = pool.account.count("question", "left out")
    assert len(asked) + named == len(questions), pool.account.entries
    for task in asked:
        asyncio.run(prove(task, world, template))
