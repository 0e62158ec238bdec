"""Families whose work is reckoning over many charts: the gold solution is put together from the
data.

Each public function is a family, its name the id; it yields one task per dict, in the notation of
tasks.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, text

Task = dict[str, Any]

AT_ONCE = 3
"""Bookings for one request that need no read-back."""


def _rows(db: Connection, sql: str, **binds: Any) -> list[Any]:
    return list(db.execute(text(sql), binds))


def _clinicians(db: Connection) -> list[Any]:
    return _rows(
        db,
        "SELECT clinician_id, name FROM clinicians WHERE role <> 'pharmacist' ORDER BY"
        " clinician_id",
    )


def mean_lab_value(db: Connection) -> Iterator[Task]:
    """The mean of the latest values of a clinician's active patients, closed charts left out."""
    units = dict(_rows(db, "SELECT test, unit FROM lab_tests WHERE test <> 'INR' ORDER BY test"))
    for number, (test, unit) in enumerate(units.items()):
        for clinician_id, clinician in _clinicians(db):
            found = _rows(
                db,
                "SELECT l.value FROM latest_labs l JOIN patients p ON p.patient_id = l.patient_id"
                " WHERE l.test = :test"
                " AND p.status = 'active' AND p.clinician_id = :clinician ORDER BY p.patient_id",
                test=test,
                clinician=clinician_id,
            )
            if len(found) < 2:
                continue
            mean = sum(value for (value,) in found) / len(found)
            shown = f"{mean:.2f} {unit}"
            yield {
                "slots": {
                    "clinician_id": clinician_id,
                    "clinician": clinician,
                    "test": test,
                    "mean": mean,
                },
                "key": clinician_id * 10 + number,
                "user": {
                    "says": [
                        (
                            "For the quality report: how many active patients of {clinician} have a"
                            " result of {test} on file, and what is the mean of their latest"
                            " values?"
                        ),
                        (
                            "I need the average {test} of {clinician}'s active patients, last"
                            " value of each, and the number of patients behind it."
                        ),
                        (
                            "Mean of the newest {test} over the active charts of {clinician},"
                            " please,"
                            " with n."
                        ),
                        (
                            "Could you work out where {clinician}'s patients stand with their"
                            " {test}"
                            " on average? Open charts, latest value each, and tell me how many"
                            " they are."
                        ),
                    ]
                },
                "answer": {
                    "count": {
                        "type": "integer",
                        "description": "How many active patients have a result of the test.",
                    },
                    "mean": {
                        "type": "number",
                        "description": (
                            "Mean of their latest values, to two decimals, in the unit"
                            " of the chart."
                        ),
                        "compare": {"abs": 0.006},
                    },
                },
                "oracle": {
                    "mean": "SELECT AVG(l.value) FROM latest_labs l JOIN patients p ON"
                    " p.patient_id = l.patient_id"
                    " WHERE l.test = :test AND p.status = 'active' AND p.clinician_id ="
                    " :clinician_id"
                },
                "gold": [
                    {
                        "find_clinicians": {"name": "{clinician}"},
                        "save": {"cid": "$.clinicians[0].clinician_id"},
                    },
                    {"search_labs": {"test": "{test}", "clinician_id": "$cid"}},
                    {"submit": {"count": len(found), "mean": "{mean}"}},
                    {
                        "say": (
                            f"The mean {{test}} of {{clinician}}'s active patients is {shown},"
                            f" from {len(found)} latest results."
                        )
                    },
                ],
            }


def pressure_above_target(db: Connection) -> Iterator[Task]:
    """Which of a clinician's patients with hypertension were above target at the last
    measurement.
    """
    for clinician_id, clinician in _clinicians(db):
        active = _rows(
            db,
            "SELECT patient_id FROM patients WHERE status = 'active' AND clinician_id = :clinician"
            " ORDER BY patient_id",
            clinician=clinician_id,
        )
        measured = _rows(
            db,
            "SELECT p.patient_id, p.name, v.systolic, v.diastolic FROM patients p JOIN vitals v ON"
            " v.patient_id = p.patient_id"
            " WHERE p.status = 'active' AND p.clinician_id = :clinician AND v.recorded_at ="
            " (SELECT MAX(n.recorded_at) FROM vitals n WHERE n.patient_id = p.patient_id) AND"
            " EXISTS"
            " (SELECT 1 FROM diagnoses g WHERE g.patient_id = p.patient_id AND g.code = 'I10' AND"
            " g.status = 'active')"
            " ORDER BY p.patient_id",
            clinician=clinician_id,
        )
        for systolic, diastolic in ((130, 80), (140, 90), (150, 90)):
            found = [
                each
                for each in measured
                if each.systolic >= systolic or each.diastolic >= diastolic
            ]
            above = [each.patient_id for each in found]
            shown = ", ".join(
                f"{each.name} ({each.patient_id}) with {each.systolic}/{each.diastolic}"
                for each in found
            )
            if above:
                yield {
                    "slots": {"clinician": clinician, "systolic": systolic, "diastolic": diastolic},
                    "key": clinician_id * 1000 + systolic,
                    "user": {
                        "says": [
                            (
                                "Which active patients of {clinician} with hypertension (I10) had"
                                " {systolic} systolic or more, or {diastolic} diastolic or more,"
                                " at their last measurement? Names and ids, please."
                            ),
                            (
                                "{clinician} asks which of their own patients have hypertension"
                                " that is not under control, which means a last pressure of"
                                " at least {systolic} systolic or {diastolic} diastolic. Only open"
                                " charts, with the ids, please."
                            ),
                            (
                                "We audit the blood pressure of {clinician}'s patients. Who with an"
                                " active chart and hypertension has a newest reading of >= {systolic}"
                                " systolic or >= {diastolic} diastolic? Ids please."
                            ),
                            (
                                "I'm preparing {clinician}'s next week. Who of the open charts with"
                                " hypertension was at {systolic}/{diastolic} or higher the last time, in"
                                " either number? I need their ids, too."
                            ),
                        ]
                    },
                    "answer": {
                        "patients": {
                            "type": "array",
                            "items": "integer",
                            "description": "Ids of those patients.",
                            "compare": "set",
                        }
                    },
                    "gold": [
                        {
                            "find_clinicians": {"name": "{clinician}"},
                            "save": {"cid": "$.clinicians[0].clinician_id"},
                        },
                        {"list_patients": {"clinician_id": "$cid", "status": "active"}},
                        *({"get_patient": {"patient_id": patient_id}} for (patient_id,) in active),
                        {"submit": {"patients": above}},
                        {
                            "say": (
                                "Of {clinician}'s active patients with hypertension, at {systolic}"
                                " systolic or {diastolic} diastolic or more at the last"
                                f" measurement: {shown}."
                            )
                        },
                    ],
                }


