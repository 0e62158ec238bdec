"""A form of answers that all families share: what is shown, what is due, how well it hides."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from envs.world.loader import load_world
from synth.core.tasks.families import FamilyTasks
from synth.core.validation.family_guess import guess_families
from synth.core.validation.prove import prove
from synth.episode import Episode
from synth.errors import TaskError
from synth.task import Task

SCHEMA = """\
CREATE TABLE books (book_id INTEGER PRIMARY KEY, title TEXT NOT NULL, price REAL NOT NULL, colour TEXT NOT NULL);
"""
SEED = "INSERT INTO books VALUES (31, 'Emma', 9.5, 'red'), (32, 'Faust', 12, 'blue'), (33, 'Momo', 7, 'red');\n"
TOOLS = '''\
from envs import tool
from sqlalchemy import Connection, text


@tool(read_only=True)
def find_book(db: Connection, title: str) -> dict:
    """Find a book.

    Args:
        title: The whole title.
    """
    return dict(db.execute(text("SELECT * FROM books WHERE title = :t"), {"t": title}).mappings().one())


@tool()
def paint(db: Connection, book_id: int, colour: str) -> dict:
    """Give a book another colour.

    Args:
        book_id: The book.
        colour: The colour.
    """
    db.execute(text("UPDATE books SET colour = :c WHERE book_id = :b"), {"b": book_id, "c": colour})
    return {"status": "painted"}
'''
TASKS = """\
form: {decision: What came of it.}
families:
- id: price
  ground: {key: book_id, sql: "SELECT book_id, title FROM books"}
  user: {says: "What does {title} cost?"}
  answer: {price: {type: number, description: The price.}}
  gold:
  - find_book: {title: "{title}"}
    save: {price: $.price}
  - submit: {price: $price}
  - say: "It costs {price}."
- id: colour
  ground: {key: book_id, sql: "SELECT book_id, title, colour FROM books"}
  user: {says: "Is {title} red? Tell me its colour."}
  answer:
    decision: {enum: [red, other], description: Whether it is red.}
    colour: {description: The colour.}
  gold:
  - find_book: {title: "{title}"}
    save: {colour_now: $.colour}
  - if: $colour_now == 'red'
    do:
    - submit: {decision: red, colour: $colour_now}
    else:
    - submit: {decision: other, colour: $colour_now}
  - say: "It is {colour_now}."
- id: painted
  ground: {key: book_id, sql: "SELECT book_id, title FROM books"}
  user: {says: "Paint {title} green, please."}
  gold:
  - find_book: {title: "{title}"}
    save: {book: $.book_id}
  - paint: {book_id: $book, colour: green}
  - say: It is green now.
"""


def made(folder: Path, tasks: str = TASKS) -> FamilyTasks:
    folder.mkdir(exist_ok=True)
    files = {"schema.sql": SCHEMA, "seed.sql": SEED, "executors.py": TOOLS, "tasks.yaml": tasks}
    for name, text in {**files, "policy.md": "Be kind.\n"}.items():
        (folder / name).write_text(text, "utf-8")
    world = load_world(folder)
    return FamilyTasks(world, world.template())


def played(source: FamilyTasks, family: str, *answers: dict[str, Any]) -> tuple[list[str], float]:
    """The texts that answer calls of `submit` with these arguments, and the reward."""
    task = asyncio.run(prove(source.task(family, 0, 0), source.world, source.template))
    with Episode(task, source.world, source.template) as episode:

        async def work() -> list[str]:
            texts = [(await episode.call("submit", given)).content for given in answers]
            await episode.say(str(task.end.reply["said"][-1]) if task.end else "Done.")
            return texts

        texts = asyncio.run(work())
        return texts, episode.score().reward or 0.0


def test_every_task_shows_the_same_form(tmp_path: Path):
    source = made(tmp_path / "w")
    shown = [source.task(family.id, 0, 0).submit_parameters for family in source.families]
    assert shown[0] == shown[1] == shown[2]
    assert shown[0] is not None
    assert shown[0]["required"] == []
    assert shown[0]["properties"]["decision"] == {
        "type": "string",
        "enum": ["red", "other"],
        "description": "What came of it.",
    }
    again = Task.from_json(source.task("price", 0, 0).to_json())
    assert again.form == shown[0]


def test_what_is_due_is_asked_for_and_the_rest_is_left_alone(tmp_path: Path):
    source = made(tmp_path / "w")
    price = source.task("price", 0, 0).slots["title"]
    due = {"Emma": 9.5, "Faust": 12, "Momo": 7}[str(price)]
    texts, reward = played(source, "price", {"decision": "red"}, {"price": due, "colour": "blue"})
    assert "price" in texts[0]
    assert '"status":"error"' in texts[0]
    assert "received" in texts[1]
    assert reward == 1.0
    assert played(source, "price", {"price": due + 1})[1] == 0.0
    assert played(source, "price", {"price": due + 1}, {"price": due})[1] == 0.0


def test_a_family_without_an_answer_has_the_form_too(tmp_path: Path):
    texts, reward = played(made(tmp_path / "w"), "painted", {"decision": "red"})
    assert "received" in texts[0]
    assert reward == 0.0  # nothing was painted


def test_the_family_is_not_told_by_the_tools(tmp_path: Path):
    source = made(tmp_path / "w")
    apart = made(tmp_path / "v", TASKS.partition("\n")[2])
    for pool, share in ((source, 3 / 9), (apart, 1.0)):
        tasks = [pool.task(family.id, index, 0) for family in pool.families for index in range(3)]
        guess = guess_families(tasks)
        assert guess is not None
        assert guess.by_tools == pytest.approx(share)
        assert guess.by_request == 1.0


@pytest.mark.parametrize(
    ("was", "now", "message"),
    [
        ("{decision: What came", "{decison: What came", "did you mean 'decision'"),
        ("{description: The colour.}", "{type: integer, description: The colour.}", ""),
        ("colour: {description: The", "price: {description: The", "is number in price and string"),
    ],
)
def test_a_form_that_cannot_be(tmp_path: Path, was: str, now: str, message: str):
    tasks = TASKS.replace(was, now).replace(
        "colour: $colour_now}", "price: $colour_now}" if "price:" in now else "colour: $colour_now}"
    )
    if not message:
        made(tmp_path / "w", tasks)
        return
    with pytest.raises(TaskError, match=message):
        made(tmp_path / "w", tasks)
