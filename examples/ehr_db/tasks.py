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
                            "For the quality report: how many of {clinician}'s active patients have"
                            " {test} results on file, and what is the mean of their latest values?"
                        ),
                        (
                            "I need the average {test} of {clinician}'s active patients, based on"
                            " the last value of each, and the number of patients behind it."
                        ),
                        (
                            "Please give me the mean of the latest {test} values of {clinician}'s"
                            " active patients, with n."
                        ),
                        (
                            "Could you work out where {clinician}'s patients stand with their"
                            " {test}"
                            " on average? Open charts only, the latest value of each, and tell me"
                            " how many there are."
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
                            f" based on the latest results of {len(found)} patients."
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
                                "{clinician} wants to know which of their own patients have"
                                " uncontrolled hypertension: a last blood pressure of at least"
                                " {systolic} systolic or {diastolic} diastolic. Only open"
                                " charts, with the ids, please."
                            ),
                            (
                                "We're auditing blood pressures. Which of {clinician}'s active"
                                " patients with hypertension have a newest reading of >= {systolic}"
                                " systolic or >= {diastolic} diastolic? Ids please."
                            ),
                            (
                                "I'm preparing {clinician}'s next week. Which patients with an open"
                                " chart and hypertension were last measured at {systolic} or more"
                                " systolic, or {diastolic} or more diastolic? I need their ids, too."
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
                                f"{{clinician}} has {len(found)} active"
                                f" patient{'s' * (len(found) > 1)} with hypertension whose last"
                                " reading was at least {systolic} systolic or {diastolic}"
                                f" diastolic: {shown}."
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
        shown = ", ".join(f"{each.name} (INR {each.value})" for each in found)
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
                            " both limits included. Book a lab result follow-up within {days} days"
                            " for everyone whose last value is outside."
                        ),
                        (
                            "Please go through the warfarin patients. Everyone whose last INR is"
                            " outside {low}-{high}, or outside {valve_low}-{valve_high} with a"
                            " prosthetic valve (Z95.2), needs a lab result follow-up within {days}"
                            " days."
                        ),
                        (
                            "Who on warfarin is out of range? We aim at {low} to {high}, and at"
                            " {valve_low} to {valve_high} for prosthetic valves (Z95.2). Book them a"
                            " lab result follow-up within {days} days; the limits themselves are"
                            " fine."
                        ),
                        (
                            "Warfarin round. Prosthetic valve (Z95.2): INR {valve_low}-{valve_high}. All others:"
                            " {low}-{high}. Please book a lab result follow-up within {days} days"
                            " for everyone whose newest value is below or above that. Thank you!"
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
                            "I booked a lab result follow-up within {days} days for every active"
                            f" patient out of range: {shown}."
                        )
                    },
                ],
            }
