"""How text is compared: the forms that are one, those that are not, and what a clean restatement
is.
"""

from __future__ import annotations

import pytest

from synth.core.language.wording import fold, texts, tokens
from synth.core.users.scripted.proposal import Turn

SAME = [
    ("5mg", "5 mg", "5.0 MG", "**5** milligrams"),
    ("1980-05-03", "May 3, 1980", "May 3rd 1980", "3 May 1980", ("the 3rd of May, 1980").removeprefix("the "), "03.05.1980"),
    ("13/05/1980", "05/13/1980", "13 May 1980"),
    ("14:30", "2:30 pm", "2:30 p.m", "14:30:00"),
    ("9 am", "09:00", "9AM"),
    ("$1,200.50", "1200.5 USD", "USD 1,200.50", "1200.50 dollars"),
    ("12 €", "€12.00", "12 euros"),
    ("14 days", "14 day"),
    ("50%", "50 percent"),
    ("Chloé Müller", "CHLOE MULLER", "_Chloé_ Müller"),
    ("O'Brien", "O\u2019Brien's"),
    ("HS-809785", "hs 809785"),
    ("order_id", "order id"),
    ("Ada@Example.com", "ada@example.com"),
]  # fmt: skip
OTHER = [
    ("5 mg", "50 mg"),
    ("5 mg", "0.5 mg"),
    ("5 mg", "5 ml"),
    ("1980-05-03", "1980-03-05"),
    ("1980-05-03", "05/03/1980"),  # two readings
    ("2:30 pm", "2:30"),
    ("$12", "12 €"),
    ("Peter", "Peters"),
    ("2026-02-30", "2026-03-02"),  # no such day
]


@pytest.mark.parametrize("forms", SAME, ids=[each[0] for each in SAME])
def test_forms_of_one_thing(forms: tuple[str, ...]):
    assert len({tuple(texts(tokens(each))) for each in forms}) == 1


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_different_things(one: str, other: str):
    assert texts(tokens(one)) != texts(tokens(other))
    assert not Turn(f"Shall I take {other}?").holds(one)


def test_a_fact_is_held_on_word_boundaries():
    assert Turn("room 12").holds("12")
    assert not Turn("room 112, or 12.5").holds("12")
    assert Turn("He is Adam").holds("he is")
    assert not Turn("The isle").holds("he is")


def test_lines_and_bullets_survive_folding():
    assert fold("* **One**\n# Two `x`") == "- one\ntwo x"


@pytest.mark.parametrize(
    ("text", "unclear"),
    [
        ("5 mg", []),
        ("10 mg", ["5 mg"]),
        ("5 mg, no more than 20 mg", []),
        ("5 mg, at most 20 mg", []),
        ("not 5 mg", ["5 mg"]),
        ("I don't wait; 5 mg", []),
        ("I don't wait 5 mg", ["5 mg"]),
        ("not 10 mg, 5 mg", ["5 mg"]),
        ("5 mg (5 mg)", []),
        ("5 mg or less", ["5 mg"]),
        ("5 mg or would you wait", []),
    ],
)
def test_a_dose(text: str, unclear: list[str]):
    assert Turn(text).unclear(["5 mg"]) == unclear


@pytest.mark.parametrize(
    ("text", "clear"),
    [
        ("ordered 2026-02-03, delivered 2026-02-08", True),
        ("ordered 2026-02-03, 2026-02-08", False),
        ("ordered on 2026-02-03 or on 2026-02-08", False),
        ("ordered 2026-02-08. Ordered 2026-02-03", False),
        ("for the order of 2026-02-03, seen at 14:00", True),
    ],
)
def test_dates_are_rivals_in_one_role_only(text: str, clear: bool):
    assert (Turn(text).unclear(["2026-02-03"]) == []) is clear


def test_a_sum_may_stand_in_a_calculation():
    assert Turn("Refund: $48.00 - $4.80 = $43.20").unclear(["$43.20"]) == []
    assert Turn("Refund $43.20. Refund $48.00.").unclear(["$43.20"]) == ["$43.20"]


def test_facts_are_no_rivals_of_each_other():
    assert Turn("from 10 mg to 5 mg").unclear(["10 mg", "5 mg"]) == []


def test_a_long_list_of_values_is_read_in_one_go():
    """A model may paste whole tables; each value's role is worked out once, whatever it hangs
    on.
    """
    days = [f"19{year:02}-{month:02}-03" for year in range(100) for month in range(1, 13)]
    assert Turn(f"born {', '.join(days)}").unclear([days[700]]) == [days[700]]
