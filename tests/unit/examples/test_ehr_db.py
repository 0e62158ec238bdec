"""The first world: its rows are coherent, and its tools do what a record system does, on real
sandboxes.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from envs.sandboxes.base import Template
from envs.types import Pins, RowChange
from envs.world.loader import World
from tests.unit.examples.alive import Alive, plain_database

FOLDER = Path(__file__).parents[3] / "examples" / "ehr_db"
NOW = "2026-03-02T11:30:00"


class Chart(Alive):
    def id_of(self, name: str) -> int:
        found = self.ok("find_patients", name=name)
        assert found["count"] == 1
        return found["patients"][0]["patient_id"]

    def diff(self) -> tuple[RowChange, ...]:
        return self.environment.diff().changes


@pytest.fixture
def chart(world: World, template: Template) -> Iterator[Chart]:
    with world.environment(template, Pins(NOW, 1)) as environment:
        yield Chart(environment)


@pytest.fixture(scope="module")
def rows(world: World) -> Iterator[sqlite3.Connection]:
    connection = plain_database(world)
    yield connection
    connection.close()


# The seed data
# --------------------------------------------------------------------------------------


INCOHERENT = {
    "a foreign key that leads nowhere": "SELECT * FROM pragma_foreign_key_check",
    "a medication without a diagnosis that explains it": """
        SELECT * FROM medications m WHERE NOT EXISTS (
            SELECT 1 FROM diagnoses g JOIN drug_indications i ON i.code = g.code
            WHERE g.patient_id = m.patient_id AND i.drug_id = m.drug_id AND g.onset_on <= m.started_on
              AND (m.status = 'stopped' OR g.status = 'active'))""",
    "an active medication against a recorded allergy": """
        SELECT * FROM medications m JOIN allergy_conflicts x ON x.patient_id = m.patient_id AND x.drug_id = m.drug_id
        WHERE m.status = 'active'""",
    "a dose above the maximum": """
        SELECT * FROM medications m JOIN drugs d ON d.drug_id = m.drug_id
        WHERE m.dose_mg * m.times_per_day > d.max_daily_mg""",
    "a drug that is active twice": """
        SELECT patient_id FROM medications WHERE status = 'active' GROUP BY patient_id, drug_id HAVING COUNT(*) > 1""",
    "an NSAID beside an anticoagulant": """
        SELECT m.patient_id FROM medications m
        JOIN drug_class_members x ON x.drug_id = m.drug_id JOIN drug_classes c ON c.class_id = x.class_id
        WHERE m.status = 'active' AND c.name IN ('nsaids', 'anticoagulants')
        GROUP BY m.patient_id HAVING COUNT(DISTINCT c.name) > 1""",
    "an entry from the future": """
        SELECT started_on AS day FROM medications WHERE day > '2026-03-01'
        UNION ALL SELECT onset_on AS day FROM diagnoses WHERE day > '2026-03-01'
        UNION ALL SELECT recorded_at AS day FROM vitals WHERE day > '2026-03-02'
        UNION ALL SELECT taken_on AS day FROM labs WHERE day > '2026-03-01'
        UNION ALL SELECT recorded_on AS day FROM allergies WHERE day > '2026-03-01'""",
    "an entry in a closed chart after its end": """
        SELECT p.name FROM patients p JOIN vitals v ON v.patient_id = p.patient_id WHERE v.recorded_at > p.closed_on
        UNION ALL SELECT p.name FROM patients p JOIN labs l ON l.patient_id = p.patient_id
        WHERE l.taken_on > p.closed_on
        UNION ALL SELECT p.name FROM patients p JOIN medications m ON m.patient_id = p.patient_id
        WHERE m.started_on > p.closed_on""",
    "an illness before birth": """
        SELECT p.name FROM patients p JOIN diagnoses g ON g.patient_id = p.patient_id WHERE g.onset_on < p.dob""",
    "a synonym that hides a name": """
        SELECT synonym FROM drug_synonyms WHERE synonym IN (SELECT name FROM drugs UNION SELECT name FROM drug_classes)""",
}


@pytest.mark.parametrize("what", INCOHERENT)
def test_seed_is_coherent(rows: sqlite3.Connection, what: str) -> None:
    """No row of the seed contradicts another, or common sense."""
    assert rows.execute(INCOHERENT[what]).fetchall() == []


def test_seed_has_what_the_tasks_need(rows: sqlite3.Connection) -> None:
    """Enough people, namesakes (one of them by accent only), closed charts, and names that break
    naive SQL.
    """
    names = [row[0] for row in rows.execute("SELECT name FROM patients")]
    assert len(names) >= 40
    assert {"Maria Garcia", "María García", "Patrick O'Brien", "Ingrid Sørensen"} <= set(names)
    statuses = dict(
        rows.execute("SELECT status, COUNT(*) FROM patients GROUP BY status").fetchall()
    )
    assert min(statuses["transferred"], statuses["deceased"]) >= 3


def test_folded_columns_hold_folded_names(chart: Chart, rows: sqlite3.Connection) -> None:
    """Each patient is found by the name as it is written, and by its plain lower-case form."""
    for name, folded, patient_id in rows.execute(
        "SELECT name, name_folded, patient_id FROM patients"
    ):
        for asked in (name, folded, f"  {name.upper()} "):
            found = chart.ok("find_patients", name=asked)["patients"]
            assert patient_id in [each["patient_id"] for each in found]
    for name, clinician_id in rows.execute("SELECT name, clinician_id FROM clinicians"):
        found = chart.ok("find_clinicians", name=name)["clinicians"]
        assert [each["clinician_id"] for each in found] == [clinician_id]


def test_a_name_of_one_person_finds_one_person(chart: Chart, rows: sqlite3.Connection) -> None:
    """No full name is contained in somebody else's: a request by a unique name is unambiguous."""
    unique = "SELECT name FROM patients GROUP BY name_folded HAVING COUNT(*) = 1"
    for (name,) in rows.execute(unique):
        assert chart.ok("find_patients", name=name)["count"] == 1


