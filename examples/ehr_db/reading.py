"""Tools that look something up in the charts; none of them writes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from sqlalchemy import Connection

from envs import ToolError, tool
from envs.tools.records import first, rows, words_condition

from .records import MATCHES, find_class, find_drug, medications_of, require_patient

Day = Annotated[str | None, {"pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}]
LabTest = Literal["HbA1c", "INR", "TSH", "LDL", "creatinine", "potassium", "hemoglobin"]
Status = Literal["active", "transferred", "deceased"]

PAGE = 20


NO_NAME = "Give at least one letter of the name."


@tool(read_only=True)
def find_patients(
    db: Connection, name: Annotated[str, {"minLength": 1, "maxLength": 120}], dob: Day = None
) -> dict[str, Any]:
    """Find patients by name, closed charts included. Case and accents do not matter; several people
    may match.

    Args:
        name: The name or a part of it; every word must begin a word of the patient's name.
        dob: Date of birth as YYYY-MM-DD, to tell namesakes apart.
    """
    condition, binds = words_condition("name_folded", name, NO_NAME)
    if dob is not None:
        condition, binds = f"{condition} AND dob = :dob", binds | {"dob": dob}
    found = rows(
        db,
        f"SELECT patient_id, mrn, name, sex, dob, status FROM patients WHERE {condition} ORDER BY"
        " patient_id",
        **binds,
    )
    return {"count": len(found), "patients": found[:MATCHES]}


@tool(read_only=True)
def list_patients(
    db: Connection,
    page: Annotated[int, {"minimum": 1, "maximum": 100000}] = 1,
    status: Status | None = None,
    clinician_id: int | None = None,
) -> dict[str, Any]:
    """List patients, twenty to a page, in the order of their ids.

    Args:
        page: Page number, from 1.
        status: Only charts of this status.
        clinician_id: Only patients of this clinician.
    """
    wanted = {"status": status, "clinician_id": clinician_id}
    binds: dict[str, Any] = {key: value for key, value in wanted.items() if value is not None}
    where = "".join(f" AND {key} = :{key}" for key in binds)
    counted = first(db, f"SELECT COUNT(*) AS total FROM patients WHERE 1 = 1{where}", **binds)
    total = counted["total"] if counted else 0
    found = rows(
        db,
        "SELECT patient_id, mrn, name, sex, dob, status, clinician_id FROM patients"
        f" WHERE 1 = 1{where} ORDER BY patient_id LIMIT :size OFFSET :skip",
        size=PAGE,
        skip=(page - 1) * PAGE,
        **binds,
    )
    return {"page": page, "pages": -(-total // PAGE), "total": total, "patients": found}


@tool(read_only=True)
def get_patient(db: Connection, patient_id: int) -> dict[str, Any]:
    """Return one patient's chart: status, allergies, active diagnoses, active medications, last
    vitals, open follow-ups.

    Args:
        patient_id: The patient's id, as find_patients gives it.
    """
    patient = require_patient(db, patient_id)
    clinician = first(
        db,
        "SELECT clinician_id, name FROM clinicians WHERE clinician_id = :id",
        id=patient.pop("clinician_id"),
    )
    allergies = rows(
        db,
        "SELECT substance, reaction, severity FROM allergies WHERE patient_id = :id ORDER BY"
        " allergy_id",
        id=patient_id,
    )
    followups = rows(
        db,
        "SELECT followup_id, reason, due_by FROM followups WHERE patient_id = :id AND status ="
        " 'open'"
        " ORDER BY followup_id",
        id=patient_id,
    )
    return patient | {
        "clinician": clinician,
        "allergies": allergies,
        "diagnoses": _diagnoses(db, patient_id, resolved=False),
        "medications": medications_of(db, patient_id),
        "last_vitals": next(iter(_vitals(db, patient_id, 1)), None),
        "followups": followups,
    }


def _diagnoses(db: Connection, patient_id: int, *, resolved: bool) -> list[dict[str, Any]]:
    only = "" if resolved else " AND g.status = 'active'"
    return rows(
        db,
        "SELECT g.code, c.title, g.status, g.onset_on, g.resolved_on FROM diagnoses g"
        f" JOIN icd10_codes c ON c.code = g.code WHERE g.patient_id = :id{only} ORDER BY"
        " g.diagnosis_id",
        id=patient_id,
    )


def _vitals(db: Connection, patient_id: int, limit: int) -> list[dict[str, Any]]:
    return rows(
        db,
        "SELECT SUBSTR(recorded_at, 1, 16) AS recorded_at, heart_rate, systolic, diastolic,"
        " temperature_c, spo2, weight_kg FROM vitals"
        " WHERE patient_id = :id ORDER BY vitals.recorded_at DESC, vitals_id DESC LIMIT :limit",
        id=patient_id,
        limit=limit,
    )


@tool(read_only=True)
def list_diagnoses(
    db: Connection, patient_id: int, include_resolved: bool = False
) -> dict[str, Any]:
    """List a patient's diagnoses with their ICD-10 codes.

    Args:
        patient_id: The patient's id.
        include_resolved: Whether resolved ones are listed too.
    """
    require_patient(db, patient_id)
    return {"diagnoses": _diagnoses(db, patient_id, resolved=include_resolved)}


@tool(read_only=True)
def list_medications(
    db: Connection, patient_id: int, include_stopped: bool = False
) -> dict[str, Any]:
    """List a patient's medications with drug classes, dose, times per day and dates.

    Args:
        patient_id: The patient's id.
        include_stopped: Whether stopped ones are listed too, with the reason.
    """
    require_patient(db, patient_id)
    return {"medications": medications_of(db, patient_id, stopped=include_stopped)}


@tool(read_only=True)
def list_vitals(
    db: Connection, patient_id: int, limit: Annotated[int, {"minimum": 1, "maximum": 100}] = 5
) -> dict[str, Any]:
    """List a patient's vital signs, newest first; what was not measured is null.

    Args:
        patient_id: The patient's id.
        limit: How many measurements at most.
    """
    require_patient(db, patient_id)
    return {"vitals": _vitals(db, patient_id, limit)}


@tool(read_only=True)
def list_labs(db: Connection, patient_id: int, test: LabTest | None = None) -> dict[str, Any]:
    """List a patient's laboratory results, newest first, each with its unit and reference range.

    Args:
        patient_id: The patient's id.
        test: Only results of this test.
    """
    require_patient(db, patient_id)
    only = "" if test is None else " AND l.test = :test"
    binds = {} if test is None else {"test": test}
    found = rows(
        db,
        "SELECT l.test, l.value, t.unit, t.ref_low, t.ref_high, l.taken_on FROM labs l"
        f" JOIN lab_tests t ON t.test = l.test WHERE l.patient_id = :id{only} ORDER BY l.taken_on"
        " DESC, l.lab_id DESC",
        id=patient_id,
        **binds,
    )
    return {"labs": found}


@tool(read_only=True)
def search_labs(
    db: Connection,
    test: LabTest,
    above: float | None = None,
    below: float | None = None,
    clinician_id: int | None = None,
) -> dict[str, Any]:
    """Search all charts, closed ones included, by the latest value that each patient has of a test.

    Args:
        test: The laboratory test.
        above: Only values greater than this.
        below: Only values less than this.
        clinician_id: Only patients of this clinician.
    """
    conditions = {
        "above": (" AND l.value > :above", above),
        "below": (" AND l.value < :below", below),
        "clinician": (" AND p.clinician_id = :clinician", clinician_id),
    }
    asked = {key: pair for key, pair in conditions.items() if pair[1] is not None}
    found = rows(
        db,
        "SELECT p.patient_id, p.name, p.dob, p.status, l.value, t.unit, l.taken_on"
        " FROM latest_labs l JOIN lab_tests t ON t.test = l.test"
        " JOIN patients p ON p.patient_id = l.patient_id WHERE l.test = :test"
        + "".join(pair[0] for pair in asked.values())
        + " ORDER BY p.patient_id",
        test=test,
        **{key: pair[1] for key, pair in asked.items()},
    )
    return {"count": len(found), "patients": found}


@tool(read_only=True)
def search_medications(
    db: Connection,
    name: Annotated[str, {"minLength": 1, "maxLength": 60}],
    clinician_id: int | None = None,
) -> dict[str, Any]:
    """Search all charts, closed ones included, for patients who take a drug, or any drug of a
    class.

    Args:
        name: A drug or a drug class, for example warfarin or anticoagulants.
        clinician_id: Only patients of this clinician.
    """
    drug, group = find_drug(db, name), find_class(db, name)
    if drug is None and group is None:
        raise ToolError(
            f"The formulary has no drug and no class named {name!r}.", category="not_found"
        )
    if drug is not None:
        condition, binds = "m.drug_id = :wanted", {"wanted": drug["drug_id"]}
    else:
        condition = "m.drug_id IN (SELECT drug_id FROM drug_class_members WHERE class_id = :wanted)"
        binds = {"wanted": group["class_id"]} if group else {}
    if clinician_id is not None:
        condition, binds = (
            f"{condition} AND p.clinician_id = :clinician",
            binds | {"clinician": clinician_id},
        )
    found = rows(
        db,
        "SELECT p.patient_id, p.name, p.dob, p.status, d.name AS drug, m.dose_mg, m.times_per_day"
        " FROM medications m"
        " JOIN patients p ON p.patient_id = m.patient_id JOIN drugs d ON d.drug_id = m.drug_id"
        f" WHERE m.status = 'active' AND {condition} ORDER BY p.patient_id, m.medication_id",
        **binds,
    )
    return {"count": len(found), "patients": found}


@tool(read_only=True)
def find_clinicians(
    db: Connection, name: Annotated[str, {"minLength": 1, "maxLength": 120}]
) -> dict[str, Any]:
    """Find clinicians of the practice by name.

    Args:
        name: The name or a part of it, without a title.
    """
    condition, binds = words_condition("name_folded", name, NO_NAME)
    found = rows(
        db,
        f"SELECT clinician_id, name, role FROM clinicians WHERE {condition} ORDER BY clinician_id",
        **binds,
    )
    return {"clinicians": found}


@tool(read_only=True)
def list_followups(
    db: Connection,
    clinician_id: int | None = None,
    due_before: Day = None,
    status: Literal["open", "done"] = "open",
) -> dict[str, Any]:
    """List booked follow-ups, the earliest due first.

    Args:
        clinician_id: Only those of this clinician.
        due_before: Only those due before this day (YYYY-MM-DD).
        status: Open ones, or those that are done.
    """
    condition = "f.status = :status"
    binds: dict[str, Any] = {"status": status}
    if clinician_id is not None:
        condition, binds = (
            f"{condition} AND f.clinician_id = :clinician",
            binds | {"clinician": clinician_id},
        )
    if due_before is not None:
        condition, binds = f"{condition} AND f.due_by < :day", binds | {"day": due_before}
    found = rows(
        db,
        "SELECT f.followup_id, f.patient_id, p.name, f.reason, f.due_by, f.status FROM followups f"
        f" JOIN patients p ON p.patient_id = f.patient_id WHERE {condition} ORDER BY f.due_by,"
        " f.followup_id",
        **binds,
    )
    return {"count": len(found), "followups": found}
