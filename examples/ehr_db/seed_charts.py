"""One invented chart: problems, orders, measurements and results that do not contradict one
another.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from random import Random

from .seed_medicine import APART, CONDITIONS, DOSES, LABS_OF, UNUSUAL, VALUES, Condition

TODAY = date(2026, 3, 2)


class Formulary:
    """Drugs, classes and cross-reactions, as the reference tables of seed.sql hold them."""

    def __init__(self, reference: sqlite3.Connection) -> None:
        self.drugs: dict[str, int] = dict(reference.execute("SELECT name, drug_id FROM drugs"))
        self.groups: dict[str, int] = dict(
            reference.execute("SELECT name, class_id FROM drug_classes")
        )
        self.crossing = {
            name
            for (name,) in reference.execute(
                "SELECT name FROM drug_classes WHERE cross_reactive = 1"
            )
        }
        self.classes: dict[str, set[str]] = {}
        members = (
            "SELECT d.name, c.name FROM drug_class_members m"
            " JOIN drugs d ON d.drug_id = m.drug_id JOIN drug_classes c ON c.class_id = m.class_id"
        )
        for drug, group in reference.execute(members):
            self.classes.setdefault(drug, set()).add(group)

    def forbids(self, substance: str, drug: str) -> bool:
        """True if an allergy to a substance rules a drug out, as in the view allergy_conflicts."""
        shared = self.classes[drug] & self.classes.get(substance, set()) & self.crossing
        return substance == drug or substance in self.classes[drug] or bool(shared)


@dataclass
class Order:
    """A medication of the chart; ``reason`` is given where it was stopped."""

    drug: str
    dose_mg: float
    times_per_day: int
    started: date
    stopped: date | None = None
    reason: str | None = None


@dataclass
class Chart:
    """One patient. ``end`` is the day on which the chart was closed, or today."""

    name: str
    sex: str
    dob: date
    end: date = TODAY
    status: str = "active"
    allergies: list[tuple[str, str, str, date]] = field(
        default_factory=list[tuple[str, str, str, date]]
    )
    diagnoses: list[tuple[str, date, date | None]] = field(
        default_factory=list[tuple[str, date, date | None]]
    )
    orders: list[Order] = field(default_factory=list[Order])
    vitals: list[tuple[datetime, int, int, int, float | None, int | None, float | None]] = field(
        default_factory=list[tuple[datetime, int, int, int, float | None, int | None, float | None]]
    )
    labs: list[tuple[str, float, date]] = field(default_factory=list[tuple[str, float, date]])

    @property
    def active(self) -> list[Order]:
        return [order for order in self.orders if order.stopped is None]


def some_day(random: Random, first: date, last: date) -> date:
    """A day between two, both included; the 29th of February is left out, so that ages can be
    reckoned.
    """
    day = first + timedelta(days=random.randint(0, max(0, (last - first).days)))
    return day.replace(day=28) if (day.month, day.day) == (2, 29) else day


def write_chart(
    chart: Chart, conditions: Sequence[str], formulary: Formulary, random: Random
) -> None:
    """Fill in what a patient with these conditions has in the chart, around the allergies that it
    holds already.
    """
    for name in conditions:
        condition = CONDITIONS[name]
        if condition.sex in (None, chart.sex):
            _add_problem(chart, condition, formulary, random)
    _measure(chart, random)
    _test(chart, formulary, random)


def _add_problem(chart: Chart, condition: Condition, formulary: Formulary, random: Random) -> None:
    code = random.choice(list(condition.codes))
    if condition.days is None:
        adult = chart.dob + timedelta(days=365 * 17)
        onset = some_day(
            random,
            max(adult, chart.end - timedelta(days=365 * 18)),
            chart.end - timedelta(days=500),
        )
    else:
        onset = chart.end - timedelta(days=random.randint(*condition.days))
    resolved = onset + timedelta(days=random.randint(7, 11)) if condition.over else None
    chart.diagnoses.append((code, onset, resolved))
    acute = condition.days is not None
    for line in condition.lines:
        fitting = [drug for drug in line if _fits(chart, drug, formulary)]
        if not fitting:
            continue
        drug = random.choice(fitting)
        dose, times = random.choice(list(DOSES[drug]))
        started = onset if acute else onset + timedelta(days=random.randint(5, 320))
        order = Order(
            drug, dose, times, started, resolved, "course_completed" if resolved else None
        )
        if (
            "angiotensin receptor blockers" in formulary.classes[drug]
            and not chart.allergies
            and random.random() < 0.6
        ):
            _coughed_before(chart, order, onset, random)
        chart.orders.append(order)


def _fits(chart: Chart, drug: str, formulary: Formulary) -> bool:
    """True if a drug may join the chart: no allergy, no second drug of its class, and no class that
    conflicts with it.
    """
    held = {group for order in chart.active for group in formulary.classes[order.drug]}
    mine = formulary.classes[drug]
    return (
        not any(formulary.forbids(substance, drug) for substance, *_ in chart.allergies)
        and not held & mine
        and not any(pair & held and pair & mine for pair in APART)
    )


def _coughed_before(chart: Chart, order: Order, onset: date, random: Random) -> None:
    """The usual way to an angiotensin receptor blocker: an ACE inhibitor, and the cough that ended
    it.
    """
    began = order.started - timedelta(days=random.randint(40, 160))
    chart.orders.append(
        Order("lisinopril", 10, 1, max(began, onset), order.started, "adverse_effect")
    )
    chart.allergies.append(("lisinopril", "cough", "mild", order.started))


def _measure(chart: Chart, random: Random) -> None:
    codes = {code for code, _, _ in chart.diagnoses}
    pressed = "I10" in codes
    usual = random.randint(128, 158) if pressed else random.randint(108, 130)
    weight = round(random.uniform(52, 84) if chart.sex == "female" else random.uniform(63, 104), 1)
    first_day = chart.end - timedelta(days=470)
    days = sorted(
        {
            some_day(random, first_day, chart.end - timedelta(days=3))
            for _ in range(random.randint(2, 6))
        }
    )
    for day in days:
        moment = datetime.combine(day, time(random.randint(8, 16), 5 * random.randrange(12)))
        systolic = usual + random.randint(-9, 9)
        diastolic = round(systolic * 0.36) + random.randint(26, 36)
        full = random.random() < 0.65
        chart.vitals.append(
            (
                moment,
                random.randint(58, 88),
                systolic,
                diastolic,
                round(random.uniform(36.2, 37.1), 1) if full else None,
                (random.randint(91, 94) if "J44.9" in codes else random.randint(96, 99))
                if full
                else None,
                round(weight + random.uniform(-2.5, 2.5), 1) if random.random() < 0.7 else None,
            )
        )


def _test(chart: Chart, formulary: Formulary, random: Random) -> None:
    codes = [code for code, _, _ in chart.diagnoses]
    wanted = {
        test
        for order in chart.active
        for name in sorted({order.drug, *formulary.classes[order.drug]})
        for test in LABS_OF.get(name, ())
    }
    if "N18.30" in codes:
        wanted.add("creatinine")
    for test in sorted(wanted):
        low, high, decimals, count = VALUES[test]
        for code in codes:
            low, high = UNUSUAL.get((test, code), (low, high))
        centre = random.uniform(low, high)
        was = random.uniform(0.8, 2.4) if test == "HbA1c" and random.random() < 0.4 else 0.0
        gap = 340 // count
        for back in reversed(range(count)):
            day = chart.end - timedelta(days=back * gap + random.randint(4, gap - 4))
            drift = (high - low) * random.uniform(-0.06, 0.06) + was * back / count
            value = round(max(low * 0.97, centre + drift), decimals)
            chart.labs.append((test, value, day))
