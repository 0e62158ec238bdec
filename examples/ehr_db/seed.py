"""More practices like the one in seed.sql, which is universe 0: as many patients, other people, the
same formulary.

``rows(universe, random)`` yields ``(table, row)`` in an order that satisfies the foreign keys. All
that varies comes from the universe's number and the given random source, so that a universe is the
same wherever it is made. Each holds what the task families look for: namesakes, closed charts,
allergies that forbid and allergies that do not, anticoagulated patients of whom one is so too much,
infections under treatment, results that were high once and are not now.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from pathlib import Path
from random import Random

from envs.tools.records import fold

from .seed_charts import TODAY, Chart, Formulary, some_day, write_chart
from .seed_medicine import ALLERGIES, PROFILES, RARE
from .seed_names import names_of

Row = Mapping[str, int | float | str | None]

REFERENCE = (
    "drug_classes",
    "drugs",
    "drug_class_members",
    "drug_synonyms",
    "icd10_codes",
    "drug_indications",
    "lab_tests",
)
"""Tables that are the same in every universe; seed.sql is where they are written down."""

ROLES = (*("physician",) * 4, *("nurse practitioner",) * 2, "pharmacist")
TREATING = 6
"""How many of the clinicians, counted from the first, look after patients."""

NAMESAKES = (3, 2, 2, 2, 2, 2)
"""How many patients bear each of the names that several bear; one of the three is spelt without
accents.
"""

CLOSED = (
    "transferred",
    "deceased",
    "transferred",
    "deceased",
    "transferred",
    "deceased",
    "transferred",
)
REASONS = ("medication_review", "blood_pressure", "symptoms")
OPEN_FOLLOWUPS, DONE_FOLLOWUPS = 22, 8


def rows(universe: int, random: Random) -> Iterator[tuple[str, Row]]:
    """The rows of one universe, numbered from 1."""
    reference = _seed_zero()
    for table in REFERENCE:
        for row in reference.execute(f"SELECT * FROM {table}"):
            yield table, dict(row)
    taken = frozenset(
        name
        for (name,) in reference.execute(
            "SELECT name FROM patients UNION SELECT name FROM clinicians"
        )
    )
    names = names_of(universe, taken)
    random.shuffle(names)
    clinicians = range(10 * universe + 1, 10 * universe + 1 + len(ROLES))
    for key, (name, _), role in zip(clinicians, names, ROLES, strict=False):
        yield (
            "clinicians",
            {"clinician_id": key, "name": name, "name_folded": fold(name), "role": role},
        )
    charts = _charts(names[len(ROLES) :], Formulary(reference), random)
    random.shuffle(charts)
    yield from _numbered(
        universe, charts, list(clinicians[:TREATING]), Formulary(reference), random
    )


def _seed_zero() -> sqlite3.Connection:
    """Universe 0 in memory, rows as mappings."""
    connection = sqlite3.connect(":memory:")
    for script in ("schema.sql", "seed.sql"):
        connection.executescript(Path(__file__).with_name(script).read_text("utf-8"))
    connection.row_factory = sqlite3.Row
    return connection


def _charts(names: list[tuple[str, str]], formulary: Formulary, random: Random) -> list[Chart]:
    """All charts: first those of the namesakes, who stay active and of whom two are allergic to
    penicillins.
    """
    names.sort(key=lambda each: each[0].isascii())  # the first name has an accent to lose
    shared = [pair for pair, people in zip(names, NAMESAKES, strict=False) for _ in range(people)]
    shared[2] = (_plain(shared[2][0]), shared[2][1])
    people = shared + names[len(NAMESAKES) :]
    profiles = [(age, conditions) for count, age, conditions in PROFILES for _ in range(count)]
    random.shuffle(profiles)
    profiles.sort(key=lambda profile: not RARE.isdisjoint(profile[1]))
    charts: list[Chart] = []
    for (name, sex), (age, _) in zip(people, profiles, strict=True):
        years = age + min(round(random.expovariate(1 / 9)), 88 - age)
        born = TODAY - timedelta(days=365 * years + years // 4)
        charts.append(Chart(name, sex, some_day(random, born - timedelta(days=330), born)))
    chronic = [
        index
        for index, (age, conditions) in enumerate(profiles)
        if index >= len(shared) and age >= 45 and RARE.isdisjoint(conditions)
    ]
    for index, status in zip(random.sample(chronic, len(CLOSED)), CLOSED, strict=True):
        charts[index].status, charts[index].end = (
            status,
            some_day(random, date(2024, 12, 1), date(2026, 1, 20)),
        )
    first, second = (
        0,
        NAMESAKES[0],
    )  # one of those who share a name, and one of those who share the next
    others = [index for index in range(len(charts)) if index not in (first, second)]
    reacting = iter(
        [first, second, *random.sample(others, sum(count for count, *_ in ALLERGIES) - 2)]
    )
    for count, substance, ways in ALLERGIES:
        for index in [next(reacting) for _ in range(count)]:
            reaction, severity = random.choice(list(ways))
            day = some_day(
                random,
                charts[index].dob + timedelta(days=365 * 16),
                charts[index].end - timedelta(days=480),
            )
            charts[index].allergies.append((substance, reaction, severity, day))
    for chart, (_, conditions) in zip(charts, profiles, strict=True):
        write_chart(chart, conditions, formulary, random)
    thinned = next(
        chart
        for chart, (_, conditions) in zip(charts, profiles, strict=True)
        if "valve" in conditions
    )
    last = max(index for index, (test, *_) in enumerate(thinned.labs) if test == "INR")
    thinned.labs[last] = ("INR", round(random.uniform(3.9, 4.6), 1), thinned.labs[last][2])
    return charts


def _plain(name: str) -> str:
    return fold(name).title()


def _numbered(
    universe: int, charts: list[Chart], clinicians: list[int], formulary: Formulary, random: Random
) -> Iterator[tuple[str, Row]]:
    """The charts as rows: patients in the order given, entries by their dates, as a practice writes
    them.
    """
    patients = {1000 * (universe + 1) + offset: chart for offset, chart in enumerate(charts, 1)}
    numbers = random.sample(range(10_000, 100_000), len(patients))
    treating = {patient: clinicians[patient % len(clinicians)] for patient in patients}
    for (patient, chart), number in zip(patients.items(), numbers, strict=True):
        closed = None if chart.status == "active" else chart.end.isoformat()
        yield (
            "patients",
            {
                "patient_id": patient,
                "mrn": f"HS-{universe:02d}{number}",
                "name": chart.name,
                "name_folded": fold(chart.name),
                "sex": chart.sex,
                "dob": chart.dob.isoformat(),
                "status": chart.status,
                "closed_on": closed,
                "clinician_id": treating[patient],
            },
        )
    entries = {
        "allergies": [
            {
                "patient_id": patient,
                "substance": substance,
                "drug_id": formulary.drugs.get(substance),
                "class_id": formulary.groups.get(substance),
                "reaction": reaction,
                "severity": severity,
                "recorded_on": day.isoformat(),
            }
            for patient, chart in patients.items()
            for substance, reaction, severity, day in chart.allergies
        ],
        "diagnoses": [
            {
                "patient_id": patient,
                "code": code,
                "status": "resolved" if resolved else "active",
                "onset_on": onset.isoformat(),
                "resolved_on": resolved.isoformat() if resolved else None,
            }
            for patient, chart in patients.items()
            for code, onset, resolved in chart.diagnoses
        ],
        "medications": [
            {
                "patient_id": patient,
                "drug_id": formulary.drugs[order.drug],
                "dose_mg": order.dose_mg,
                "times_per_day": order.times_per_day,
                "status": "stopped" if order.stopped else "active",
                "started_on": order.started.isoformat(),
                "stopped_on": order.stopped.isoformat() if order.stopped else None,
                "stop_reason": order.reason,
            }
            for patient, chart in patients.items()
            for order in chart.orders
        ],
        "vitals": [
            {
                "patient_id": patient,
                "recorded_at": moment.isoformat(sep=" "),
                "heart_rate": rate,
                "systolic": systolic,
                "diastolic": diastolic,
                "temperature_c": temperature,
                "spo2": spo2,
                "weight_kg": weight,
            }
            for patient, chart in patients.items()
            for moment, rate, systolic, diastolic, temperature, spo2, weight in chart.vitals
        ],
        "labs": [
            {"patient_id": patient, "test": test, "value": value, "taken_on": day.isoformat()}
            for patient, chart in patients.items()
            for test, value, day in chart.labs
        ],
        "followups": list(_followups(patients, treating, random)),
    }
    for table, key, dated in (
        ("allergies", "allergy_id", "recorded_on"),
        ("diagnoses", "diagnosis_id", "onset_on"),
        ("medications", "medication_id", "started_on"),
        ("vitals", "vitals_id", "recorded_at"),
        ("labs", "lab_id", "taken_on"),
        ("followups", "followup_id", "created_at"),
    ):
        for number, row in enumerate(sorted(entries[table], key=lambda row: str(row[dated])), 1):
            yield table, {key: 1000 * universe + number, **row}


def _followups(
    patients: Mapping[int, Chart], treating: Mapping[int, int], random: Random
) -> Iterator[Row]:
    """Open ones of as many patients, a few of them overdue, and some that are done."""
    active = [patient for patient, chart in patients.items() if chart.status == "active"]
    chosen = random.sample(active, OPEN_FOLLOWUPS + DONE_FOLLOWUPS)
    for index, patient in enumerate(chosen):
        is_open = index < OPEN_FOLLOWUPS
        due = TODAY + timedelta(
            days=random.randint(-21, 40) if is_open else random.randint(-200, -60)
        )
        booked = datetime.combine(
            due - timedelta(days=random.randint(55, 75)), time(random.randint(9, 15), 10)
        )
        yield {
            "patient_id": patient,
            "clinician_id": treating[patient],
            "reason": random.choice(REASONS),
            "due_by": due.isoformat(),
            "status": "open" if is_open else "done",
            "created_at": booked.isoformat(sep=" "),
        }
