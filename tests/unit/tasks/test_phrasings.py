"""phrasings.jsonl: how it is read, which tasks are asked in its words, and what holds it back."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from envs.sandboxes.base import Template
from envs.world.files import world_digest
from envs.world.loader import load_world
from synth.core.foundation.archive import pack_world, unpack_world
from synth.core.tasks.families import FamilyTasks
from synth.core.tasks.phrasings import UserPhrasing, digest_of, read_phrasings
from synth.core.tasks.yaml.family import Family
from synth.core.validation.cache import ReportCache
from synth.errors import TaskError
from tests.unit import talking_world

LINE = {"family": "price", "texts": {"says": "I need the price of {name}."}}


@pytest.fixture
def world(tmp_path: Path) -> Path:
    return talking_world.make(tmp_path / "desk")


def write(world: Path, *lines: object) -> None:
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    (world / "phrasings.jsonl").write_text(text, "utf-8")


@pytest.fixture
def template(world: Path) -> Iterator[Template]:
    with load_world(world).template() as template:
        yield template


def open_tasks(world: Path, template: Template) -> FamilyTasks:
    return FamilyTasks(load_world(world), template)


def test_a_task_is_asked_in_the_author_s_words_or_in_those_of_a_line(
    world: Path, template: Template
):
    plain = open_tasks(world, template)
    before = [plain.task("price", index, 0) for index in range(plain.capacity("price"))]
    write(world, LINE)
    source = open_tasks(world, template)
    after = [source.task("price", index, 0) for index in range(len(before))]
    assert [task.id for task in after] == [task.id for task in before]
    assert len({task.extras.get("phrasing") for task in [*before, *after]}) == 2
    for task in after:
        (again,) = source.find("price", task.slots, task.extras.get("phrasing"))
        assert again == task
    assert all(task.prompt == f"What does {task.slots['name']} cost?" for task in before)


def test_a_task_is_found_again_in_the_words_that_it_was_asked_in(world: Path, template: Template):
    write(world, *({**LINE, "texts": {"says": f"{word} {{name}}?"}} for word in "abcdefgh"))
    source = open_tasks(world, template)
    task = source.task("price", 0, 0)
    names = source.phrasing_names()["price"]
    assert len(names) == 9
    (other,) = source.find("price", task.slots, names[3])
    assert other.extras.get("phrasing") == names[3]
    assert other.prompt == f"c {task.slots['name']}?"
    assert other.id == task.id


def test_a_user_answers_and_agrees_in_the_words_of_a_line(world: Path, template: Template):
    texts = {"says": "{name} needs a date.", "knows.day": "Try {day}.", "agrees.0": "Do that."}
    line = {"family": "plan_asked", "texts": texts, "persona": "a planner"}
    write(world, line)
    source = open_tasks(world, template)
    task = source.task("plan_asked", 0, 0)
    (asked,) = source.find("plan_asked", task.slots, source.phrasing_names()["plan_asked"][1])
    role = asked.role
    assert role.opening == f"{task.slots['name']} needs a date."
    assert role.persona == "a planner"
    assert role.knows["day"].says == f"Try {task.slots['day']}."
    assert role.knows["colour"].says == "Any colour but red."
    assert role.consent is not None
    assert role.consent.says == "Do that."


def test_words_for_other_texts_of_a_family_are_left_out_with_a_note(
    world: Path, template: Template
):
    families = {one.id: one for one in open_tasks(world, template).families}
    price = families["price"]
    assert isinstance(price, Family)
    write(world, {**LINE, "of": digest_of(price.body.user)})
    assert len(open_tasks(world, template).phrasing_names()["price"]) == 2
    write(world, {**LINE, "of": "0123"}, {**LINE, "family": "prise"})
    source = open_tasks(world, template)
    assert len(source.phrasing_names()["price"]) == 1
    stale, unknown = source.notes
    assert "1 of price left out: the family's own words have changed" in stale
    assert "1 of prise left out: unknown family; did you mean 'price'?" in unknown


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "is not a JSON object on one line"),
        ("[]", "is not a JSON object on one line"),
        ("[" * 100_000, "is not a JSON object on one line"),
        ({"family": "price"}, "needs `texts`"),
        ({**LINE, "txts": {}}, "unknown key 'txts'; did you mean 'texts'?"),
        ({**LINE, "family": 3}, "needs `family`"),
        ({**LINE, "source": 3}, "`source` is an object"),
        ({**LINE, "texts": {"says": ""}}, "needs `texts`"),
        ({**LINE, "texts": {"knows.day": "x"}}, "needs the text 'says'"),
        ({**LINE, "texts": {"says": "The price?"}}, "says: names no slot, and needs {name}"),
        ({**LINE, "texts": {"says": "{nam}?"}}, "unknown slot 'nam'; did you mean 'name'?"),
        ({**LINE, "texts": {"says": "{name} {item_id}"}}, "unknown slot 'item_id'"),
        ({**LINE, "texts": {"says": "{name"}}, "says: a single '{'"),
        ({**LINE, "texts": {"says": "{name}?", "then.0": "x"}}, "its user has no text 'then.0'"),
    ],
)
def test_a_wrong_line_is_named(world: Path, template: Template, line: object, message: str):
    write(world, LINE, line)
    with pytest.raises(TaskError) as caught:
        open_tasks(world, template)
    assert message in str(caught.value)
    assert "phrasings.jsonl:2: " in str(caught.value)


def test_an_empty_file_and_one_without_an_end_are_read(world: Path):
    write(world)
    assert read_phrasings(world) == []
    (world / "phrasings.jsonl").write_text(f"\n{json.dumps(LINE)}\r\n\n{json.dumps(LINE)}")
    found = read_phrasings(world)
    assert [one.line for one in found] == [2, 4]
    assert found[0].name == UserPhrasing("price", LINE["texts"]).name


def test_the_words_are_part_of_the_world(world: Path, tmp_path: Path):
    before = world_digest(world)
    (world / "notes.jsonl").write_text("{}\n")
    assert world_digest(world) == before, "no other file of lines is"
    write(world, LINE)
    assert world_digest(world) != before
    copy = unpack_world(pack_world(world), tmp_path / "copy" / "desk")
    assert read_phrasings(copy) == read_phrasings(world)


def test_a_proof_is_kept_until_its_own_words_change(world: Path, tmp_path: Path):
    def keys() -> tuple[str, str]:
        cache = ReportCache(load_world(world), {}, tmp_path / "cache")
        return cache.family_key("price"), cache.family_key("plan_asked")

    before = keys()
    write(world, LINE)
    after = keys()
    assert (after[0] != before[0], after[1] == before[1]) == (True, True)
    shutil.copyfile(world / "phrasings.jsonl", world / "other.json")
    assert keys()[1] != after[1], "another file of the world concerns all families"