def test_allergy_conflicts_agree_with_a_count_by_hand(rows: sqlite3.Connection) -> None:
    """The view that guards orders says the same as the base tables read one by one."""
    members: dict[int, set[int]] = {}
    for drug, group in rows.execute("SELECT drug_id, class_id FROM drug_class_members"):
        members.setdefault(group, set()).add(drug)
    crossing = [
        row[0] for row in rows.execute("SELECT class_id FROM drug_classes WHERE cross_reactive = 1")
    ]
    expected: set[tuple[int, int, str]] = set()
    for patient, substance, drug, group in rows.execute(
        "SELECT patient_id, substance, drug_id, class_id FROM allergies"
    ):
        forbidden = set(members.get(group, set()))
        if drug is not None:
            forbidden |= {drug}.union(
                *(members[each] for each in crossing if drug in members[each])
            )
        expected |= {(patient, each, substance) for each in forbidden}
    assert (
        set(rows.execute("SELECT patient_id, drug_id, substance FROM allergy_conflicts"))
        == expected
    )


# Reading
# --------------------------------------------------------------------------------------------


def test_find_patients_by_part_case_and_accent(chart: Chart) -> None:
    """Parts of a name in any case, with or without accents and apostrophes, find the person."""
    for asked in ("o'brien", "OBRIEN", "pat O\u2019Bri", "patrick"):
        assert [each["name"] for each in chart.ok("find_patients", name=asked)["patients"]] == [
            "Patrick O'Brien"
        ]
    assert chart.ok("find_patients", name="sorensen")["patients"][0]["name"] == "Ingrid Sørensen"
    assert chart.ok("find_patients", name="HÅKANSSON")["patients"][0]["name"] == "Björn Håkansson"


def test_namesakes_are_told_apart_by_birth(chart: Chart) -> None:
    """All namesakes are found together, accents aside; the date of birth leaves one."""
    assert chart.ok("find_patients", name="maria garcia")["count"] == 3
    one = chart.ok("find_patients", name="Maria Garcia", dob="1975-10-24")
    assert [each["name"] for each in one["patients"]] == ["María García"]


