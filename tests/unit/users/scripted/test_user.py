"""What the scripted user makes of what agents really write: told, agreed, corrected, not known, or
over.
"""

from __future__ import annotations

import asyncio
import dataclasses

import pytest

from synth.core.types.reply import Act
from synth.core.users.scripted.user import (
    AS_ASKED,
    GO_AHEAD,
    GO_ON,
    LONG_PATIENCE,
    NO_THANKS,
    NOTHING_TO_ADD,
    PATIENCE,
    SAY_WHAT,
    THAT_IS_RIGHT,
    ScriptedUser,
)
from synth.user import Consent, FollowUp, Topic, UserRole, UserTurn

WARD = UserRole(
    opening="Start Anna Meier on prednisone, 5 mg daily.",
    knows={
        "dob": Topic("Born 1980-05-03."),
        "indication": Topic("It is for her asthma.", words=["what for", "diagnosis"]),
        "email": Topic("meier.a7@example.com"),
    },
    consent=Consent(["prednisone", "5 mg", "1980-05-03"], "Yes, do."),
)
DESK = UserRole(
    opening="I'd like to swap my desk lamp for a blue one, I can pay up to 15.00 more.",
    knows={
        "order": Topic("The one from 2026-02-03.", words=["which one", "when did you buy"]),
        "order_number": Topic("It says SO-10442."),
        "payment_method": Topic("Back to my Visa card, please.", words=["refund", "card"]),
        "reason": Topic("Simply the wrong color."),
    },
    consent=Consent(["desk lamp", "blue", "$12.50"], "Go ahead."),
)

AGREE, CORRECT, NOTHING, END, TELL, GOES_ON = (
    *("agree", "correct", "nothing", "end", "tell"),
    "goes on",
)
ALL = "Prednisone 5 mg daily for Anna Meier, born 1980-05-03"

SUMS = (
    "I'd swap the desk lamp of order SO-10442 (of 2026-02-03, delivered 2026-02-08) for the blue"
    " one. "
    "It cost $37.50, the blue one costs $50.00, so the difference is **$12.50**. Shall I go ahead?"
)

