"""Questions as BIRD publishes them become a world; what is wrong with them is told in one
message.
"""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from envs.errors import WorldError
from envs.ledger import Ledger
from envs.types import Pins, ToolCall
from envs.world.loader import load_world
from envs.world.query import ask
from synth.core.tasks.families import FamilyTasks
from synth.errors import OperatorError
from synth.ext.text2sql.sources import write_bird_world
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
    assert {task.gates[1].options["columns"] for task in tasks} == {"given"}
    assert {task.extras.get("difficulty") for task in tasks} == {
        "simple",
        "moderate",
        "challenging",
        None,
    }


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
    found = [one for source in made for one in source.account.entries if one.outcome == "left out"]
    assert [(one.name, one.why) for one in found] == [
        (
            "card_games 26",
            "a LIMIT or a window within it takes one of several rows with equal sort keys",
        ),
        ("card_games 27", "its query fails: no such column: setCode (column_not_found)"),
        ("formula_1 28", "its query finds nothing"),
        ("formula_1 29", "RAND gives another value each time"),
    ]
    for source in made:
        source.account.check()


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
    before = {file: file.read_bytes() for file in published.rglob("*") if file.is_file()}
    sources(write_bird_world(published, tmp_path / "world"))
    after = {file: file.read_bytes() for file in published.rglob("*") if file.is_file()}
    assert after == before


def test_some_of_the_databases_named_in_words(folder: Path, tmp_path: Path):
    name, home = "Formula 1 (é)", folder / "dev_databases"
    (home / "formula_1").rename(home / name)
    rewrite(lambda asked: [one.update(db_id=name) for one in asked if "la_" in one["db_id"]])(
        folder
    )
    world = write_bird_world(folder, tmp_path / "world", databases=[name])
    assert [source.families[0].id for source in sources(world)] == [name]


Q, BRITISH = "British?", 'SELECT surname FROM drivers WHERE nationality = "British"'
TURN = {"utterance": Q, "query": BRITISH}
LAYOUTS: list[tuple[str, list[dict[str, Any]], int, dict[str, str]]] = [
    ("dev.json", [{"db_id": "formula_1", "question": Q, "query": BRITISH + ";"}], 1, {}),
    (
        "S.csv",
        [{"db_name": "formula_1", "query": BRITISH, "question": Q, "instructions": ""}],
        1,
        {},
    ),
    (
        "live.jsonl",
        [
            {"instance_id": str(at), "selected_database": "formula_1", "query": Q, **more}
            for at, more in enumerate(
                (
                    {"sol_sql": [BRITISH], "preprocess_sql": [], "external_knowledge": []},
                    {"sol_sql": [BRITISH], "preprocess_sql": ["DELETE FROM drivers"]},
                    {"sol_sql": [BRITISH], "external_knowledge": [3]},
                    {"sql": "", "pred_sql": BRITISH},
                    {"sql": {"sel": 3}},
                    {"sol_sql": [BRITISH, BRITISH + " LIMIT 1"]},
                )
            )
        ],
        1,
        {
            "1": "preprocess_sql changes the database first",
            "2": "its external_knowledge [3] is kept elsewhere",
            "3": "it has no SQL or query",
            "4": "its sql is not a query in SQL",
            "formula_1 5": "one of its queries gives another answer than the first",
        },
    ),
    (
        "sparc.json",
        [{"database_id": "formula_1", "interaction": [TURN, TURN], "final": TURN}],
        2,
        {"1-interaction-2": "it goes on from another question of its entry"},
    ),
    (
        "formula_1.json",
        [
            {
                "sentences": [{"text": "name0 men?", "variables": {"name0": "British"}}],
                "sql": [BRITISH.replace("British", "name0")],
                "variables": [{"name": "name0", "example": "German"}],
            }
        ],
        1,
        {},
    ),
]


@pytest.mark.parametrize(("name", "entries", "asked", "left_out"), LAYOUTS)
def test_published_layouts(
    published: Path,
    tmp_path: Path,
    name: str,
    entries: list[dict[str, Any]],
    asked: int,
    left_out: dict[str, str],
):
    """Of each layout, the questions that its own fields settle are asked; the right query is the
    one that the authors call so.
    """
    shutil.copytree(published / "dev_databases", tmp_path / "set" / "database")
    rows = "\n".join(map(json.dumps, entries))
    with (tmp_path / "set" / name).open("w", encoding="utf-8", newline="") as file:
        if name.endswith(".csv"):
            writer = csv.DictWriter(file, entries[0])
            writer.writeheader()
            writer.writerows(entries)
        else:
            file.write(rows if name.endswith("l") else json.dumps(entries))
    (source,) = sources(write_bird_world(tmp_path / "set", tmp_path / "world", rows="gold"))
    tasks = [source.task("formula_1", at, 0) for at in range(source.capacity("formula_1"))]
    assert len(tasks) == asked
    options = [task.gates[1].options for task in tasks]
    assert {(own["query"], own["columns"]) for own in options} == {(BRITISH, "any")}
    assert {one.name: one.why for one in source.account.entries} == left_out
    source.account.check()


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
    (lambda folder: shutil.rmtree(folder), "tasks.path: not found"),
    (
        lambda folder: (folder / "dev.json").unlink(),
        "holds no file of questions, such as mini_dev_sqlite.json",
    ),
    (
        lambda folder: shutil.rmtree(folder / "dev_databases"),
        "no SQLite file (.sqlite, .sqlite3, .db) here",
    ),
    (text(b"[{"), "neither JSON"),
    (text(b"\xff\xfe["), "neither JSON"),
    (text(b"{}"), "it is not an object"),
    (text(b"[]"), "it is empty"),
    (text(b"[7]"), "no question can be read: it is not an object"),
    (rewrite(lambda asked: [each.pop("SQL") for each in asked]), "it has no SQL or query"),
]


