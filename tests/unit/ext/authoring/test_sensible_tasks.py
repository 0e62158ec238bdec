"""Tasks that somebody would want: what a reference may lead to, what a person sets and says."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from synth.core.tasks.yaml.template import compile_value, fill
from synth.ext.authoring.patterns.aggregate import families_of
from synth.ext.authoring.patterns.base import Sketch
from synth.ext.authoring.source import from_files
from synth.ext.authoring.toolset import FILTERS, tools_of
from synth.ext.authoring.world import NewWorld, make_world

SIX = ("author", "chair", "editor", "guest", "helper", "host")
SCHEMA = """
CREATE TABLE concepts (id INTEGER PRIMARY KEY, concept_name TEXT NOT NULL UNIQUE);
INSERT INTO concepts VALUES (1, 'Aspirin'), (2, 'Ibuprofen'), (3, 'Blood pressure'),
  (4, 'Heart rate');
CREATE TABLE patients (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, motto TEXT NOT NULL);
CREATE TABLE page_cache (url TEXT PRIMARY KEY); INSERT INTO page_cache VALUES ('Top');
CREATE TABLE calls (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
  patient_id INTEGER NOT NULL REFERENCES patients, page TEXT NOT NULL REFERENCES page_cache);
CREATE TABLE doses (
  id INTEGER PRIMARY KEY,
  patient_id INTEGER NOT NULL REFERENCES patients (id),
  drug_concept_id INTEGER DEFAULT 0 REFERENCES concepts (id),
  note TEXT,
  quantity INTEGER
);
CREATE TABLE reviews (dose_id INTEGER PRIMARY KEY REFERENCES doses (id), score INTEGER NOT NULL);
CREATE TABLE files (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
  patient_id INTEGER NOT NULL REFERENCES patients (id), size INTEGER NOT NULL,
  max_size INTEGER NOT NULL, download_count INTEGER NOT NULL, storage_cents INTEGER NOT NULL,
  price NUMERIC(8, 2) NOT NULL);
CREATE TABLE rooms (room_id TEXT PRIMARY KEY, topic TEXT NOT NULL,
  patient_id INTEGER NOT NULL REFERENCES patients (id));
CREATE TABLE talks (id INTEGER PRIMARY KEY, minutes INTEGER,
  state TEXT CHECK (state IN ('open', 'closed')){});
