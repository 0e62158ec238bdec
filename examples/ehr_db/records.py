"""Shared by all tools of this world: patients, drugs and medications, and dates of the past."""

from __future__ import annotations

from datetime import date

from sqlalchemy import Connection

from envs import ToolError
from envs.tools.records import Row, first, fold, now, rows

MATCHES = 25
"""Rows that a search by words shows at most; their number beside them lets the caller narrow it."""


def past_date(db: Connection, value: str, what: str) -> str:
    """A calendar date that is not in the future; ToolError ``invalid`` otherwise."""
    try:
        day = date.fromisoformat(value)
    except ValueError:
        raise ToolError(
            f"{what} must be a calendar date (YYYY-MM-DD), not {value!r}.", category="invalid"
        ) from None
    if day > now(db).date():
        raise ToolError(f"{what} {day.isoformat()} lies in the future.", category="invalid")
    return day.isoformat()


def require_patient(db: Connection, patient_id: int) -> Row:
    """The patient's row; ToolError ``not_found`` where there is none."""
    found = first(
        db,
        "SELECT patient_id, mrn, name, sex, dob, status, closed_on, clinician_id FROM patients"
        " WHERE patient_id = :id",
        id=patient_id,
    )
    if found is None:
        raise ToolError(f"There is no patient with the id {patient_id}.", category="not_found")
    return found


def find_drug(db: Connection, name: str) -> Row | None:
    """The formulary's drug of that name or synonym, in whatever case and punctuation."""
    return first(
        db,
        "SELECT drug_id, name, max_daily_mg, controlled FROM drugs WHERE name = :name"
        " OR drug_id = (SELECT drug_id FROM drug_synonyms WHERE synonym = :name)",
        name=fold(name),
    )


def find_class(db: Connection, name: str) -> Row | None:
    """The drug class of that name or synonym."""
    return first(
        db,
        "SELECT class_id, name, cross_reactive FROM drug_classes WHERE name = :name"
        " OR class_id = (SELECT class_id FROM drug_synonyms WHERE synonym = :name)",
        name=fold(name),
    )


def require_drug(db: Connection, name: str) -> Row:
    """The drug of that name; ToolError ``invalid`` for the name of a class, ``not_found`` for
    anything else.
    """
    if drug := find_drug(db, name):
        return drug
    if group := find_class(db, name):
        raise ToolError(
            f"{name!r} names a class of drugs ({group['name']}); name one drug.", category="invalid"
        )
    raise ToolError(f"The formulary has no drug named {name!r}.", category="not_found")


def classes_of(db: Connection, drug_id: int) -> list[str]:
    """Names of the classes that a drug belongs to."""
    found = rows(
        db,
        "SELECT c.name FROM drug_class_members m JOIN drug_classes c ON c.class_id = m.class_id"
        " WHERE m.drug_id = :drug ORDER BY c.class_id",
        drug=drug_id,
    )
    return [each["name"] for each in found]


def medications_of(db: Connection, patient_id: int, *, stopped: bool = False) -> list[Row]:
    """A patient's medications, oldest order first; the active ones only, unless ``stopped``."""
    only = "" if stopped else " AND m.status = 'active'"
    orders = rows(
        db,
        "SELECT m.drug_id, d.name, m.dose_mg, m.times_per_day, m.status, m.started_on,"
        " m.stopped_on, m.stop_reason"
        f" FROM medications m JOIN drugs d ON d.drug_id = m.drug_id WHERE m.patient_id = :id{only}"
        " ORDER BY m.medication_id",
        id=patient_id,
    )
    members = rows(
        db,
        "SELECT x.drug_id, c.name FROM drug_class_members x JOIN drug_classes c ON c.class_id ="
        " x.class_id"
        " WHERE x.drug_id IN (SELECT m.drug_id FROM medications m WHERE m.patient_id = :id) ORDER"
        " BY c.class_id",
        id=patient_id,
    )
    groups: dict[int, list[str]] = {}
    for member in members:
        groups.setdefault(member["drug_id"], []).append(member["name"])
    return [
        {"name": each["name"], "classes": groups.get(each.pop("drug_id"), []), **each}
        for each in orders
    ]
