"""Another id, sum or card in the place of the right one is no proposal to agree to, whatever the
words; the right one counts in any of its forms, and need not be repeated.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from synth.core.users.scripted.proposal import named_in, strangers, strays, values_of
from synth.core.users.scripted.user import THE_REST
from synth.user import Consent, UserRole
from tests.unit.users.scripted.test_user import hear

CANCEL = Consent(["M05KNL"], "Yes, cancel it.", act=["cancel"], covers=["cancel_reservation"])
CHANGE = Consent(
    ["credit_card_442"],
    "Yes, change it.",
    act=["update", "change", "upgrade"],
    covers=["update_flights"],
    never=["to business"],
    forms={"credit_card_442": ["442", "ending in 7447"]},
    rivals={"economy": ["business"], "credit_card_442": ["gift card"]},
    if_named=["HAT110", "economy", "XEHM4B"],
)
ROLE = UserRole("Cancel one trip, and change the other.", {}, CANCEL, others=[CHANGE])


@pytest.mark.parametrize(
    ("text", "covers"),
    [
        ("Shall I cancel reservation M05KNL?", ("cancel_reservation",)),
        ("**M05KNL** can be cancelled. Please confirm the cancellation.", ("cancel_reservation",)),
        ("Shall I cancel reservation M08KNL?", None),
        ("Shall I cancel M05KNL and XEHM4C?", None),
        ("Shall I cancel M05KNL and BOSTON?", None),
        ("Would you like to proceed with exchanging M05KNL?", None),
        ("I can't cancel M05KNL. Is that okay?", None),
        ("I will change nothing for now. It would cancel M05KNL. Right?", None),
        ("M05KNL?", None),
        ("Shall I upgrade you to economy, on the Visa ending in 7447?", ("update_flights",)),
        (
            "I'd change it: business \u2192 economy, card 442. Shall I go ahead?",
            ("update_flights",),
        ),
        ("I'd change it: economy \u2192 business, card 442. Shall I go ahead?", None),
        ("Shall I update it to HAT110, on the Visa ending in 7447?", ("update_flights",)),
        ("Shall I update it to HAT111, on the Visa ending in 7447?", None),
        ("Shall I update it, on the Visa ending in 0192?", None),
        ("Shall I update it, paid by your gift card?", None),
        ("Shall I update it to HAT110, paid by your gift card 442?", None),
        ("Shall I update the cabin to business, card 442?", None),
    ],
)
def test_a_proposal_names_the_right_things(text: str, covers: tuple[str, ...] | None):
    (turn,) = hear(ROLE, text)
    assert (turn.covers if turn.consents else None) == covers
    assert not turn.ends


def test_an_id_that_the_agent_has_named_need_not_be_repeated_and_another_is_wrong():
    found = "Your reservation M05KNL is in business class, and can be cancelled."
    for question, agrees in (
        ("Would you like me to cancel it?", True),
        ("Would you like to proceed with the cancellation? Please confirm.", True),
        ("Would you like me to cancel M08KNL?", False),
    ):
        assert hear(ROLE, found, question)[1].consents is agrees


def test_who_wants_two_things_does_not_leave_after_one():
    done, other = "Sorry, that is all I can do.", "M05KNL can't be modified. Goodbye!"
    said = ["Shall I cancel M05KNL?", "M05KNL has been cancelled."]
    one = replace(ROLE, consent=CANCEL, others=())
    for turn, after in (hear(ROLE, *said, done)[1:], hear(one, other, other)):
        assert turn.text in THE_REST
        assert (turn.ends, after.ends) == (False, True)


def test_values_are_named_by_ids_sums_and_last_digits():
    assert named_in("Pay $1,250.00 with the card ending in 7447 for #W9348897 in May 2024.") == {
        ("$", "1250"),
        ("ending", "7447"),
        ("w 7", "w9348897"),
    }


def test_a_value_that_nobody_named_stands_beside_no_single_one():
    known = values_of(CANCEL) | values_of(CHANGE)
    assert strangers("Shall I cancel M05KNL and XEHM4C?", [CANCEL], known) == {("6", "xehm4c")}
    assert not strangers("Shall I cancel M05KNL and XEHM4B?", [CANCEL], known)
    assert strangers("Card ending in 7447, or ending in 0192", [CHANGE], known)


@pytest.mark.parametrize(
    ("text", "covers"),
    [
        (
            "Cancel M05KNL, and change to HAT110 in economy, card 442. Shall I go ahead?",
            ("cancel_reservation", "update_flights"),
        ),
        ("Cancel M05KNL, and change XEHM4B to HAT111, card 442. Shall I go ahead?", None),
        ("Cancel M05KNL, and change to HAT110 in business, card 442. Shall I go ahead?", None),
    ],
)
def test_a_yes_is_to_all_that_a_turn_proposes(text: str, covers: tuple[str, ...] | None):
    (turn,) = hear(ROLE, text)
    assert (turn.covers if turn.consents else None) == covers


DONATION = UserRole(
    "Please donate 500 points to the zoo.",
    {},
    Consent(["500 points"], "Yes, donate them.", act=["transfer"], covers=["transfer_points"]),
)


@pytest.mark.parametrize(
    ("text", "agrees"),
    [
        ("Shall I transfer 500 points to the zoo?", True),
        ("Shall I donate 500 points to the zoo?", True),
        ("Shall I burn 500 points?", False),
    ],
)
def test_a_verb_of_the_request_is_the_act(text: str, agrees: bool):
    """The author need not repeat under `act` what the user says."""
    (turn,) = hear(DONATION, text)
    assert turn.consents is agrees


def test_a_question_that_names_nothing_refers_to_the_sentence_before_it():
    long = "Is it all right with you that it is done like this for you today?"
    role = replace(ROLE, others=[])
    for act, agrees in (("cancel", True), ("exchange", False)):
        (turn,) = hear(role, f"You may cancel it. Let me {act} trip M05KNL then. {long}")
        assert turn.consents is agrees


def test_another_value_in_the_place_of_a_fact_is_wrong():
    assert strays("HAT110, HAT172", CHANGE) == []
    assert strays("HAT172", CHANGE) == ["HAT110"]


def test_a_second_proposal_of_one_tool_is_about_what_is_still_open():
    first = Consent(["M05KNL"], act=["change"], covers=["change"], if_named=["HAT202"])
    second = Consent(["M05KNL"], act=["change"], covers=["change"], if_named=["HAT041"])
    role = UserRole(
        "Change M05KNL to economy, then to a nonstop flight.", {}, first, others=[second]
    )
    texts = ("Shall I change M05KNL, HAT202?", "Change M05KNL from HAT202 to HAT374?")
    assert [turn.consents for turn in hear(role, *texts)] == [True, False]
