"""The values of a text in any form, and their readings."""

from __future__ import annotations

import pytest

from synth.core.language.values import same_day, says_nothing, spelled_numbers, values_in

FORMS = [
    ("€12.50", "number", {("12.5",)}, "€"),
    ("12,50 EUR", "number", {("12.5",)}, "€"),
    ("1.250,00 €", "number", {("1250",)}, "€"),
    ("$1,250.5", "number", {("1250.5",)}, "$"),
    ("1,250 rows", "number", {("1250",), ("1.25",), ("1", "250")}, "rows"),
    ("12,15", "number", {("12.15",), ("12", "15")}, ""),
    ("37.2 °C", "number", {("37.2",)}, "°c"),
    ("5mg", "number", {("5",)}, "mg"),
    ("LP-11410", "number", {("11410",)}, ""),
    ("2026-03-02", "date", {("2026-03-02",)}, ""),
    ("March 2nd, 2026", "date", {("2026-03-02",)}, ""),
    ("2 Mar 2026", "date", {("2026-03-02",)}, ""),
    ("02.03.2026", "date", {("2026-02-03",), ("2026-03-02",)}, ""),
    ("03/19/2026", "date", {("2026-03-19",)}, ""),
    ("the 3rd of April", "date", {("--04-03",)}, ""),
    ("2:30 pm", "time", {("14:30",)}, ""),
    ("see https://x.example/a.", "link", {("https://x.example/a",)}, ""),
    ("ada@example.org", "email", {("ada@example.org",)}, ""),
]


@pytest.mark.parametrize(("text", "kind", "readings", "unit"), FORMS)
def test_a_value_is_read_in_any_form(text: str, kind: str, readings: set[object], unit: str):
    (value,) = values_in(text)
    assert (value.kind, set(value.readings), value.unit) == (kind, readings, unit)


def spelled(text: str) -> list[str]:
    return [value.readings[0][0] for value in spelled_numbers(text)]


def test_spelled_numbers_and_nothing():
    assert spelled("forty-two lamps, three chairs") == ["42", "3"]
    assert spelled("two hundred ninety-six euros and fifty cents") == ["296.5"]
    assert spelled("two 500 mg tablets") == ["2"]
    assert says_nothing("It is sold out.")
    assert not says_nothing("It is here.")


def test_a_day_without_its_year():
    assert same_day("--04-03", "2026-04-03")
    assert not same_day("--04-03", "2026-04-13")


def test_one_moment_is_no_number():
    assert spelled("One moment, please. Then twelve of one.") == ["12", "1"]
