"""Facts that count as told: whole words, and names inside of e-mail addresses and user ids."""

from __future__ import annotations

import pytest

from synth.core.validation.argument_provenance import appears_in, flat, numbers

SEEN = flat(
    "I am yusuf_rossi_9620, mail kim.lee@example.org, order LP-11410, 12.5 kg, 3.50 m, mother, 2026-04-01,"
    " paid on 3 May 2025 at 14:30"
)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("Yusuf", True),
        ("Rossi", True),
        ("Yusuf Rossi", True),
        ("Kim Lee", True),
        ("9620", True),
        ("LP-11410", True),
        (12.5, True),
        (3.5, True),
        (12, False),
        (962, False),
        ("moth", False),
        ("2026-04-02", False),
        ("1141", False),
        ("2025-05-03 14:30:00", True),
        ("2025-05-03 14:31:00", False),
        ("Kim Rossi-Meier", False),
        ("us", False),
        ("", True),
    ],
)
def test_appears_in(value: object, told: bool):
    assert appears_in(value, SEEN) is told


def test_numbers_of_an_expression():
    assert list(numbers("(12.50 * 3 + 249) / 100 - x17")) == [12.5, 249]
