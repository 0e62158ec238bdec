"""A scenario becomes words of its user: said at first, told when asked, wanted later."""

from __future__ import annotations

import pytest

from synth.ext.action_lists.entries import Entry, ExpectedCall, Scenario
from synth.ext.action_lists.script import first_person, script_of
from synth.ext.action_lists.tasks import settled_script
from synth.ext.action_lists.wording import wants_consent, wants_identity


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("You are Ada and want your money back.", "I am Ada and want my money back."),
        ("If the agent asks, you'd rather wait.", "If you ask, I'd rather wait."),
        ("They sent you the wrong one.", "They sent me the wrong one."),
        ("Please cancel my order, will you?", "Please cancel my order, will you?"),
        ("Change the passenger to yourself.", "Change the passenger to myself."),
    ],
)
def test_the_second_person_becomes_the_first(told: str, said: str):
    assert first_person(told) == said


def test_a_whole_instruction_is_divided_by_its_sentences():
    text = (
        "You are Ada Kern in 19122. You want to return order #W1. You do not remember your email."
        " You are impatient. If that is not possible, you want to keep it."
    )
    script = script_of(Scenario(text))
    assert script.opening == "I want to return order #W1."
    assert script.topics == {
        "identity": "I am Ada Kern in 19122.",
        "wishes": "If that is not possible, I want to keep it.",
    }
    assert "impatient" in script.manner


def test_an_id_in_lower_case_is_who_the_user_is():
    script = script_of(Scenario("You are mia_li_3668. You want to fly. You are calm."))
    assert script.topics == {"identity": "I am mia_li_3668."}
    assert script.manner == "You are calm."


def test_what_the_user_lacks_is_said_where_a_wish_goes_with_it():
    text = "You do not have any bags, but want to add Kevin Smith. You do not have your number."
    script = script_of(Scenario("You want to book.", "You are Ada.", "", text))
    assert script.opening == (
        "I want to book. I do not have any bags, but want to add Kevin Smith."
    )
    assert "your number" in script.manner


def entry(later: str, *calls: ExpectedCall) -> Entry:
    return Entry("0", Scenario("You want to cancel #W1.", "You are Ada.", "", later), calls)


CANCEL, NOTE = ExpectedCall("cancel", {"id": "#W1"}), ExpectedCall("note", {"text": "violet"})


def test_a_later_sentence_is_a_wish_if_a_write_comes_before_it():
    script = settled_script(entry("After that, add violet.", CANCEL, NOTE), {"cancel", "note"})
    assert script.later == ["After that, add violet."]


def test_it_is_told_when_asked_if_no_write_comes_before_it():
    script = settled_script(entry("After that, add violet.", NOTE, CANCEL), {"cancel", "note"})
    assert (list(script.later), script.topics["wishes"]) == ([], "After that, add violet.")


def test_it_is_said_at_first_if_no_call_needs_it():
    script = settled_script(entry("Also, be quick.", CANCEL, NOTE), {"cancel", "note"})
    assert script.opening == "I want to cancel #W1. Also, be quick."


@pytest.mark.parametrize(
    ("policy", "consent", "identity"),
    [
        ("Obtain explicit confirmation before any change.", True, False),
        ("Authenticate the user's identity by email.", False, True),
        ("Answer in one sentence. Confirmations are sent by mail.", False, False),
    ],
)
def test_a_policy_is_read_for_consent_and_identity(policy: str, consent: bool, identity: bool):
    assert (wants_consent(policy), wants_identity(policy)) == (consent, identity)