def inr_out_of_range(db: Connection) -> Iterator[Task]:
    """Whose INR has left the range that the reason for warfarin asks for: book those, and nobody
    else.
    """
    taking = _rows(
        db,
        "SELECT p.patient_id, p.name, l.value, EXISTS (SELECT 1 FROM diagnoses g WHERE g.patient_id ="
        " p.patient_id"
        " AND g.code = 'Z95.2' AND g.status = 'active') AS valve"
        " FROM medications m JOIN drugs d ON d.drug_id = m.drug_id JOIN patients p ON p.patient_id"
        " = m.patient_id"
        " JOIN latest_labs l ON l.patient_id = p.patient_id AND l.test = 'INR'"
        " WHERE d.name = 'warfarin' AND m.status = 'active' AND p.status = 'active' ORDER BY"
        " p.patient_id",
    )
    for tenths in (0, 1, 2, 3, 4, -1, -2):
        low, high = (20 - tenths) / 10, (30 + tenths) / 10
        valve_low, valve_high = (25 - tenths) / 10, (35 + tenths) / 10
        found = [
            each
            for each in taking
            if not (
                valve_low <= each.value <= valve_high if each.valve else low <= each.value <= high
            )
        ]
        out = [each.patient_id for each in found]
        if not 1 <= len(out) <= AT_ONCE:
            continue
        shown = ", ".join(f"{each.name} with {each.value}" for each in found)
        for days in range(2, 15):
            yield {
                "slots": {
                    "low": low,
                    "high": high,
                    "valve_low": valve_low,
                    "valve_high": valve_high,
                    "days": days,
                },
                "key": round(low * 10) * 10_000 + round(high * 10) * 100 + days,
                "user": {
                    "says": [
                        (
                            "Please check the INR of everybody on warfarin: target {low} to"
                            " {high}, with a prosthetic valve (Z95.2) {valve_low} to {valve_high},"
                            " bounds included. Book a lab result follow-up within {days} days for"
                            " whoever's last value is outside."
                        ),
                        (
                            "Please go through the warfarin patients. Last INR outside"
                            " {low}-{high},"
                            " or outside {valve_low}-{valve_high} in those with a prosthetic"
                            " valve (Z95.2): lab result"
                            " follow-up, {days} days at most."
                        ),
                        (
                            "Who on warfarin is out of range? We aim at {low} to {high}, and at"
                            " {valve_low} to {valve_high} for prosthetic valves (Z95.2). Book them"
                            " within {days} days about the lab result, the limits themselves are"
                            " fine."
                        ),
                        (
                            "Warfarin round. Prosthetic valve (Z95.2): INR {valve_low}-{valve_high}. All others:"
                            " {low}-{high}. A newest value below or above that means a follow-up"
                            " (lab result) in {days} days or less. Thank you!"
                        ),
                    ]
                },
                "answer": {
                    "out_of_range": {
                        "type": "array",
                        "items": "integer",
                        "description": "Ids of the patients who were booked.",
                        "compare": "set",
                    }
                },
                "gold": [
                    {"search_medications": {"name": "warfarin"}},
                    {"search_labs": {"test": "INR"}},
                    *({"get_patient": {"patient_id": each.patient_id}} for each in taking),
                    *(
                        {
                            "book_followup": {
                                "patient_id": patient_id,
                                "within_days": "{days}",
                                "reason": "lab_result",
                            }
                        }
                        for patient_id in out
                    ),
                    {"submit": {"out_of_range": out}},
                    {
                        "say": (
                            "Out of range, and booked for the lab result within {days} days:"
                            f" {shown}."
                        )
                    },
                ],
            }