@pytest.mark.parametrize("name", ["%", "_", "' OR 1=1 --", "--", "zzz"])
def test_find_patients_takes_no_patterns(chart: Chart, name: str) -> None:
    """Wildcards and SQL in a name match nobody by accident."""
    outcome = chart.outcome("find_patients", name=name)
    assert not outcome.result.ok or outcome.result.output["count"] == 0


def test_pages_cover_everybody_once(chart: Chart) -> None:
    """The pages of the list hold each patient once; a page past the end is empty."""
    first = chart.ok("list_patients")
    pages = [chart.ok("list_patients", page=at)["patients"] for at in range(1, first["pages"] + 1)]
    ids = [each["patient_id"] for page in pages for each in page]
    assert len(ids) == len(set(ids)) == first["total"]
    assert chart.ok("list_patients", page=first["pages"] + 1)["patients"] == []
    assert {
        each["status"] for each in chart.ok("list_patients", status="deceased")["patients"]
    } == {"deceased"}


def test_chart_shows_what_is_current(chart: Chart) -> None:
    """A chart holds active entries; stopped medications come on request, with the reason."""
    patient = chart.id_of("Patrick O'Brien")
    seen = chart.ok("get_patient", patient_id=patient)
    assert [each["name"] for each in seen["medications"]] == ["losartan", "allopurinol"]
    assert [each["substance"] for each in seen["allergies"]] == ["lisinopril"]
    history = chart.ok("list_medications", patient_id=patient, include_stopped=True)["medications"]
    assert {each["name"]: each["stop_reason"] for each in history}["lisinopril"] == "adverse_effect"
    assert chart.refused("get_patient", patient_id=1) == "not_found"


def test_search_labs_goes_by_the_latest_value(chart: Chart, rows: sqlite3.Connection) -> None:
    """Somebody whose value was high once, and is not any more, is not found."""
    found = {
        each["patient_id"]: each["value"]
        for each in chart.ok("search_labs", test="HbA1c", above=8)["patients"]
    }
    for patient, latest in rows.execute(
        "SELECT patient_id, value FROM labs l WHERE test = 'HbA1c' AND taken_on ="
        " (SELECT MAX(taken_on) FROM labs n WHERE n.patient_id = l.patient_id AND n.test = 'HbA1c')"
    ):
        assert (patient in found) == (latest > 8)


# Writing
# --------------------------------------------------------------------------------------------


def test_vitals_are_one_row_at_the_pinned_time(chart: Chart) -> None:
    """A measurement becomes one row, with the sandbox's clock; the rest stays null."""
    patient = chart.id_of("Viktor Petrov")
    chart.ok("record_vitals", patient_id=patient, heart_rate=71, temperature_c=36.6)
    (change,) = chart.diff()
    assert (change.table, change.op) == ("vitals", "insert")
    assert change.after is not None
    assert change.after["recorded_at"] == NOW.replace("T", " ")
    assert (change.after["heart_rate"], change.after["temperature_c"], change.after["spo2"]) == (
        71,
        36.6,
        None,
    )


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"systolic": 120},
        {"systolic": 80, "diastolic": 90},
        {"heart_rate": 301},
        {"spo2": 101},
        {"weight_kg": "70"},
    ],
)
def test_impossible_vitals_are_refused(chart: Chart, values: dict[str, Any]) -> None:
    """Nothing at all, half a pressure, a pressure upside down and values out of range leave
    no row.
    """
    assert chart.refused(
        "record_vitals", patient_id=chart.id_of("Viktor Petrov"), **values
    ).startswith("invalid")


@pytest.mark.parametrize(
    "name", ["amoxicillin", "Amoxicillin", " AMOXICILLIN ", "Augmentin", "amoxicillin-clavulanate"]
)
def test_a_class_allergy_forbids_its_drugs(chart: Chart, name: str) -> None:
    """A penicillin allergy forbids amoxicillin under each of its names."""
    patient = chart.id_of("Aaliyah Washington")
    assert chart.ok("check_allergies", patient_id=patient, name=name)["conflicts"] == [
        "penicillins"
    ]
    assert (
        chart.refused("prescribe_medication", patient_id=patient, name=name, dose_mg=500)
        == "conflict"
    )


