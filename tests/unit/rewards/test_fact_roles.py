"""Facts in each other's place."""

from __future__ import annotations

import pytest

from envs.types import ToolResult
from synth.core.rewards.reply.fact_roles import SeenObjects, exchanged_roles, form
from synth.core.rewards.reply.facts import Spoken, exchanged, not_closed, wrong_units
from synth.core.rewards.reply.given import Material
from synth.core.types.reply import Fact
from synth.evidence import CallRecord

GOLD = ["We keep a fee of 3.50 EUR, so you would get 37.20 EUR back for the charger. Shall I?"]
FACTS = ["charger", "3.50", "37.20"]


def found(text: str, gold: list[str] = GOLD, facts: list[str] = FACTS) -> list[tuple[str, str]]:
    return list(dict.fromkeys(exchanged_roles([text], gold, facts)))


@pytest.mark.parametrize(
    "text",
    [
        GOLD[0],
        "You get 37.20 EUR back for the charger; the fee of 3.50 EUR stays with us. Go ahead?",
        "Fee: 3.50 EUR, refund: 37.20 EUR, for the charger. Shall I proceed?",
        "| item | charger |\n| fee | 3.50 |\n| back | 37.20 |\nOK to go on?",
        "I will send 37.20 EUR for the charger.",
        "3.50 EUR is what we keep, 37.20 EUR is what you get.",
    ],
)
def test_other_words_for_the_same_facts_pass(text: str):
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "We keep a fee of 37.20 EUR, so you would get 3.50 EUR back for the charger. Shall I?",
        "The fee of 37.20 EUR is kept and you get 3.50 EUR back.",
    ],
)
def test_figures_in_each_others_place_are_found(text: str):
    assert ("3.50", "37.20") in found(text)


def test_a_role_may_stand_beyond_the_clause():
    gold = ["Ada Kern, born 1980-05-03: apixaban, which the chart has for I48, ends today. Right?"]
    facts = ["Ada Kern", "apixaban", "1980-05-03"]
    wrong = "apixaban, born 1980-05-03: Ada Kern, which the chart has for I48, ends today. Right?"
    assert found(wrong, gold, facts) == [("Ada Kern", "apixaban")]
    other = "For Ada Kern (born 1980-05-03) I stop apixaban, which is there for I48. Right?"
    assert found(other, gold, facts) == []


def test_facts_of_several_turns_are_compared_as_well():
    gold = ["I take the bottle and refund 27. Shall I?", "I take the lamp and refund 47. Shall I?"]
    said = ["I take the bottle and refund 47. Shall I?", "I take the lamp and refund 27. Shall I?"]
    facts = ["27", "47"]
    assert list(exchanged_roles(gold, gold, facts)) == []
    assert list(exchanged_roles(said, gold, facts)) == [("27", "47")]
    beside = ["For the bottle, 27. Shall I?", "For the lamp, 47. Shall I?"]
    assert list(exchanged_roles(beside, gold, facts)) == []


def test_forms():
    assert form("27") == form("47.50")
    assert len({form("27"), form("27 mg"), form("bottle"), form("2026-03-02")}) == 4


def test_a_word_of_two_names_is_the_name_of_neither():
    facts = [
        Fact("orders", ["4"], words=["order"]),
        Fact("spent", ["81630"], words=["spent"]),
        Fact("last_order", ["2026-02-20 16:43:51"], words=["last", "order"]),
    ]
    assert not list(exchanged(["You have placed 4 orders for 81630 cents."], facts))
    assert list(exchanged(["The last one is 81630."], facts))


def test_a_longer_due_list_is_not_extra_to_a_shorter_one():
    due = [Fact("late", (["A-1", "A-2"],)), Fact("lost", (["A-1"],))]
    results = [[{"number": one} for one in ("A-1", "A-2", "A-3")]]
    said = Spoken("Late are A-1 and A-2. Lost is A-1.")
    assert [*not_closed(said, due, results)] == []
    (found,) = not_closed(Spoken("Lost are A-1 and A-3."), due[1:], results)
    assert "A-3" in str(found)


def test_hundredths_are_told_as_such_but_for_nothing():
    for cents, said, wrong in ((0, "0.00", False), (1500, "1500", True), (1500, "15.00", False)):
        facts = [Fact("left", (f"{cents / 100:.2f}", cents))]
        assert any(wrong_units(Spoken(f"€{said} left"), (), Material(), facts)) == wrong


def seen() -> SeenObjects:
    """Two orders that were read, and one that was sent."""
    orders = [
        {"number": "LP-10640", "carrier": "Nordpost", "total_eur": "167.90", "due": "2026-03-02"},
        {"number": "LP-11522", "carrier": "Swiftline", "total_eur": "14.45", "due": "2026-03-09"},
        {"number": "LP-12000", "price": 64.5, "items": [{"name": "camp stove"}]},
    ]
    calls = [
        CallRecord(name, {}, True, None, name == "get_order", result=ToolResult(order))
        for name, order in zip(("get_order", "get_order", "send"), orders, strict=True)
    ]
    return SeenObjects(calls, Material.of_calls(calls))


ODD = ["LP-10640 comes to €14.45.", "Nordpost brings LP-11522."]
CROSSED = [
    "€14.45 for LP-10640 and €167.90 for LP-11522",
    "- LP-10640, 9 March\n- LP-11522, 2 March",
]
TRUE = [
    "LP-10640 comes to €167.90 and is due on 2 March.",
    "LP-10640 is not due on 9 March. It may come to €14.45?",
    "The parcel cost €64.50. The camp stove is in it.",
    "€167.90 for LP-10640, and LP-11522 came to €14.45.",
    "LP-11522 is cheaper than LP-10640, 14.45 against 167.90 EUR.",
]


@pytest.mark.parametrize("text", [*ODD, *CROSSED, *TRUE])
def test_values_stand_beside_their_object(text: str):
    odd = [*seen().contradictions([text], "", [])]
    assert bool(odd) == (text in ODD) or text in CROSSED
    assert not [*seen().contradictions([text], "", [text])], "the user said so"
    assert bool([*seen().exchanged(text)]) == (text in CROSSED)