WARD_TURNS: list[tuple[str, list[str], str]] = [
    # Questions about what the user knows
    ("Could you tell me the dob?", ["dob"], TELL),
    ("Before I proceed, could you confirm the patient's date of birth?", ["dob"], TELL),
    ("What is Anna Meier's **date of birth**?", ["dob"], TELL),
    ("When was she born?", ["dob"], TELL),
    ("I have to ask for her date of birth.", ["dob"], TELL),
    ("Then I must ask you about the diagnosis.", ["indication"], TELL),
    ("It is on its way; once it is there you can ask for a diagnosis.", [], END),
    ("Date of birth, please?", ["dob"], TELL),
    (("There are two patients of that name. Please provide her birthdate so I can pick the right chart."), ["dob"], TELL),
    ("I found two Anna Meiers. I need the date of birth to continue.", ["dob"], TELL),
    (("Which Anna Meier do you mean: the one born 1980-05-03 or the one born 1975-01-01?"), ["dob"], TELL),
    ("Is she the one born on May 3rd, 1980?", ["dob"], TELL),
    ("Her date of birth is 1975-01-01, correct?", ["dob"], TELL),
    ("I have 1979-05-03 as her date of birth. Is that right?", ["dob"], TELL),
    ("What is it for? I mean the diagnosis.", ["indication"], TELL),
    ("May I have your e-mail address and her DOB?", ["dob", "email"], TELL),
    (("To help you I need:\n\n1. **Date of birth**\n2. **Diagnosis**\n\nThank you!"), ["dob", "indication"], TELL),
    (("A few questions:\n* What is the date of birth?\n* What's the diagnosis?"), ["dob", "indication"], TELL),
    ("Please let me know her date of birth", ["dob"], TELL),
    (("There are two. Can you help me find out which one it is? A birth date would help."), ["dob"], TELL),
    ("What is it for, asthma or something else? The diagnosis, I mean.", ["indication"], TELL),
    ("Could you remind me - what was the date of birth again?", ["dob"], TELL),
    # Proposals that restate everything
    (f"Shall I start {ALL}?", [], AGREE),
    (f"I will prescribe {ALL}. May I proceed?", [], AGREE),
    (("Just to confirm: **prednisone 5mg** once daily for Anna Meier (DOB: May 3, 1980). Is that correct?"), [], AGREE),
    (("Please confirm the following:\n- Patient: Anna Meier\n- DOB: 03.05.1980\n- Drug: Prednisone\n- Dose: 5.0 mg"), [], AGREE),
    (("Patient: Anna Meier, 3 May 1980\nOrder: PREDNISONE 5 milligrams daily\n\nDo you want me to place this order?"), [], AGREE),
    (f"Here is what I am about to do: {ALL}. Please reply \"yes\" to confirm.", [], AGREE),
    (f"{ALL}. Let me know if you'd like me to go ahead.", [], AGREE),
    (f"{ALL}; no allergies on file. Ready?", [], AGREE),
    (f"I won't touch her other orders. I'd start {ALL}, yes?", [], AGREE),
    ((f"She is one of our patients, and this is one of 2 orders: {ALL}. Shall I go ahead?"), [], AGREE),
    (f"{ALL} (at most 20 mg as a daily maximum). OK to proceed?", [], AGREE),
    (f"Her visit of 2026-01-04 is on the chart. Shall I order {ALL}?", [], AGREE),
    (f"I can order {ALL}. Shall I do that, or would you like something else?", [], AGREE),
    (f"May I go ahead with {ALL}, and what is your e-mail address?", ["email"], AGREE),
    (f"What is the diagnosis? And shall I start {ALL}?", ["indication"], AGREE),
    # Proposals that do not
    ("Shall I proceed?", [], CORRECT),
    ("Shall I start prednisone 5 mg for Anna Meier?", [], CORRECT),
    ("Shall I start prednisone for Anna Meier, born 1980-05-03?", [], CORRECT),
    ("Shall I start prednisolone 5 mg for Anna Meier, born 1980-05-03?", [], CORRECT),
    ("Shall I start prednisone 5 mg for Anna Meier, born 1975-01-01?", ["dob"], CORRECT),
    ("Shall I order prednisone 15 mg for Anna Meier, 1980-05-03?", [], CORRECT),
    ("Prednisone 5 mg or 10 mg for Anna Meier, 1980-05-03?", [], CORRECT),
    ("Prednisone 10 mg, 5 mg, 2.5 mg; Anna Meier, 1980-05-03. Shall I go ahead?", [], CORRECT),
    ("Prednisone 5 mg, or 20 mg? Anna Meier, 1980-05-03. Shall I go ahead?", [], CORRECT),
    (("Prednisone 5 mg for Anna Meier, born 1980-05-03 or 1975-01-01. Shall I go ahead?"), [], CORRECT),
    (("I found\n- Anna Meier 1980-05-03\n- Anna Meier 1975-01-01\nand would order prednisone 5 mg. Shall I?"), [], CORRECT),
    ("Prednisone or ibuprofen 5 mg for Anna Meier, 1980-05-03. Shall I?", [], CORRECT),
    ("I will NOT give prednisone 5 mg to Anna Meier, 1980-05-03. OK?", [], CORRECT),
    (("I can't order prednisone 5 mg for Anna Meier (1980-05-03). Shall I close the request?"), [], CORRECT),
    ("Prednisone 5 to 10 mg for Anna Meier, born 1980-05-03. Shall I go ahead?", [], CORRECT),
    ("Prednisone 2.5-5 mg for Anna Meier, born 1980-05-03. Shall I go ahead?", [], CORRECT),
    (f"I'd give one of ibuprofen, {ALL}. Shall I go ahead?", [], CORRECT),
    (f"It will be one of the following. {ALL}; ibuprofen. Shall I go ahead?", [], CORRECT),
    (f"{ALL}. Which one of these would you like? Shall I go ahead?", [], CORRECT),
    ("Would you like me to send a copy to your email?", [], CORRECT),
    # Facts without an act, and words that say that nothing will be done
    (f"{ALL}?", [], CORRECT),
    (f"{ALL}. Is that right?", [], CORRECT),
    (f"I will not change anything for now, I only read out: start {ALL}. Right?", [], CORRECT),
    (f"For now I change nothing. The order would start {ALL}. Correct?", [], CORRECT),
    # Questions that are no proposals although they restate everything
    (f"Which pharmacy should I use for {ALL}?", [], NOTHING),
    (f"For {ALL}: what is the indication?", ["indication"], TELL),
    (f"Has Anna been on this before? {ALL} was last given when?", [], NOTHING),
    # Nothing that the user knows
    ("What does she weigh?", [], NOTHING),
    ("Please tell me everything you know.", ["dob", "indication", "email"], TELL),
    ("Does she have any allergies?", [], NOTHING),
    # Nothing asked
    ("Prednisone 5 mg has been started for Anna Meier, born 1980-05-03.", [], END),
    ("Done. Is there anything else I can help you with?", [], END),
    (("I can't order prednisone because of her diabetes. Please let me know if you have any other questions!"), [], END),
    ("I can't find an order SO-99999. Could you check the number?", [], CORRECT),
    ("I cannot do that myself. I'll get back to you once I know more.", [], END),
    (("All set! Feel free to reach out if you need anything. What else can I do for you today?"), [], END),
    ("Noted. Do you have any further questions about the order?", [], END),
    ("See https://example.com/?patient=1 for the chart.", [], END),
    ("One moment, I will look up her date of birth.", [], GOES_ON),
    ("Hello! How can I help you today?", [], GOES_ON),
    ("Thank you for your request. I understand that you want to start a drug.", [], GOES_ON),
    ("I found Anna Meier's chart. Next I am going to look at the formulary.", [], GOES_ON),
    ("Could you share the details?", ["dob", "indication", "email"], TELL),
    ("What else do you need from me?", ["dob", "indication", "email"], TELL),
    ("Is there anything else I should know?", ["dob", "indication", "email"], TELL),
    ("", [], END),
]  # fmt: skip

