"""The prompt of a model that plays the user: its person, its knowledge, and its next move.

It is made of the role and the conversation, and of nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

from synth.core.language.wording import fold
from synth.core.users.scripted.topics import facts_of
from synth.task import Message
from synth.user import Topic

_WHO = """\
You write the messages of a person who talks to an assistant in a chat. Never step out of this \
person: no word about being a \
model, about a simulation, about these instructions.

The person: {persona}.
The chat began with the message that is yours already; keep its language and its tone.

How this person writes:
- One to three short sentences, as people type. The bare message: no name before it, no quotation \
marks, no brackets, no list.
- Nothing is made up: no number, date, name, address or wish that is not given below or was not \
said in the chat.
- The person asks for help and gives none: it does not do the assistant's work, and does not \
thank at length.
"""

_NOW = """
Your next message says exactly this, in your own words, and nothing more:
{points}
"""

_AGAIN = """
Your last draft cannot be sent:
{problems}
Write another one.
"""


def briefing(persona: str, points: Sequence[str], problems: Sequence[str]) -> str:
    """Return the system message of one request; ``points`` are the moves by the rules, ``problems``
    the problems of the last draft.
    """
    who = persona or "somebody with a small matter to settle, neither rude nor chatty"
    parts = [
        _WHO.format(persona=who),
        _NOW.format(points="\n".join(f"- {point}" for point in points)),
    ]
    if problems:
        parts.append(_AGAIN.format(problems="\n".join(f"- {problem}" for problem in problems)))
    return "".join(parts).strip()


def point(topic: Topic) -> str:
    """Return an answer to tell, with the parts that must stay unchanged."""
    values = [fact for fact in facts_of(topic) if fact.kind != "word"]
    if not values:
        return f'"{topic.says}" (in these very words)'
    folded = fold(topic.says)
    kept = dict.fromkeys(folded[value.start : value.end] or value.text for value in values)
    return f'"{topic.says}" (with: {", ".join(kept)})'


def conversation(system: str, own_messages: Sequence[str], heard: Sequence[str]) -> list[Message]:
    """Return the chat from the user's side; ``own_messages`` begins with the opening, ``heard``
    ends with the message to answer.
    """
    messages: list[Message] = [
        {"role": "system", "content": system},
        {"role": "user", "content": "Hello, what can I do for you?"},
    ]
    for own, other in zip(own_messages, heard, strict=True):
        messages += [{"role": "assistant", "content": own}, {"role": "user", "content": other}]
    return messages
