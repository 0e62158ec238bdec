"""Issue 29: strangers were one person to the privacy gate.

A key of several columns was known by the first alone, and row 5 of any table with a ``record_id``
was person 5.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from envs.world.loader import load_world
from synth.core.personal import People, people_of

SCHEMA = """
CREATE TABLE members (
  club INTEGER NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, login TEXT NOT NULL UNIQUE,
  PRIMARY KEY (club, number)
);
CREATE TABLE addresses (
  record_id INTEGER PRIMARY KEY, club INTEGER NOT NULL, number INTEGER NOT NULL, street TEXT,
  FOREIGN KEY (club, number) REFERENCES members (club, number)
);
CREATE TABLE patients (record_id INTEGER PRIMARY KEY, name TEXT NOT NULL, code TEXT NOT NULL UNIQUE);
CREATE TABLE phones (
  phone_id INTEGER PRIMARY KEY, code TEXT REFERENCES patients (code), phone TEXT NOT NULL
);
CREATE TABLE rooms (record_id INTEGER PRIMARY KEY, beds INTEGER NOT NULL);
CREATE TABLE stays (stay_id INTEGER PRIMARY KEY, patient INTEGER REFERENCES patients (record_id));
CREATE TABLE visits (guest TEXT PRIMARY KEY, host TEXT REFERENCES members (login));
"""
SEED = """
INSERT INTO members VALUES (1, 1, 'Ada Kern', 'adak'), (1, 2, 'Ben Holm', 'benh'),
  (2, 1, 'Cleo Ruiz', 'cleo');
INSERT INTO addresses VALUES (1, 1, 1, '12 Elm Road'), (2, 1, 2, '9 Oak Street'),
  (3, 2, 1, '4 Birch Lane');
INSERT INTO patients VALUES (5, 'Dan Lind', 'P-5'), (6, 'Eve Moss', 'P-6');
INSERT INTO phones VALUES (1, 'P-5', '+49 30 1234567'), (2, 'P-6', '+49 30 7654321');
INSERT INTO rooms VALUES (5, 2), (6, 4);
INSERT INTO stays VALUES (1, 5), (2, 6);
INSERT INTO visits VALUES ('Fay Brand', 'adak'), ('Gus Thorn', 'benh');
"""
COLUMNS = """
columns: {members.name: {pii: name}, addresses.street: {pii: address}, patients.name: {pii: name},
  phones.phone: {pii: phone}, members.login: {pii: identifier}, visits.host: {pii: identifier},
  visits.guest: {pii: name}}
"""
TOOLS = """
from sqlalchemy import Connection
from envs import tool

@tool(read_only=True)
def nothing(db: Connection) -> str:
    '''Do nothing.'''
    return "nothing"
"""


@pytest.fixture
def people(tmp_path: Path) -> People:
    texts = {"schema.sql": SCHEMA, "seed.sql": SEED, "world.yaml": COLUMNS, "executors.py": TOOLS}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    world = load_world(tmp_path)
    with world.template("sqlite") as template:
        found = people_of(world, template)
    assert found is not None
    return found


def test_a_person_is_known_by_the_whole_key(people: People):
    [ada], [ben], [cleo] = (people.in_text(name) for name in ("Ada Kern", "Ben Holm", "Cleo Ruiz"))
    assert len({ada, ben, cleo}) == 3
    assert people.in_data({"club": 1, "number": 2}) == {ben}
    assert people.in_data([{"number": 1, "club": 2, "paid": True}]) == {cleo}
    assert people.in_data({"club": 1}) == set()
    assert people.in_text("12 Elm Road") == {ada}
    assert people.in_text("4 Birch Lane") == {cleo}


def test_the_key_of_another_table_is_nobody(people: People):
    [dan] = people.in_text("Dan Lind")
    assert people.in_data({"record_id": 5, "beds": 2}) == set()
    assert people.in_data({"patient": 5}) == {dan}


def test_a_reference_to_a_unique_column_leads_to_the_person(people: People):
    [eve] = people.in_text("Eve Moss")
    assert people.in_text("+49 30 7654321") == {eve}
    assert people.in_data({"code": "P-6"}) == {eve}
    assert people.about_others({"code": "P-6"}, {eve}) == [{"code": "P-5"}]
    [ada], [fay] = people.in_text("Ada Kern"), people.in_text("Fay Brand")
    assert people.in_text("adak") == {ada} != {fay}