DESK_TURNS: list[tuple[str, list[str], str]] = [
    ("Which order is it?", ["order"], TELL),
    ("Could you give me the order number?", ["order_number"], TELL),
    (("When did you buy it, and which card should the difference go on?"), ["order", "payment_method"], TELL),
    ("Why would you like to exchange it?", ["reason"], TELL),
    (("Please provide:\n1) your order number\n2) the reason for the exchange\n"), ["order_number", "reason"], TELL),
    ("Exchange the desk lamp in your order for the blue desk lamp, $12.50 more?", [], AGREE),
    (SUMS, [], AGREE),
    (("Please confirm that I should exchange the desk lamp in your order for the blue one at USD 12.50 more."), [], AGREE),
    ("Swap desk lamp -> blue, 12.50 dollars on your Visa. Does that work for you?", [], AGREE),
    ("Desk lamp -> blue, 12.50 dollars on your Visa. Does that work for you?", [], CORRECT),
    ("Desk lamp, blue: $12.50 or 14.00. Shall I go ahead?", [], CORRECT),
    ("Desk lamp, blue, $12.50 to $14.00 more. Shall I go ahead?", [], CORRECT),
    ("Desk lamp, blue: $12.50 or $14.00. Shall I go ahead?", [], CORRECT),
    (("The difference is $12.50 ... the difference is $13.00. Blue desk lamp. Shall I go ahead?"), [], CORRECT),
    ("Desk lamp for a blue one, $112.50 more. Shall I go ahead?", [], CORRECT),
    ("Desk lamp for a bluegreen one, $12.50 more. Shall I go ahead?", [], CORRECT),
    (("There is a blue desk lamp for $12.50 more and a green one. Would you prefer the blue or the green one?"), [], CORRECT),
    ("Shall I cancel your order?", [], CORRECT),
    ("Should I use your latest order or an older one?", ["order"], CORRECT),
    ("So a blue desk lamp instead of yours, for $12.50 more. Swap them?", [], AGREE),
    ("The blue desk lamp is on its way, and $12.50 was charged. Have a great day!", [], END),
]  # fmt: skip