@pytest.mark.parametrize(("spoil", "told"), WRONG)
def test_what_is_wrong_is_told(
    folder: Path, tmp_path: Path, spoil: Callable[[Path], object], told: str
):
    spoil(folder)
    with pytest.raises(OperatorError) as caught:
        write_bird_world(folder, tmp_path / "world")
    assert told in str(caught.value)


def broken(name: str) -> Callable[[Path], Path]:
    return lambda folder: folder / "dev_databases" / "formula_1" / f"formula_1.sqlite{name}"


LEFT_OUT: list[tuple[Callable[[Path], object], str, str]] = [
    (rewrite(lambda asked: asked[1].pop("SQL")), "1", "it has no SQL or query"),
    (rewrite(lambda asked: asked[1].pop("question")), "1", "it has no question"),
    (rewrite(lambda asked: asked[1].update(db_id=None)), "1", "it has no db_id"),
    (rewrite(lambda asked: asked[1].update(db_id="../x")), "1", "its db_id '../x' must begin"),
    (rewrite(lambda asked: asked.insert(1, 7)), "2", "it is not an object"),
    (
        rewrite(lambda asked: asked[1].update(question="\ud800?")),
        "1",
        "question is not valid UTF-8",
    ),
    (lambda folder: broken("")(folder).unlink(), "formula_1", "file not found"),
    (lambda folder: broken("")(folder).write_text("x"), "formula_1", "not a SQLite database"),
    (
        lambda folder: broken("")(folder).write_bytes(broken("")(folder).read_bytes()[:5000]),
        "formula_1",
        "not a SQLite database",
    ),
    (lambda folder: broken("-wal")(folder).write_text("x"), "formula_1", "its -wal file"),
]


@pytest.mark.parametrize(("spoil", "name", "why"), LEFT_OUT)
def test_one_bad_part_leaves_itself_out(
    folder: Path, tmp_path: Path, spoil: Callable[[Path], object], name: str, why: str
):
    """The questions about the other databases are asked, and the account adds up."""
    spoil(folder)
    made = sources(write_bird_world(folder, tmp_path / "world"))
    whole = Ledger()
    for source in made:
        whole.add(source.account)
    whole.check()
    reasons = {one.name: one.why for one in whole.entries}
    assert why in reasons[name]
    asked = {family.id for source in made for family in source.families}
    assert asked == set(DATABASES) - {name}
    found = len(json.loads((folder / "dev.json").read_text("utf-8")))
    assert whole.counts()["question"]["found"] == found


def test_a_question_with_a_stray_byte_is_left_out(folder: Path, tmp_path: Path):
    text = (folder / "dev.json").read_bytes()
    (folder / "dev.json").write_bytes(
        text.replace("Do\u00f1a".encode(), "Do\u00f1a".encode("latin-1"))
    )
    made = sources(write_bird_world(folder, tmp_path / "world"))
    reasons = [one.why for source in made for one in source.account.entries]
    assert reasons.count("its question is not valid UTF-8") == 1


def test_an_id_twice_and_an_unknown_difficulty_are_asked(folder: Path, tmp_path: Path):
    rewrite(lambda asked: asked[1].update(question_id=0, difficulty="hard"))(folder)
    made = sources(write_bird_world(folder, tmp_path / "world"))
    (school,) = (source for source in made if source.families[0].id == "california_schools")
    keys = [school.task("california_schools", at, 0).key for at in range(10)]
    assert "0-2" in keys
    (changed,) = (one for one in school.account.entries if "hard" in one.why)
    assert (changed.name, changed.outcome) == ("california_schools 0-2", "changed")


def test_bytes_that_are_not_utf_8_are_the_replacement_sign(folder: Path, tmp_path: Path):
    """Nobody asks about the table; a question about it reads the sign."""
    path = broken("")(folder)
    with sqlite3.connect(path) as raw:
        raw.execute("CREATE TABLE places (id INTEGER PRIMARY KEY, name TEXT)")
        raw.execute("INSERT INTO places VALUES (1, CAST(x'4de96e' AS TEXT)), (2, 'fine')")
    raw.close()
    before = path.read_bytes()
    rewrite(
        lambda asked: asked.append(
            {"db_id": "formula_1", "question": "Where?", "SQL": "SELECT name FROM places"}
        )
    )(folder)
    world = load_world(write_bird_world(folder, tmp_path / "world"))
    number = [one.name for one in world.databases].index("formula_1")
    with world.template(universe=number) as template, template.open(Pins()) as sandbox:
        assert FamilyTasks(world, template, None, number).capacity("formula_1") == 11
        answer = ask(sandbox, template.tables, "SELECT name FROM places")
    assert answer.rows == (("M\ufffdn",), ("fine",))
    assert path.read_bytes() == before


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
