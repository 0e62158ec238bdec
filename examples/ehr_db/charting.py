"""Tools that write to a chart: vitals, alerts, diagnoses and allergies.

What is refused here is what a record system refuses: values that no person has, codes that do not
exist, the same thing twice. Whether something *should* be charted is the policy's business, not the
tools'.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from sqlalchemy import Connection

from envs import ToolError, tool
from envs.tools.records import Row, change, first, fold, rows, timestamp, today

from .reading import Day
from .records import find_class, find_drug, past_date, require_patient

Substance = Annotated[str, {"minLength": 1, "maxLength": 60}]
Reaction = Literal[
    "rash", "hives", "angioedema", "anaphylaxis", "nausea", "cough", "bronchospasm", "unknown"
]
Severity = Literal["mild", "moderate", "severe"]

Entry = Annotated[
    dict[str, str],
    {
        "properties": {
            "substance": {
                "type": "string",
                "minLength": 1,
                "maxLength": 60,
                "description": "Drug, class or other.",
            },
            "reaction": {"type": "string", "enum": list(get_args(Reaction))},
            "severity": {"type": "string", "enum": list(get_args(Severity))},
        },
        "required": ["substance", "reaction", "severity"],
        "additionalProperties": False,
    },
]


@tool
def record_vitals(
    db: Connection,
    patient_id: int,
    heart_rate: Annotated[int | None, {"minimum": 20, "maximum": 300}] = None,
    systolic: Annotated[int | None, {"minimum": 40, "maximum": 300}] = None,
    diastolic: Annotated[int | None, {"minimum": 20, "maximum": 200}] = None,
    temperature_c: Annotated[float | None, {"minimum": 25, "maximum": 45}] = None,
    spo2: Annotated[int | None, {"minimum": 50, "maximum": 100}] = None,
    weight_kg: Annotated[float | None, {"minimum": 0.3, "maximum": 400}] = None,
) -> dict[str, Any]:
    """Record one measurement of vital signs, taken now. Give what was measured and leave out the
    rest.

    Args:
        patient_id: The patient's id.
        heart_rate: Beats per minute.
        systolic: Systolic blood pressure in mmHg; goes with diastolic.
        diastolic: Diastolic blood pressure in mmHg; goes with systolic.
        temperature_c: Body temperature in degrees Celsius.
        spo2: Oxygen saturation in percent.
        weight_kg: Body weight in kilograms.
    """
    require_patient(db, patient_id)
    measured = {
        "heart_rate": heart_rate,
        "systolic": systolic,
        "diastolic": diastolic,
        "temperature_c": temperature_c,
        "spo2": spo2,
        "weight_kg": weight_kg,
    }
    if all(value is None for value in measured.values()):
        raise ToolError("Give at least one measured value.", category="invalid")
    if (systolic is None) != (diastolic is None):
        raise ToolError("A blood pressure needs both systolic and diastolic.", category="invalid")
    if systolic is not None and diastolic is not None and systolic <= diastolic:
        raise ToolError("The systolic pressure must be above the diastolic.", category="invalid")
    moment = timestamp(db)
    made = first(
        db,
        "INSERT INTO vitals (patient_id, recorded_at, heart_rate, systolic, diastolic,"
        " temperature_c, spo2, weight_kg)"
        " VALUES (:patient, :moment, :heart_rate, :systolic, :diastolic, :temperature_c, :spo2,"
        " :weight_kg)"
        " RETURNING vitals_id",
        patient=patient_id,
        moment=moment,
        **measured,
    )
    return (made or {}) | {"recorded_at": moment}


@tool
def raise_alert(
    db: Connection,
    patient_id: int,
    kind: Literal["critical_blood_pressure", "critical_heart_rate", "critical_oxygen_saturation"],
) -> dict[str, Any]:
    """Alert the clinician on duty to a critical measurement of a patient.

    Args:
        patient_id: The patient's id.
        kind: What is critical.
    """
    require_patient(db, patient_id)
    moment = timestamp(db)
    made = first(
        db,
        "INSERT INTO alerts (patient_id, kind, raised_at) VALUES (:patient, :kind, :moment)"
        " RETURNING alert_id",
        patient=patient_id,
        kind=kind,
        moment=moment,
    )
    return (made or {}) | {"raised_at": moment}


def _active_diagnosis(db: Connection, patient_id: int, code: str) -> Row | None:
    return first(
        db,
        "SELECT diagnosis_id, onset_on FROM diagnoses"
        " WHERE patient_id = :patient AND code = :code AND status = 'active' ORDER BY diagnosis_id",
        patient=patient_id,
        code=code,
    )


@tool
def add_diagnosis(
    db: Connection,
    patient_id: int,
    code: Annotated[str, {"minLength": 3, "maxLength": 8}],
    onset_on: Day = None,
) -> dict[str, Any]:
    """Add an active diagnosis to a chart; one that is active already is refused.

    Args:
        patient_id: The patient's id.
        code: ICD-10 code, as search_codes gives it.
        onset_on: Day of onset as YYYY-MM-DD; today if left out.
    """
    require_patient(db, patient_id)
    wanted = code.strip().upper()
    known = first(db, "SELECT code, title FROM icd10_codes WHERE code = :code", code=wanted)
    if known is None:
        raise ToolError(
            f"There is no ICD-10 code {code!r} in this practice's list.", category="not_found"
        )
    if _active_diagnosis(db, patient_id, wanted) is not None:
        raise ToolError(
            f"{wanted} ({known['title']}) is an active diagnosis already.", category="duplicate"
        )
    onset = today(db) if onset_on is None else past_date(db, onset_on, "onset_on")
    change(
        db,
        "INSERT INTO diagnoses (patient_id, code, status, onset_on) VALUES (:patient, :code,"
        " 'active', :onset)",
        patient=patient_id,
        code=wanted,
        onset=onset,
    )
    return known | {"status": "active", "onset_on": onset}


@tool
def resolve_diagnosis(
    db: Connection, patient_id: int, code: Annotated[str, {"minLength": 3, "maxLength": 8}]
) -> dict[str, Any]:
    """Mark an active diagnosis as resolved today.

    Args:
        patient_id: The patient's id.
        code: ICD-10 code of the diagnosis, as the chart shows it.
    """
    require_patient(db, patient_id)
    wanted = code.strip().upper()
    active = _active_diagnosis(db, patient_id, wanted)
    if active is None:
        raise ToolError(f"{wanted} is no active diagnosis of this patient.", category="not_found")
    day = today(db)
    change(
        db,
        "UPDATE diagnoses SET status = 'resolved', resolved_on = :day WHERE diagnosis_id = :id",
        day=day,
        id=active["diagnosis_id"],
    )
    return {"code": wanted, "status": "resolved", "resolved_on": day}


def _identified(db: Connection, substance: str) -> Row:
    """A substance as the chart stores it: the formulary's drug or class where it knows one, else
    folded text.
    """
    if drug := find_drug(db, substance):
        return {"substance": drug["name"], "drug_id": drug["drug_id"], "class_id": None}
    if group := find_class(db, substance):
        return {"substance": group["name"], "drug_id": None, "class_id": group["class_id"]}
    folded = fold(substance)
    if not folded:
        raise ToolError(f"{substance!r} names no substance.", category="invalid")
    return {"substance": folded, "drug_id": None, "class_id": None}


def _insert_allergy(db: Connection, patient_id: int, entry: Row) -> None:
    change(
        db,
        "INSERT INTO allergies (patient_id, substance, drug_id, class_id, reaction, severity,"
        " recorded_on)"
        " VALUES (:patient, :substance, :drug_id, :class_id, :reaction, :severity, :day)",
        patient=patient_id,
        day=today(db),
        **entry,
    )


@tool
def add_allergy(
    db: Connection, patient_id: int, substance: Substance, reaction: Reaction, severity: Severity
) -> dict[str, Any]:
    """Add one allergy to a chart, and name the active medications that it stands against.

    Args:
        patient_id: The patient's id.
        substance: A drug, a drug class or anything else, for example amoxicillin, penicillins or latex.
        reaction: What happened.
        severity: How bad it was.
    """
    require_patient(db, patient_id)
    entry = _identified(db, substance) | {"reaction": reaction, "severity": severity}
    known = (
        "SELECT allergy_id FROM allergies WHERE patient_id = :patient AND substance = :substance"
    )
    if first(db, known, patient=patient_id, substance=entry["substance"]) is not None:
        raise ToolError(
            f"An allergy to {entry['substance']} is recorded already.", category="duplicate"
        )
    _insert_allergy(db, patient_id, entry)
    against = rows(
        db,
        "SELECT d.name FROM medications m JOIN drugs d ON d.drug_id = m.drug_id"
        " JOIN allergy_conflicts x ON x.patient_id = m.patient_id AND x.drug_id = m.drug_id"
        " WHERE m.patient_id = :patient AND m.status = 'active' AND x.substance = :substance ORDER"
        " BY m.medication_id",
        patient=patient_id,
        substance=entry["substance"],
    )
    return {"substance": entry["substance"], "active_conflicts": [each["name"] for each in against]}


@tool
def update_allergies(
    db: Connection, patient_id: int, allergies: Annotated[list[Entry], {"maxItems": 50}]
) -> dict[str, Any]:
    """Replace a patient's whole list of allergies: what is not given is removed. An empty list
    means none known.

    Args:
        patient_id: The patient's id.
        allergies: The complete new list.
    """
    require_patient(db, patient_id)
    wanted: dict[str, Row] = {}
    for given in allergies:
        entry = _identified(db, given["substance"])
        if entry["substance"] in wanted:
            raise ToolError(f"{entry['substance']} stands twice in the list.", category="duplicate")
        wanted[entry["substance"]] = entry | {
            "reaction": given["reaction"],
            "severity": given["severity"],
        }
    present = rows(
        db,
        "SELECT allergy_id, substance, reaction, severity FROM allergies WHERE patient_id ="
        " :patient"
        " ORDER BY allergy_id",
        patient=patient_id,
    )
    removed: list[str] = []
    for row in present:
        entry = wanted.get(row["substance"])
        if entry is None:
            removed.append(row["substance"])
        elif (entry["reaction"], entry["severity"]) != (row["reaction"], row["severity"]):
            change(
                db,
                "UPDATE allergies SET reaction = :reaction, severity = :severity WHERE allergy_id"
                " = :id",
                reaction=entry["reaction"],
                severity=entry["severity"],
                id=row["allergy_id"],
            )
    known = {row["substance"] for row in present}
    added = [substance for substance in wanted if substance not in known]
    for substance in added:
        _insert_allergy(db, patient_id, wanted[substance])
    for row in present:  # last: a row that goes must not lend its number to one that comes
        if row["substance"] not in wanted:
            change(db, "DELETE FROM allergies WHERE allergy_id = :id", id=row["allergy_id"])
    return {"substances": list(wanted), "added": added, "removed": removed}