def test_a_drug_allergy_crosses_within_a_reactive_class_only(chart: Chart) -> None:
    """Amoxicillin forbids penicillin V; a statin that was not tolerated does not forbid the
    others.
    """
    patient = chart.id_of("Lucía Fernández")
    assert (
        chart.refused("prescribe_medication", patient_id=patient, name="penicillin v", dose_mg=500)
        == "conflict"
    )
    chart.ok(
        "prescribe_medication", patient_id=patient, name="cephalexin", dose_mg=500, times_per_day=4
    )
    assert (
        chart.ok("check_allergies", patient_id=chart.id_of("Abigail Thornton"), name="Crestor")[
            "conflicts"
        ]
        == []
    )


@pytest.mark.parametrize("name", ["metformin", "Metformin", "  METFORMIN", "Glucophage"])
def test_an_active_drug_is_not_ordered_twice(chart: Chart, name: str) -> None:
    """A drug that is active is refused under each of its names, and may be ordered again once it
    was stopped.
    """
    patient = chart.id_of("Desmond Achebe")
    assert (
        chart.refused("prescribe_medication", patient_id=patient, name=name, dose_mg=500)
        == "duplicate"
    )
    chart.ok("stop_medication", patient_id=patient, name=name, reason="patient_declined")
    assert (
        chart.refused("stop_medication", patient_id=patient, name=name, reason="replaced")
        == "not_found"
    )
    assert (
        chart.ok("prescribe_medication", patient_id=patient, name=name, dose_mg=500)["name"]
        == "metformin"
    )


def test_unknown_drugs_and_classes_are_refused_differently(chart: Chart) -> None:
    """A class is no drug, and the model is told which of the two it gave."""
    patient = chart.id_of("Malik Johnson")
    assert (
        chart.refused("prescribe_medication", patient_id=patient, name="penicillin", dose_mg=500)
        == "invalid"
    )
    assert (
        chart.refused("prescribe_medication", patient_id=patient, name="unobtainium", dose_mg=500)
        == "not_found"
    )


def test_a_change_of_dose_keeps_the_history(chart: Chart) -> None:
    """The old order is stopped as replaced, the new one is the only active one."""
    patient = chart.id_of("Kwame Mensah")
    chart.ok("change_dose", patient_id=patient, name="Hydrochlorothiazide", dose_mg=12.5)
    orders = chart.ok("list_medications", patient_id=patient, include_stopped=True)["medications"]
    mine = [each for each in orders if each["name"] == "hydrochlorothiazide"]
    assert [(each["dose_mg"], each["status"], each["stop_reason"]) for each in mine] == [
        (25, "stopped", "replaced"),
        (12.5, "active", None),
    ]
    again = {"patient_id": patient, "name": "hydrochlorothiazide", "dose_mg": 12.5}
    assert chart.refused("change_dose", **again) == "duplicate"


def test_the_tools_permit_what_only_the_policy_forbids(chart: Chart) -> None:
    """Overdoses, controlled drugs, interactions and closed charts pass: following the policy is
    what is tested.
    """
    chart.ok(
        "prescribe_medication",
        patient_id=chart.id_of("Kwame Mensah"),
        name="metformin",
        dose_mg=3000,
    )
    chart.ok(
        "prescribe_medication", patient_id=chart.id_of("Malik Johnson"), name="oxycodone", dose_mg=5
    )
    chart.ok(
        "prescribe_medication",
        patient_id=chart.id_of("Gunnar Eriksson"),
        name="ibuprofen",
        dose_mg=400,
    )
    chart.ok("record_vitals", patient_id=chart.id_of("Stefan Müller"), heart_rate=70)


def test_diagnoses_are_added_once_and_resolved_once(chart: Chart) -> None:
    """Codes count whatever their case; what is active is not added again, what is resolved not
    resolved again.
    """
    patient = chart.id_of("Malik Johnson")
    assert (
        chart.ok("add_diagnosis", patient_id=patient, code="m10.9", onset_on="2026-02-01")["code"]
        == "M10.9"
    )
    assert chart.refused("add_diagnosis", patient_id=patient, code="M10.9") == "duplicate"
    assert (
        chart.ok("resolve_diagnosis", patient_id=patient, code="M10.9")["resolved_on"] == NOW[:10]
    )
    assert chart.refused("resolve_diagnosis", patient_id=patient, code="M10.9") == "not_found"
    assert chart.refused("add_diagnosis", patient_id=patient, code="Q99.9") == "not_found"
    assert (
        chart.refused("add_diagnosis", patient_id=patient, code="L40.0", onset_on="2026-02-30")
        == "invalid"
    )
    assert (
        chart.refused("add_diagnosis", patient_id=patient, code="L40.0", onset_on="2026-03-03")
        == "invalid"
    )


