"""More universes of the practice: other people, the same formulary, and all that the task families
look for.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from envs.world.loader import World
from synth.core.tasks.families import FamilyTasks
from tests.unit.examples.alive import plain_database
from tests.unit.examples.test_ehr_db import FOLDER, INCOHERENT

pytestmark = pytest.mark.slow

MADE = range(1, 9)
SHARED = {
    "drug_classes",
    "drugs",
    "drug_class_members",
    "drug_synonyms",
    "icd10_codes",
    "drug_indications",
    "lab_tests",
}
"""The formulary and the code lists, which seed.sql writes down for all universes."""

DIGEST = """
import hashlib, sys
from envs.world.loader import load_world
rows = [(row.table, list(row.values.items())) for row in load_world(sys.argv[1]).seed_rows(3)]
print(hashlib.sha256(repr(rows).encode()).hexdigest())
"""


@pytest.fixture(scope="module")
def universes(world: World) -> Iterator[Mapping[int, sqlite3.Connection]]:
    found = {number: plain_database(world, number) for number in (0, *MADE)}
    yield found
    for made in found.values():
        made.close()


def column(universe: sqlite3.Connection, sql: str) -> list[Any]:
    return [row[0] for row in universe.execute(sql)]


def tables(universe: sqlite3.Connection) -> list[str]:
    return column(universe, "SELECT name FROM sqlite_master WHERE type = 'table'")


@pytest.mark.parametrize("what", INCOHERENT)
def test_each_universe_is_coherent(universes: Mapping[int, sqlite3.Connection], what: str):
    """The rules for the rows of seed.sql hold for generated rows too."""
    for number in MADE:
        assert universes[number].execute(INCOHERENT[what]).fetchall() == [], number


@pytest.mark.parametrize("number", [0, *MADE])
def test_each_family_has_tasks_in_each_universe(world: World, number: int):
    """Cases without a row, and functions that yield nothing, are refused by the source itself."""
    with world.template("sqlite", number) as template:
        source = FamilyTasks(world, template, universe=number)
        assert len(source.families) >= 40
        assert min(source.capacity(family.id) for family in source.families) >= 3


def test_universes_have_the_same_size_and_formulary(universes: Mapping[int, sqlite3.Connection]):
    """As many patients and clinicians in each, about as many entries, and reference tables that are
    equal.
    """
    sizes = {
        number: {
            table: column(universe, f"SELECT COUNT(*) FROM {table}")[0]
            for table in tables(universe)
        }
        for number, universe in universes.items()
    }
    for number, size in sizes.items():
        for table, count in size.items():
            exact = table in {"patients", "clinicians", *SHARED}
            assert (
                count == sizes[0][table] if exact else abs(count - sizes[0][table]) <= 0.25 * count
            ), (number, table)
    for table in SHARED:
        contents = [
            sorted(each.execute(f"SELECT * FROM {table}"), key=repr) for each in universes.values()
        ]
        assert all(each == contents[0] for each in contents), table


def test_no_person_and_no_row_is_in_two_universes(universes: Mapping[int, sqlite3.Connection]):
    """Names differ in whatever spelling, patients' and clinicians' alike, and so do all keys and
    record numbers.
    """
    people = (
        "SELECT DISTINCT name_folded FROM (SELECT name_folded FROM patients UNION SELECT"
        " name_folded FROM clinicians)"
    )
    names = Counter(name for each in universes.values() for name in column(each, people))
    assert max(names.values()) == 1
    numbers = Counter(
        number for each in universes.values() for number in column(each, "SELECT mrn FROM patients")
    )
    assert max(numbers.values()) == 1
    for table in {*tables(universes[0])} - SHARED:
        keys = Counter(
            row[0] for each in universes.values() for row in each.execute(f"SELECT * FROM {table}")
        )
        assert not keys or max(keys.values()) == 1, table


def test_a_name_of_one_person_finds_one_person(universes: Mapping[int, sqlite3.Connection]):
    """By the rule of find_patients: each word given begins a word of the name."""
    for number, universe in universes.items():
        folded = Counter(column(universe, "SELECT name_folded FROM patients"))
        for name, people in folded.items():
            found = [
                other
                for other in folded.elements()
                if all(
                    any(word.startswith(part) for word in other.split()) for part in name.split()
                )
            ]
            assert len(found) == people, (number, name)
        assert sorted(folded.values())[-6:] == [2, 2, 2, 2, 2, 3], number


def test_namesakes_differ_by_accents_and_birth(universes: Mapping[int, sqlite3.Connection]):
    """Of three people with one name, one is spelt without accents; no two namesakes were born on
    one day.
    """
    for number, universe in universes.items():
        spelt = (
            "SELECT COUNT(DISTINCT name), COUNT(DISTINCT dob), COUNT(*) FROM patients GROUP BY"
            " name_folded"
        )
        shared = [row for row in universe.execute(spelt) if row[2] > 1]
        assert all(births == people for _, births, people in shared), number
        assert [spellings for spellings, _, people in shared if people == 3] == [2], number


def test_ages_are_those_of_an_outpatient_practice(universes: Mapping[int, sqlite3.Connection]):
    """From grown up to very old, the middle around sixty, both sexes, some charts closed."""
    for number, universe in universes.items():
        ages = sorted(2026 - int(dob[:4]) for dob in column(universe, "SELECT dob FROM patients"))
        assert ages[0] >= 18, number
        assert ages[-1] <= 92, number
        assert 45 <= ages[len(ages) // 2] <= 68, number
        women = column(universe, "SELECT AVG(sex = 'female') FROM patients")[0]
        assert 0.25 < women < 0.75, number
        assert column(universe, "SELECT COUNT(*) FROM patients WHERE status <> 'active'")[0] in {
            7,
            8,
        }, number


def test_drugs_that_do_not_go_together_are_not_together(
    universes: Mapping[int, sqlite3.Connection],
):
    """No two active drugs of one class, no ACE inhibitor beside an angiotensin receptor blocker."""
    groups = """
        SELECT m.patient_id, c.name FROM medications m JOIN drug_class_members x ON x.drug_id = m.drug_id
        JOIN drug_classes c ON c.class_id = x.class_id WHERE m.status = 'active'"""
    for number in MADE:
        held = Counter(universes[number].execute(groups).fetchall())
        assert max(held.values()) == 1, number
        for patient, group in held:
            assert (
                group != "ace inhibitors" or (patient, "angiotensin receptor blockers") not in held
            ), number


def test_a_universe_is_the_same_in_every_process():
    """No set's order, no clock and no hash has a part in it."""

    def digest(hash_seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        command = [sys.executable, "-c", DIGEST, str(FOLDER)]
        root = Path(__file__).parents[3]
        return subprocess.run(
            command, env=environment, cwd=root, check=True, capture_output=True, text=True
        ).stdout

    assert len(digest("1").strip()) == hashlib.sha256().digest_size * 2
    assert digest("1") == digest("4711")


def test_names_do_not_run_out(world: World):
    """The thousandth universe still has people of its own."""
    names = world.module("seed_names")
    none: frozenset[str] = frozenset()
    far = {name for name, _ in names.names_of(1000, none)}
    assert len(far) == names.PER_UNIVERSE
    assert far.isdisjoint(name for name, _ in names.names_of(999, none))