CASES = [(WARD, *each) for each in WARD_TURNS] + [(DESK, *each) for each in DESK_TURNS]


def hear(role: UserRole, *texts: str, seed: int = 3) -> list[UserTurn]:
    async def talk() -> list[UserTurn]:
        user = ScriptedUser().start(role, seed)
        return [await user.reply(text) for text in texts]

    return asyncio.run(talk())


def kind(turn: UserTurn) -> str:
    """What a turn did beside telling."""
    if turn.ends:
        return END
    if turn.consents:
        return AGREE
    if any(turn.text == each for each in NOTHING_TO_ADD):
        return NOTHING
    if turn.text in GO_ON or turn.text in AS_ASKED:
        return GOES_ON
    corrects = (
        any(each in turn.text for each in SAY_WHAT) or "5 mg." in turn.text or "lamp" in turn.text
    )
    return CORRECT if corrects or ": " in turn.text else TELL


@pytest.mark.parametrize(
    ("role", "text", "told", "what"), CASES, ids=[text[:60] for _, text, *_ in CASES]
)
def test_a_turn(role: UserRole, text: str, told: list[str], what: str):
    (turn,) = hear(role, text)
    assert (list(turn.told), kind(turn)) == (told, what), turn.text
    assert all(role.knows[name].says in turn.text for name in told)
    assert not any(
        topic.says in turn.text for name, topic in role.knows.items() if name not in told
    )
    assert bool(turn.text) != turn.ends


def test_a_correction_says_only_what_was_said_before():
    """The date of birth is a mention too; as long as nobody has spoken of it, no correction gives
    it away.
    """
    wrong = "Shall I start prednisone 10 mg for Anna Meier, 1975-01-01?"
    (before,) = hear(WARD, wrong)
    assert "5 mg" in before.text
    assert "1980" not in before.text
    assert any(each in before.text for each in SAY_WHAT)
    *_, after = hear(WARD, "What is her date of birth?", wrong)
    assert "5 mg, 1980-05-03" in after.text
    assert after.told == ()


def test_a_value_that_the_user_named_is_no_rival():
    role = dataclasses.replace(
        WARD, opening="Anna Meier takes 10 mg of prednisone; please reduce it to 5 mg."
    )
    proposal = "I'd reduce prednisone from 10 mg to 5 mg for Anna Meier, born 1980-05-03. OK?"
    assert hear(role, proposal)[0].consents
    assert not hear(WARD, proposal)[0].consents


def test_what_was_told_is_told_again():
    first, second = hear(WARD, "Date of birth?", "Sorry, what was the date of birth?")
    assert first == second
    assert first.told == ("dob",)


def test_a_user_who_declines_says_so_where_another_would_agree():
    role = dataclasses.replace(
        WARD, consent=Consent(["prednisone", "5 mg"], declines="No, leave it.")
    )
    first, second = hear(role, "Shall I start prednisone 10 mg?", "Shall I start prednisone 5 mg?")
    assert (first.consents, first.declines) == (False, False)
    assert (second.text, second.consents, second.declines, second.ends) == (
        "No, leave it.",
        False,
        True,
        False,
    )


REQUEST = UserRole("Please record a heart rate of 72 bpm for Ada Byron.")
"""A user who knows nothing beyond the request, and binds no consent to it."""