CREATE TABLE talk_log (id INTEGER PRIMARY KEY, state TEXT CHECK (state IN ('open', 'closed')));
""".format("".join(f", {one}_id INTEGER REFERENCES patients" for one in SIX))
ROWS = "".join(
    f"INSERT INTO patients VALUES ({n}, 'Patient {n}0', '{n % 12 or ''}');"
    f"INSERT INTO calls VALUES ({n}, 'Call {n}0', {n}, 'Top');"
    f"INSERT INTO doses VALUES ({n}, {1 + n % 6}, {1 + n % 2}, 'Note {n}', NULLIF({n}, 3));"
    f"INSERT INTO reviews VALUES ({n}, {n});"
    f"INSERT INTO files VALUES ({n}, 'File {n}0', {n}, {n * 1017}, {n * 100}, {n * 3}, {n * 250}, {n}.5);"
    f"INSERT INTO rooms VALUES ('!room{n}:x', 'Topic {n}', {n});"
    f"INSERT INTO talks VALUES ({n}, {n}, 'open'{', 1' * 6});"
    f"INSERT INTO talk_log VALUES ({n}, 'open');"
    for n in range(1, 13)
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> NewWorld:
    return world_of(SCHEMA + ROWS, tmp_path_factory.mktemp("sensible"))


def world_of(script: str, folder: Path) -> NewWorld:
    (folder / "schema.sql").write_text(script)
    return make_world("w", from_files([folder / "schema.sql"]), print, proves=False)


def grounds(made: NewWorld, family: str, slot: str) -> set[object]:
    """The values of a slot in all tasks of a family."""
    body = next(draft.body for draft in made.drafts if draft.id == family)
    with closing(sqlite3.connect(":memory:")) as db:
        db.create_function("CONCAT", -1, lambda *parts: "".join(map(str, parts)))
        db.executescript(made.files["schema.sql"] + made.files["seed.sql"])
        found = db.execute(f"SELECT {slot} FROM ({body['ground']['sql']})")  # pyright: ignore
        return {row[0] for row in found}


def test_a_reference_takes_what_its_column_has_led_to_and_not_its_default(made: NewWorld):
    assert "drug_concept_id" in str([one.body for one in made.drafts if one.id == "create_dose"])
    assert grounds(made, "move_dose_drug_concept", "new_drug_concept") == {"Aspirin", "Ibuprofen"}


def test_what_another_has_one_of_is_named_by_it_and_sums_are_whole(made: NewWorld):
    bodies = {draft.id: str(draft.body) for draft in made.drafts}
    changed = "changed the score of the review of dose number {review} from"
    assert changed in bodies["change_review_score"]
    assert not [one for one in bodies if "dose_reviews" in one or one.startswith("compare_review")]
    patients = grounds(made, "sum_children_patient_doses_quantity", "patient")
    assert patients == {f"Patient {n}0" for n in range(1, 7)} - {"Patient 40"}


def test_rows_are_listed_by_links_that_the_tool_filters_by(made: NewWorld):
    found = families_of(Sketch(made.shape, tools_of(made.shape)))
    assert len([one for one in found if one.table.name == "talks"]) == FILTERS


def test_what_is_measured_or_counted_is_compared_and_not_set(made: NewWorld):
    update = made.files["executors.py"].partition("def update_file")[2].partition("\ndef ")[0]
    assert "max_size" in update
    assert "download_count" not in update
    assert made.shape.tables["files"].column("size").role == "measure"
    assert "compare_file_size" in {draft.id for draft in made.drafts}


def test_a_value_of_two_rows_is_asked_for_at_once(made: NewWorld):
    both = str([draft.body for draft in made.drafts if draft.id == "look_up_both_dose_quantity"])
    assert "the quantity of dose number {first_dose} and of dose number" in both
    assert "for dose number {first_dose} and {second_found} for dose" in both


def test_nobody_says_the_id_of_a_new_row(made: NewWorld):
    assert not any("new_room_id" in str(draft.body["user"]) for draft in made.drafts)


def test_an_amount_in_cents_is_said_as_people_say_it(made: NewWorld):
    bodies = str([draft.body for draft in made.drafts])
    changed = "the storage amount of the file {file} from {old_value.hundredths} to"
    assert f"{changed} {{new_value.hundredths}}." in bodies
    assert "1250 for 12.50" in made.files["policy.md"]
    assert "the price of the file {file} from {old_value.fixed} to {new_value.fixed}." in bodies
    assert fill(compile_value("{n.fixed}", {"n"}, set()), "$slot", {"n": 12.5}) == "12.50"


def test_what_is_never_changed_is_not_closed_by_a_rule(made: NewWorld):
    assert re.findall("^- (.*): state", made.files["policy.md"], re.MULTILINE) == ["talk"]


def test_what_has_rows_is_taken_before_what_has_none(tmp_path: Path):
    """Forty chairs of a house are too many for a reply; three spoons are not."""
    script = "CREATE TABLE houses (name TEXT PRIMARY KEY); INSERT INTO houses VALUES ('A'), ('B');"
    both = "('A'), ('B')"
    for name, count in {"chairs": 40, "lamps": 40, "plates": 40, "spoons": 3}.items():
        script += f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, house TEXT REFERENCES houses);"
        script += f"INSERT INTO {name} (house) VALUES {', '.join([both] * count)};"
    assert "list_children_house_spoons" in {draft.id for draft in world_of(script, tmp_path).drafts}


def test_nothing_is_told_of_an_empty_text_nor_made_up_for_a_hidden_table(made: NewWorld):
    assert "Patient 120" not in grounds(made, "not_found_patient", "patient")
    assert "create_call" not in {draft.id for draft in made.drafts}


def test_a_row_is_read_by_its_get_before_it_is_changed(made: NewWorld):
    """Also where the search for it shows the column."""
    changes = [one for one in made.drafts if one.id.startswith(("change_", "consent_", "move_"))]
    assert len(changes) > 6
    assert all("'get_" in str([list(step) for step in one.body["gold"]]) for one in changes)  # pyright: ignore


def test_nobody_names_four_owners_of_a_new_row(tmp_path: Path):
    rows = "(id INTEGER PRIMARY KEY, name TEXT UNIQUE); INSERT INTO {0}s VALUES (1, '{0} 1')"
    owners = "".join(f"CREATE TABLE {one}s {rows.format(one)};" for one in SIX[:4])
    links = ", ".join(f"{one}_id INTEGER NOT NULL REFERENCES {one}s" for one in SIX[:4])
    deals = f"CREATE TABLE deals (id INTEGER PRIMARY KEY, {links}, day DATE, fee INTEGER);"
    script = f"{owners}{deals}INSERT INTO deals VALUES (1, 1, 1, 1, 1, '2026-01-01', 9)"
    assert "create_deal" not in [one.id for one in world_of(script, tmp_path).drafts]
