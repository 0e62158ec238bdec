"""Questions as BIRD publishes them become a world; what is wrong with them is told in one
message.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from envs.errors import WorldError
from envs.types import Pins, ToolCall
from envs.world.loader import load_world
from synth.errors import OperatorError
from synth.tasks.families import FamilyTasks
from synth.text2sql.bird import write_bird_world
from tests.bird_folder import ASKED, DATABASES, bird_folder, questions


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bird_folder(tmp_path_factory.mktemp("published") / "bird")


@pytest.fixture
def folder(published: Path, tmp_path: Path) -> Path:
    """A copy to break."""
    shutil.copytree(published, tmp_path / "bird")
    return tmp_path / "bird"


def sources(world_folder: Path, families: list[str] | None = None) -> list[FamilyTasks]:
    world = load_world(world_folder)
    out: list[FamilyTasks] = []
    for universe in range(len(world.databases)):
        with world.template(universe=universe) as template:
            out.append(FamilyTasks(world, template, families, universe))
    return out


def test_each_database_is_a_universe_with_its_own_questions(published: Path, tmp_path: Path):
    made = sources(write_bird_world(published, tmp_path / "world"))
    assert [[family.id for family in source.families] for source in made] == [
        [name] for name in sorted(DATABASES)
    ]
    tasks = [
        source.task(family.id, at, 0)
        for source in made
        for family in source.families
        for at in range(source.capacity(family.id))
    ]
    assert sorted(task.gates[1].options["query"] for task in tasks) == sorted(
        entry[3] for entry in ASKED
    )
    assert len({task.id for task in tasks}) == len(ASKED)
    assert {task.difficulty for task in tasks} == {"simple", "moderate", "challenging", None}


def test_questions_keep_their_letters(published: Path, tmp_path: Path):
    """Braces, quotes and umlauts are no notation; the evidence is a hint."""
    made = sources(write_bird_world(published, tmp_path / "world"))
    prompts = {
        task.prompt
        for source in made
        for family in source.families
        for task in [source.task(family.id, at, 0) for at in range(source.capacity(family.id))]
    }
    assert "Name {one} county with more than 2 schools, in words like {this}." in prompts
    assert "Which schools are virtual?\n\nHint: virtual means Virtual = 'F'" in prompts
    assert "Is the name Doña Ana known? Its county, please." in prompts


def test_what_is_left_out_and_why(published: Path, tmp_path: Path):
    made = sources(write_bird_world(published, tmp_path / "world"))
    assert [line for source in made for line in source.left_out] == [
        "card_games 26: LIMIT without ORDER BY takes any rows",
        "card_games 27: its query fails: no such column: setCode (column_not_found)",
        "formula_1 28: its query finds nothing",
        "formula_1 29: RAND gives another value each time",
    ]


def test_descriptions_in_any_encoding_reach_the_agent(published: Path, tmp_path: Path):
    world = load_world(write_bird_world(published, tmp_path / "world"))
    told: dict[str, str] = {}
    for universe, table in ((0, "schools"), (0, "frpm"), (2, "drivers")):
        with (
            world.template(universe=universe) as template,
            world.environment(template, Pins()) as environment,
        ):
            output = environment.call(ToolCall.of("describe_table", {"table": table})).result.output
            told |= {each["name"]: each["about"] for each in output["columns"] if "about" in each}
    assert told == {
        "County": "the county \u2013 as the state spells it",
        "Virtual": "whether the school is virtual; F = exclusively virtual N = not virtual",
        "Percent (%) Eligible Free (K-12)": "rate; share of pupils; 0 to 1",
        "nationality": "na\u00efve word \x81 for a country",
    }


def test_nothing_of_the_published_is_touched(published: Path, tmp_path: Path):
    before = {
        each: hashlib.sha256(each.read_bytes()).digest()
        for each in published.rglob("*")
        if each.is_file()
    }
    sources(write_bird_world(published, tmp_path / "world"))
    assert {
        each: hashlib.sha256(each.read_bytes()).digest()
        for each in published.rglob("*")
        if each.is_file()
    } == before


def test_some_of_the_databases(published: Path, tmp_path: Path):
    world = write_bird_world(published, tmp_path / "world", databases=["formula_1"])
    assert [source.families[0].id for source in sources(world)] == ["formula_1"]


def test_spiders_form(published: Path, tmp_path: Path):
    """`query` for SQL, a folder `database`, no ids, no evidence, text in double quotes."""
    spider = tmp_path / "spider"
    shutil.copytree(published / "dev_databases", spider / "database")
    asked = [
        {
            "db_id": "formula_1",
            "question": "British?",
            "query": 'SELECT surname FROM drivers WHERE nationality = "British";',
        }
    ]
    (spider / "dev.json").write_text(json.dumps(asked), "utf-8")
    (source,) = sources(write_bird_world(spider, tmp_path / "world"))
    assert (source.capacity("formula_1"), source.left_out) == (1, [])


def rewrite(change: Callable[[list[dict[str, Any]]], object]) -> Callable[[Path], None]:
    def work(folder: Path) -> None:
        asked = questions()
        change(asked)
        (folder / "dev.json").write_text(json.dumps(asked), "utf-8")

    return work


def text(content: bytes) -> Callable[[Path], None]:
    def work(folder: Path) -> None:
        (folder / "dev.json").write_bytes(content)

    return work


WRONG: list[tuple[Callable[[Path], object], str]] = [
    (lambda folder: shutil.rmtree(folder), "tasks.path: there is no"),
    (
        lambda folder: (folder / "dev.json").unlink(),
        "holds no file of questions, such as mini_dev_sqlite.json",
    ),
    (
        lambda folder: shutil.rmtree(folder / "dev_databases"),
        "no folder of databases beside dev.json",
    ),
    (
        lambda folder: shutil.rmtree(folder / "dev_databases" / "formula_1"),
        "asks about 'formula_1', and there is no",
    ),
    (
        lambda folder: (folder / "dev_databases" / "formula_1" / "formula_1.sqlite").write_text(
            "x"
        ),
        "this is no SQLite database",
    ),
    (
        lambda folder: (folder / "dev_databases" / "formula_1" / "formula_1.sqlite-wal").write_text(
            "x"
        ),
        "still stand in its -wal file",
    ),
    (text(b"[{"), "no JSON"),
    (text(b"\xff\xfe["), "not UTF-8 at byte 0"),
    (text(b"{}"), "must hold a list of questions"),
    (text(b"[]"), "must hold a list of questions"),
    (text(b"[7]"), "question 0 is no object"),
    (rewrite(lambda asked: asked[1].pop("SQL")), "question 1 has no SQL or query"),
    (rewrite(lambda asked: asked[1].pop("question")), "question 1 has no question"),
    (rewrite(lambda asked: asked[1].update(db_id=None)), "question 1 has no db_id"),
    (rewrite(lambda asked: asked[1].update(db_id="../x")), "the db_id '../x' must match"),
    (rewrite(lambda asked: asked[1].update(question_id=0)), "question 0 stands there twice"),
    (
        rewrite(lambda asked: asked[1].update(difficulty="hard")),
        "the difficulty 'hard' is none of simple",
    ),
    (rewrite(lambda asked: [each.pop("SQL") for each in asked]), "and 22 more"),
]


@pytest.mark.parametrize(("spoil", "told"), WRONG)
def test_what_is_wrong_is_told(
    folder: Path, tmp_path: Path, spoil: Callable[[Path], object], told: str
):
    spoil(folder)
    with pytest.raises(OperatorError) as caught:
        write_bird_world(folder, tmp_path / "world")
    assert told in str(caught.value)


def test_a_database_that_nobody_asks_about(published: Path, tmp_path: Path):
    with pytest.raises(OperatorError, match="did you mean 'formula_1'"):
        write_bird_world(published, tmp_path / "world", databases=["formula1"])


def test_a_database_that_changed_is_refused(folder: Path, tmp_path: Path):
    """A replay reads the file where it is, and has to know that it is the same."""
    world = load_world(write_bird_world(folder, tmp_path / "world"))
    with (folder / "dev_databases" / "card_games" / "card_games.sqlite").open("ab") as file:
        file.write(b"\0" * 4096)
    with pytest.raises(WorldError, match="is not what it was"):
        world.template(universe=1)
