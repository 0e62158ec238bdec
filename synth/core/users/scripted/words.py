"""The words of the scripted user beside its answers; one of each is drawn."""

from __future__ import annotations

NOTHING_TO_ADD = (
    "That is all I know.",
    "I have nothing to add to what I said.",
    "I can't tell you more than I already have.",
    "Sorry, I don't know anything about that.",
)
SAY_WHAT = (
    "Please tell me exactly what you are going to do first.",
    "Before I agree, spell out exactly what you will do.",
    "I need to hear precisely what will be done before I say yes.",
)
NOT_QUITE = (
    "Not quite. I said: {}.",
    "That is not right. To be clear: {}.",
    "No, please go by what I told you: {}.",
)
TOO_LONG = ("That is far too long for me to read. Please put it in a few sentences.",)
AS_ASKED = (
    "Just do what I asked for, please.",
    "Whatever fits what I asked for.",
    "Please go by my request.",
)
GO_AHEAD = (
    "Yes, please go ahead.",
    "Yes, please do.",
    "Yes, that is fine. Please go ahead.",
)
THAT_IS_RIGHT = (
    "Yes, that's right.",
    "Yes, that is correct.",
    "Yes, exactly.",
)
NO_THANKS = (
    "No, thank you.",
    "No, thanks, I only want what I asked for.",
    "No, nothing else, thank you.",
)
THE_REST = (
    "Thank you. And the rest of what I asked for?",
    "All right. There is still more that I asked for.",
    "Okay. That was not all that I wanted, please go on with the rest.",
)
GO_ON = (
    "Okay, thank you.",
    "All right.",
    "Okay, thanks.",
)