@pytest.mark.parametrize(
    "text",
    [
        "Shall I record 72 bpm for Ada Byron?",
        "I will now record the heart rate. Please confirm.",
        "I have recorded 72 bpm. Is that right?",
        "I'd note 72 bpm in her chart. OK?",
        "Reply yes to go on.",
    ],
)
def test_without_a_condition_a_proposal_gets_a_plain_yes(text: str):
    """Models ask for leave, and read back what they wrote, where no rule demands it."""
    (turn,) = hear(REQUEST, text)
    assert turn.text in (*GO_AHEAD, *THAT_IS_RIGHT)
    assert turn.consents
    assert not turn.ends


def test_without_a_condition_another_value_is_corrected_all_the_same():
    (turn,) = hear(REQUEST, "Shall I record 80 bpm for Ada Byron?")
    assert not turn.consents
    assert "72 bpm" in turn.text


@pytest.mark.parametrize(
    "text",
    [
        "Let me look up the patient first.",
        "I'm going to record a heart rate of 72 bpm for Ada Byron.",
        "I have found Ada Byron (id 12).",
        "I found the patient. Her id is 12 and the chart is open. Recording now.",
        "Step 1: find the patient.",
        "Here is my plan:\n1. Find the patient\n2. Record the heart rate",
        "Calling find_patients with name=Ada.",
        "On it.",
        "Sure! I'd be happy to help you with that.",
        "I'm sorry to hear that.",
        "What is the patient's name?",
        "Could you share the details?",
        "What else do you need from me?",
    ],
)
def test_talking_before_the_work_ends_no_conversation(text: str):
    for times in (1, 3):
        turn = hear(REQUEST, *[text] * times)[-1]
        assert turn.text
        assert not turn.ends


@pytest.mark.parametrize(
    "text",
    ["Done.", "Recorded 72 bpm for Ada Byron.", "I can't do that.", "Goodbye!", "Anything else?"],
)
def test_a_settled_matter_ends_the_conversation(text: str):
    assert hear(REQUEST, text)[0].ends


def test_announcements_alone_end_it_at_last():
    turns = hear(REQUEST, *["Let me check."] * 40)
    assert [turn.ends for turn in turns[:LONG_PATIENCE]] == [False] * LONG_PATIENCE
    assert turns[LONG_PATIENCE].ends


def test_without_a_condition_a_proposal_is_a_question_too():
    """Nobody could ask otherwise for what the user would rather have."""
    role = UserRole(
        "Book Anna Meier a follow-up.",
        {"existing": Topic("Close the old one.", words=["keep", "replace"])},
    )
    for text in (
        "She has one already. Should I replace it?",
        "Would you like me to keep the open one or close it?",
        "Shall I close the existing one and book a new one?",
    ):
        assert hear(role, text)[0].told == ("existing",)


def test_patience_ends_after_some_turns_that_bring_nothing():
    some = PATIENCE
    turns = hear(WARD, *["What does she weigh?"] * (some + 1))
    assert [each.ends for each in turns] == [False] * some + [True]
    turns = hear(WARD, *["Shall I?"] * some, "Date of birth?", *["Shall I?"] * (some + 1))
    assert [each.ends for each in turns] == [False] * (2 * some + 1) + [True]


def test_the_same_conversation_comes_out_the_same_and_another_seed_may_word_it_otherwise():
    texts = ["What does she weigh?", "Shall I proceed?", "Date of birth?"]
    assert hear(WARD, *texts) == hear(WARD, *texts)
    assert len({hear(WARD, *texts, seed=seed)[0].text for seed in range(12)}) == len(NOTHING_TO_ADD)


def test_overlapping_words_mean_the_longer_topic():
    """ "order number" is not a question about "order"."""
    assert hear(DESK, "What is the order number?")[0].told == ("order_number",)
    assert hear(DESK, "What is the order number, and which order is it?")[0].told == (
        "order",
        "order_number",
    )


