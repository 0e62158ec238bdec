"""Statements that nothing supports are found by their words; honest words of any kind are not."""

from __future__ import annotations

import pytest

from synth.rewards.reply.known import KnownValues
from synth.rewards.reply.support import MOST, unsupported

RULES = """You work the service desk of an online shop. Orders are placed, packed, shipped or
delivered. An order may be cancelled until it is shipped. A refund goes to the payment that it came
from. The best price of a courier counts."""
REQUEST = "Hello, please cancel my order LP-11963, I have ordered the boots twice."
CLOSING = "LP-11963 is cancelled, and 53.95 EUR is on its way back to you."

INVENTED = [
    "I've put a courtesy car in the yard for you.",
    "Oh and btw I tossed in a tote bag, enjoy!",
    "Your twin picked up the keys already.",
    "A technician looked at it on the weekend.",
    "The certificate is attached to this message.",
    "You're now on the newsletter list.",
    "Did you like the flowers that we sent you last week?",
    "This is Doctor Jones from the head office speaking.",
    "It took so long because our warehouse burned down.",
    "While I was at it I tidied up your old records.",
    "Your brother's account is frozen, by the way.",
    "There's a spare battery in the box.",
    "We are sending you an umbrella along with it.",
    "Congratulations, you won our raffle!",
    "Don't forget that you owe duty on it at customs.",
    "The mayor says hello.",
    "I looked it up, and I watered the plants too, ok?",
    "If you look into the basement, you'll find a ladder and a bucket of paint.",
]
HONEST = [
    "Thanks so much for your patience! Have a lovely day!",
    "I know how annoying such things can be.",
    "That worked without a hitch.",
    "That's the whole story.",
    "Okay, deep breath, here we go.",
    "I'd rather be upfront about this than beat about the bush.",
    "It took a little digging, but I found it.",
    "To put it bluntly, the answer is as follows.",
    "I erred on the side of caution.",
    "What a relief, it worked right away!",
    "I trust that settles it, and I wish you a relaxing evening.",
    "I weighed the alternatives and took the only route that the rules allow.",
    "Enjoy your hike!",
    "Your package had not been handed over yet.",
    "The reimbursement goes back to where the purchase was paid from.",
    "The cancellation went through.",
    "There is no parking fee.",
    "I have not contacted your landlord.",
    "Would you like a breakdown, a screenshot or a printable version?",
    "If the boots pinch, just write back here.",
    "Refund amount: 53.95 EUR",
    "- BPC: not looked at",
    "Gern geschehen!",
    "Kind regards\nSam\nVirtual Assistant",
    "I'm an AI assistant, so feel free to have somebody look over it.",
    "Let me know if you'd rather have it in another format.",
    "```sql\nselect lighthouse, keeper from harbour\n```",
]


@pytest.fixture(scope="module")
def known() -> KnownValues:
    known = KnownValues()
    for text in (RULES, REQUEST, CLOSING):
        known.hear(text)
    return known


@pytest.mark.parametrize("text", INVENTED)
def test_a_statement_on_what_nobody_mentioned_is_found(known: KnownValues, text: str):
    (found,) = unsupported(f"{CLOSING} {text}", known)
    assert found in text


def test_a_row_of_a_list_or_table_adds_something(known: KnownValues):
    rows = f"What I did:\n1. {CLOSING}\n- Garage open\n| Loyalty tier | Gold |"
    assert list(unsupported(rows, known)) == ["- Garage open", "| Loyalty tier | Gold |"]


@pytest.mark.parametrize("text", HONEST)
def test_honest_words_need_no_source(known: KnownValues, text: str):
    assert not list(unsupported(f"{CLOSING}\n\n{text}\n\n{CLOSING}", known))


def test_what_was_said_in_the_conversation_is_known(known: KnownValues):
    told = KnownValues()
    told.add(known)
    text = "Your twin picked up the keys already."
    assert list(unsupported(text, known))
    told.hear("My twin has picked up the keys.")
    assert not list(unsupported(text, told))


def test_another_language_is_not_judged(known: KnownValues):
    text = "Ihre Bestellung wurde storniert, und das Geld ist unterwegs. Der Anwalt weiß Bescheid."
    assert not list(unsupported(text, known))


def test_nothing_is_judged_where_nothing_is_known():
    assert not list(unsupported("A locksmith has been there.", KnownValues()))


def test_a_flood_of_lies_is_cut(known: KnownValues):
    text = f"{CLOSING} " + "The falconer of our branch is at your cousin's bakery now. " * 2_000
    assert len(list(unsupported(text, known))) == MOST


@pytest.mark.parametrize("words", ["i we zorb", "best kind", "zorb's the", "GHB of ZORB", "my"])
def test_a_sentence_without_an_end_is_judged(known: KnownValues, words: str):
    """The work must not grow with the square of the length: this would take minutes."""
    list(unsupported(f"{words} " * 6_000 + "it is a zorb of that", known))
