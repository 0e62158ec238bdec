"""The expert's turns state their acts, and the user answers those: the text is rendering."""

from __future__ import annotations

import asyncio

import pytest

from synth.core.models.emission import completion_event, completion_of
from synth.core.models.scripted.expert import ScriptedModel
from synth.core.types.events import event_from_json
from synth.core.types.reply import Act
from synth.core.types.steps import AskStep, CallStep, ConfirmStep, FollowUpStep, ReplyStep
from synth.core.users.scripted.user import NOTHING_TO_ADD, THAT_IS_RIGHT, ScriptedUser
from synth.model import Completion
from synth.task import Task
from synth.user import Consent, FollowUp, Topic, UserRole, UserTurn

ROLE = UserRole(
    "Cancel LP-1 and send LP-2 to Jena.",
    {"reason": Topic("Bought by mistake."), "street": Topic("Hafenstr. 21.")},
    Consent(["LP-1"], "Yes, cancel it.", act=["cancel"], covers=["cancel_order"]),
    others=[
        Consent(
            ["LP-2", "Jena"],
            "Yes, send it there.",
            covers=["change_address"],
            never=["Bonn"],
            forms={"Jena": ["07743"]},
        )
    ],
    then=[FollowUp("done", "And what does it cost?")],
)


def answer(text: str, *acts: Act, role: UserRole = ROLE) -> UserTurn:
    return asyncio.run(ScriptedUser().start(role, 5).answer(text, acts))


@pytest.mark.parametrize("text", ["Why?", "Warum denn?", "...", "It is done."])
def test_topics_asked_for_are_told_in_whatever_words(text: str):
    assert answer(text, Act("ask", topics=["reason"])).told == ("reason",)


def test_a_topic_that_the_user_does_not_know_is_said_to_be_unknown():
    assert answer("Why?", Act("ask", topics=["colour"])).text in NOTHING_TO_ADD


@pytest.mark.parametrize(
    ("text", "tools", "covers"),
    [
        ("LP-1: storniere ich.", ["cancel_order"], ("cancel_order",)),
        ("LP-1, LP-2 and Jena", ["cancel_order"], ("cancel_order",)),
        ("LP-1, LP-2 and Jena", [], ("cancel_order", "change_address")),
        ("LP-2 to 07743", ["change_address"], ("change_address",)),
        ("LP-1 or LP-2 to Jena: which is it?", ["change_address"], ("change_address",)),
        ("LP-3?", ["cancel_order"], None),
        ("LP-1", ["change_address"], None),
        ("LP-2 to Jena", ["issue_refund"], None),
        ("LP-2 to Jena, by Bonn", ["change_address"], None),
    ],
)
def test_consent_goes_to_the_tools_proposed_and_to_the_facts_named(
    text: str, tools: list[str], covers: tuple[str, ...] | None
):
    turn = answer(text, Act("propose", tools=tools))
    assert (turn.covers if turn.consents else None) == covers
    assert turn.corrects is (covers is None)
    assert not turn.ends


@pytest.mark.parametrize(
    ("text", "agrees"),
    [
        ("Geboren 1980-05-03?", True),
        ("Geboren 1980-05-03, in Jena seit 2020-01-01?", True),
        ("Geboren 1980-05-03 / 1900-01-01?", False),
        ("For Ada, born 1980-05-03 or 1900-01-01?", False),
    ],
)
def test_a_second_value_beside_a_fact_gets_no_yes(text: str, agrees: bool):
    role = UserRole("Book Ada in.", consent=Consent(["1980-05-03"], covers=["book"]))
    turn = answer(text, Act("propose", tools=["book"]), role=role)
    assert (turn.consents, turn.corrects) == (agrees, not agrees)


@pytest.mark.parametrize(
    ("text", "agrees"),
    [
        ("Our rules don't allow a transfer, only a card. Shall I send the 189.00 there?", True),
        ("It is cheap, so it couldn't be returned. Shall I send 189.00 to the card?", True),
        ("I would transfer 189.00 from the card. Shall I?", False),
    ],
)
def test_an_act_that_is_denied_is_not_proposed(text: str, agrees: bool):
    consent = Consent(["189", "card"], act=["send", "exchange"])
    turn = answer(text, Act("propose"), role=UserRole("Refund it.", consent=consent))
    assert turn.consents is agrees


def test_what_is_asked_beside_a_proposal_is_told_with_the_yes():
    turn = answer("LP-1", Act("ask", topics=["street"]), Act("propose", tools=["cancel_order"]))
    assert turn.text == "Hafenstr. 21. Yes, cancel it."
    assert turn.consents


def test_a_report_brings_the_follow_up_or_the_end_and_a_check_neither():
    assert answer("Shall I?", Act("report")).then == 0
    assert answer("Shall I?", Act("report"), role=UserRole("Hi.")).ends
    assert answer("Done.", Act("check")).text in THAT_IS_RIGHT


def test_the_expert_states_what_it_asks_proposes_and_reports():
    gold = [
        AskStep(["reason"], "Why?"),
        ConfirmStep("LP-1?"),
        CallStep("cancel_order"),
        CallStep("issue_refund"),
        ConfirmStep("LP-2 to Jena?"),
        ReplyStep("Both are done."),
        FollowUpStep(0, "done"),
        ReplyStep("It is free."),
    ]
    task = Task("t", "f", "e", "Hi.", gold)
    playing = ScriptedModel().start(task, (), 1)
    messages: list[dict[str, object]] = [{"role": "user", "content": "Hi."}]
    said: list[Completion] = []
    for answer_role in ("user", "user", "tool", "tool", "user", "user", "user"):
        said.append(playing.next_turn(messages))
        messages += [{"role": "assistant"}, {"role": answer_role, "content": "{}"}]
    assert [turn.acts for turn in said] == [
        (Act("ask", topics=("reason",)),),
        (Act("propose", tools=("cancel_order", "issue_refund")),),
        (),
        (),
        (Act("propose"),),
        (Act("report"),),
        (Act("report"),),
    ]


def test_acts_are_recorded_with_the_completion_and_come_back():
    turn = Completion("Why?", acts=(Act("ask", topics=("reason",)), Act("check")))
    raw = completion_event(turn).to_json()
    assert raw["acts"] == [{"kind": "ask", "topics": ["reason"]}, {"kind": "check"}]
    assert "acts" not in completion_event(Completion("Why?")).to_json()
    acts = completion_of(event_from_json(raw)).acts  # type: ignore[arg-type]
    assert [(act.kind, list(act.topics)) for act in acts] == [("ask", ["reason"]), ("check", [])]
