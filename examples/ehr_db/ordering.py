"""Tools that order: medications and follow-ups.

Refused are drugs that the formulary does not have, drugs that a recorded allergy forbids, and a
second order of a drug that is active. Doses, interactions, controlled drugs and closed charts are
not guarded: there the policy binds whoever orders.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal

from sqlalchemy import Connection

from envs import ToolError, tool
from envs.tools.records import Row, change, first, now, today

from .formulary import allergy_conflicts
from .records import require_drug, require_patient

DrugName = Annotated[str, {"minLength": 1, "maxLength": 60}]
Dose = Annotated[float, {"exclusiveMinimum": 0, "maximum": 10000}]
TimesPerDay = Annotated[int, {"minimum": 1, "maximum": 12}]
Reason = Literal[
    "adverse_effect",
    "course_completed",
    "ineffective",
    "no_longer_indicated",
    "replaced",
    "patient_declined",
]


def _active_order(db: Connection, patient_id: int, drug_id: int) -> Row | None:
    return first(
        db,
        "SELECT medication_id, dose_mg, times_per_day FROM medications"
        " WHERE patient_id = :patient AND drug_id = :drug AND status = 'active' ORDER BY"
        " medication_id",
        patient=patient_id,
        drug=drug_id,
    )


def _require_order(db: Connection, patient_id: int, drug: Row) -> Row:
    order = _active_order(db, patient_id, drug["drug_id"])
    if order is None:
        raise ToolError(f"The patient has no active order of {drug['name']}.", category="not_found")
    return order


def _start(db: Connection, patient_id: int, drug: Row, dose_mg: float, times_per_day: int) -> Row:
    day = today(db)
    change(
        db,
        "INSERT INTO medications (patient_id, drug_id, dose_mg, times_per_day, status, started_on)"
        " VALUES (:patient, :drug, :dose, :times, 'active', :day)",
        patient=patient_id,
        drug=drug["drug_id"],
        dose=dose_mg,
        times=times_per_day,
        day=day,
    )
    return {
        "name": drug["name"],
        "dose_mg": dose_mg,
        "times_per_day": times_per_day,
        "started_on": day,
    }


def _stop(db: Connection, order: Row, reason: str) -> str:
    day = today(db)
    change(
        db,
        "UPDATE medications SET status = 'stopped', stopped_on = :day, stop_reason = :reason WHERE"
        " medication_id = :id",
        day=day,
        reason=reason,
        id=order["medication_id"],
    )
    return day


@tool
def prescribe_medication(
    db: Connection, patient_id: int, name: DrugName, dose_mg: Dose, times_per_day: TimesPerDay = 1
) -> dict[str, Any]:
    """Start a medication: its order begins today. Refused where a recorded allergy stands against
    it, or where it is active already.

    Args:
        patient_id: The patient's id.
        name: Generic or brand name of the drug.
        dose_mg: One dose in milligrams.
        times_per_day: Doses per day.
    """
    require_patient(db, patient_id)
    drug = require_drug(db, name)
    if conflicts := allergy_conflicts(db, patient_id, drug["drug_id"]):
        names = ", ".join(conflicts)
        raise ToolError(
            f"{drug['name']} conflicts with a recorded allergy: {names}.", category="conflict"
        )
    if order := _active_order(db, patient_id, drug["drug_id"]):
        raise ToolError(
            f"{drug['name']} is active already: {order['dose_mg']:g} mg, {order['times_per_day']}"
            " times a day.",
            category="duplicate",
        )
    return _start(db, patient_id, drug, dose_mg, times_per_day)


@tool
def change_dose(
    db: Connection, patient_id: int, name: DrugName, dose_mg: Dose, times_per_day: TimesPerDay = 1
) -> dict[str, Any]:
    """Change the dose of an active medication: the old order is stopped as replaced, a new one
    starts today.

    Args:
        patient_id: The patient's id.
        name: Generic or brand name of the drug.
        dose_mg: One dose in milligrams from now on.
        times_per_day: Doses per day from now on.
    """
    require_patient(db, patient_id)
    drug = require_drug(db, name)
    order = _require_order(db, patient_id, drug)
    if (order["dose_mg"], order["times_per_day"]) == (dose_mg, times_per_day):
        raise ToolError(f"{drug['name']} is ordered in this dose already.", category="duplicate")
    _stop(db, order, "replaced")
    return _start(db, patient_id, drug, dose_mg, times_per_day)


@tool
def stop_medication(
    db: Connection, patient_id: int, name: DrugName, reason: Reason
) -> dict[str, Any]:
    """Stop an active medication: its order ends today.

    Args:
        patient_id: The patient's id.
        name: Generic or brand name of the drug.
        reason: Why it is stopped.
    """
    require_patient(db, patient_id)
    drug = require_drug(db, name)
    day = _stop(db, _require_order(db, patient_id, drug), reason)
    return {"name": drug["name"], "status": "stopped", "stopped_on": day, "stop_reason": reason}


@tool
def book_followup(
    db: Connection,
    patient_id: int,
    within_days: Annotated[int, {"minimum": 1, "maximum": 365}],
    reason: Literal["lab_result", "medication_review", "blood_pressure", "symptoms"],
) -> dict[str, Any]:
    """Book a follow-up with the patient's own clinician; an open one for the same reason is
    refused.

    Args:
        patient_id: The patient's id.
        within_days: It is due at the latest this many days from today.
        reason: What it is about.
    """
    patient = require_patient(db, patient_id)
    already = first(
        db,
        "SELECT due_by FROM followups WHERE patient_id = :patient AND reason = :reason AND status"
        " = 'open'"
        " ORDER BY followup_id",
        patient=patient_id,
        reason=reason,
    )
    if already is not None:
        raise ToolError(
            f"A follow-up for this reason is open, due by {already['due_by']}.",
            category="duplicate",
        )
    moment = now(db)
    due_by = (moment.date() + timedelta(days=within_days)).isoformat()
    made = first(
        db,
        "INSERT INTO followups (patient_id, clinician_id, reason, due_by, status, created_at)"
        " VALUES (:patient, :clinician, :reason, :due_by, 'open', :moment) RETURNING followup_id",
        patient=patient_id,
        clinician=patient["clinician_id"],
        reason=reason,
        due_by=due_by,
        moment=moment.isoformat(sep=" "),
    )
    return (made or {}) | {"patient_id": patient_id, "reason": reason, "due_by": due_by}


@tool
def complete_followup(db: Connection, followup_id: int) -> dict[str, Any]:
    """Mark an open follow-up as done.

    Args:
        followup_id: The follow-up's id, as list_followups or the chart gives it.
    """
    found = first(db, "SELECT status FROM followups WHERE followup_id = :id", id=followup_id)
    if found is None or found["status"] != "open":
        raise ToolError(
            f"There is no open follow-up with the id {followup_id}.", category="not_found"
        )
    change(db, "UPDATE followups SET status = 'done' WHERE followup_id = :id", id=followup_id)
    return {"followup_id": followup_id, "status": "done"}