def test_other_languages_are_asked_by_mark_and_word():
    role = UserRole(
        "Ein Rezept bitte.",
        {"geburtstag": Topic("Der 3.5.1980.")},
        Consent(["Aspirin", "5 mg"], "Ja."),
    )
    assert hear(role, "Wie ist der Geburtstag?")[0].told == ("geburtstag",)
    assert not hear(role, "Aspirin 5mg?")[0].consents
    proposed = asyncio.run(
        ScriptedUser().start(role, 1).answer("Aspirin 5mg: soll ich?", [Act("propose")])
    )
    assert proposed.consents
    assert hear(role, "Aspirin wurde verordnet.")[0].ends


def test_a_question_word_in_a_statement_asks_for_nothing():
    """Else whoever forges the user's voice beside an idle question is told what it should have
    asked.
    """
    role = UserRole(
        opening="It is about James.",
        knows={"dob": Topic("Born 1983-11-02.", words=["who", "which"])},
    )
    forged = "I am who you think I am, the one which you mean. Shall I go on?"
    assert not asyncio.run(ScriptedUser().start(role, 1).reply(forged)).told
    assert asyncio.run(ScriptedUser().start(role, 1).reply("There are two. Which is it?")).told == (
        "dob",
    )
    assert asyncio.run(
        ScriptedUser().start(role, 1).reply("I don't know which you mean.")
    ).told == ("dob",)


@pytest.mark.parametrize(
    ("text", "agrees"),
    [
        (f"Shall I start {ALL}?", True),
        (f"I'd order this: {ALL}. OK?", True),
        (f"{ALL}?", False),
        (f"{ALL}. Shall I go ahead?", True),
        (f"Shall I stop {ALL}?", False),
        (f"I will cancel {ALL}. Is that all right?", False),
        (f"Would you like me to discontinue {ALL}?", False),
        (f"I will not start it, I will stop it: {ALL}. Shall I go ahead?", False),
    ],
)
def test_consent_is_to_an_act(text: str, agrees: bool):
    """Who asks for a yes to one thing has none for another."""
    assert WARD.consent is not None
    role = dataclasses.replace(
        WARD, consent=dataclasses.replace(WARD.consent, act=["start", "order", "prescribe"])
    )
    (turn,) = hear(role, text)
    assert turn.consents is agrees
    assert turn.text


LATER = UserRole(
    opening="Refund my kettle to my new card.",
    then=[
        FollowUp("refused", "Then send the money to the old card."),
        FollowUp("done", "And what is the delivery fee?"),
    ],
)


@pytest.mark.parametrize(
    ("words", "brought"),
    [
        ("I'm sorry, I cannot refund to a new card.", [0, 1]),
        ("That is not possible, unfortunately. Would you like something else instead?", [0, 1]),
        ("Would you like an alternative?", [0, 1]),
        ("Shall I offer you another option?", [0, 1]),
        ("A new card does not work here. Can I suggest something else?", [0, 1]),
        ("Should I go ahead with the refund?", []),
        ("Your kettle is refunded to the new card.", [1]),
        ("Let me look that up.", []),
    ],
)
def test_an_alternative_is_brought_once_something_is_refused(words: str, brought: list[int]):
    conversation = ScriptedUser().start(LATER, 7)
    turns = [conversation.decide(text) for text in (words, "The refund is booked.")]
    found = [turn.then for turn in turns if turn.then is not None]
    assert found == (brought or [1])


@pytest.mark.parametrize(
    ("opening", "agrees"),
    [
        ("Refund my kettle to my new card.", False),
        ("My kettle is gone. Please find me something similar.", True),
    ],
)
def test_nobody_wants_what_nobody_asked_for(opening: str, agrees: bool):
    """An offer in the place of the wish is declined, unless it is the wish."""
    (turn,) = hear(UserRole(opening=opening), "Would you like something similar?")
    assert turn.consents is agrees
    assert (turn.text in NO_THANKS) is not agrees
    assert not turn.ends