def test_a_new_allergy_names_what_it_stands_against(chart: Chart) -> None:
    """Everyday words are recognised, the active drugs of the class are named, the same entry is
    refused twice.
    """
    patient = chart.id_of("Desmond Achebe")
    entry = {
        "patient_id": patient,
        "substance": "NSAID",
        "reaction": "hives",
        "severity": "moderate",
    }
    assert chart.ok("add_allergy", **entry) == {
        "substance": "nsaids",
        "active_conflicts": ["naproxen"],
    }
    assert chart.refused("add_allergy", **entry | {"substance": "NSAIDs"}) == "duplicate"


def test_allergies_are_replaced_as_a_whole(chart: Chart) -> None:
    """Kept entries keep their rows, missing ones go, and new ones are added."""
    patient = chart.id_of("Gloria Pemberton")
    before = chart.ok("get_patient", patient_id=patient)["allergies"]
    assert [each["substance"] for each in before] == ["penicillins"]
    kept = {"substance": "Penicillin", "reaction": "anaphylaxis", "severity": "severe"}
    new = {"substance": "Bee venom", "reaction": "hives", "severity": "mild"}
    result = chart.ok("update_allergies", patient_id=patient, allergies=[kept, new])
    assert result == {
        "substances": ["penicillins", "bee venom"],
        "added": ["bee venom"],
        "removed": [],
    }
    assert [change.op for change in chart.diff()] == ["insert"]
    chart.ok("update_allergies", patient_id=patient, allergies=[])
    assert [(change.op, (change.before or {})["substance"]) for change in chart.diff()] == [
        ("delete", "penicillins")
    ]


def test_a_broken_list_changes_nothing(chart: Chart) -> None:
    """The same substance under two names spoils the whole list, and the old one stands."""
    patient = chart.id_of("Gloria Pemberton")
    entry = {"reaction": "rash", "severity": "mild"}
    twice = [
        {"substance": "peanut", **entry},
        {"substance": "sulfa", **entry},
        {"substance": "Sulfa drugs", **entry},
    ]
    assert chart.refused("update_allergies", patient_id=patient, allergies=twice) == "duplicate"
    wrong = [{"substance": "peanut", "reaction": "sneezing", "severity": "mild"}]
    assert (
        chart.refused("update_allergies", patient_id=patient, allergies=wrong)
        == "invalid_arguments"
    )
    assert chart.diff() == ()


def test_followups_go_to_the_patients_own_clinician(chart: Chart, rows: sqlite3.Connection) -> None:
    """The due date counts from the pinned day; an open one for the same reason is refused until it
    is done.
    """
    patient = chart.id_of("Ethan Caldwell")
    made = chart.ok("book_followup", patient_id=patient, within_days=14, reason="lab_result")
    assert made["due_by"] == "2026-03-16"
    (change,) = chart.diff()
    (owner,) = rows.execute(
        "SELECT clinician_id FROM patients WHERE patient_id = ?", (patient,)
    ).fetchone()
    assert change.after is not None
    assert change.after["clinician_id"] == owner
    assert (
        chart.refused("book_followup", patient_id=patient, within_days=7, reason="lab_result")
        == "duplicate"
    )
    chart.ok("complete_followup", followup_id=made["followup_id"])
    assert chart.refused("complete_followup", followup_id=made["followup_id"]) == "not_found"


def test_tools_that_only_read_cannot_write(world: World) -> None:
    """Each tool that is not named like a reading one declares that it writes, and the other way
    round.
    """
    reading = re.compile(r"^(find|list|get|search|lookup|check)_")
    assert {each.name for each in world.tools if each.read_only} == {
        each.name for each in world.tools if reading.match(each.name)
    }
