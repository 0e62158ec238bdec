"""The prompt of a model that plays the user: its person, its knowledge, and its next move.

It is made of the role and the conversation, and of nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from synth.core.language.wording import fold
from synth.core.users.scripted.topics import facts_of, plain_name
from synth.task import Message
from synth.user import Topic, UserRole

Decider = Literal["rules", "model"]

END = "[END]"
"""Last line by which a model without tools ends the conversation. The agent never sees it."""

END_TOOL = "end_conversation"
TOOLS: Sequence[object] = (
    {
        "type": "function",
        "function": {
            "name": END_TOOL,
            "description": "Leave the conversation, when the assistant asks nothing more.",
            "parameters": {
                "type": "object",
                "properties": {
                    "reason": {"type": "string", "description": "Why it is over, in a few words."}
                },
                "required": ["reason"],
                "additionalProperties": False,
            },
        },
    },
)

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

_KNOWS = """
What the person knows. Each is told when the assistant asks for that very thing, all of it, and \
not one word of it before:
{topics}
To anything else that it is asked the person has no answer, and says so.
"""
_CONSENT = """
The person agrees to one thing only: a question in which the assistant itself says all of this, \
and says it rightly: {mentions}.{act}
Then the answer is a plain {answer} Where one of these is missing, wrong or left open, the person \
does not say yes: it says \
what is wrong, or asks what exactly is going to be done. It never says these things in the \
assistant's place.
"""
_ENDS = f"""
When the assistant asks nothing more, because it has finished or cannot help, call {END_TOOL}. If \
you have no tools, answer \
with the one line {END} instead. As long as it asks something, answer it.
"""
_AGAIN = """
Your last draft cannot be sent:
{problems}
Write another one.
"""


def briefing(
    role: UserRole, decider: Decider, points: Sequence[str], problems: Sequence[str]
) -> str:
    """Return the system message of one request; ``points`` are the moves by the rules, ``problems``
    the problems of the last draft.
    """
    parts = [
        _WHO.format(
            persona=role.persona
            or "somebody with a small matter to settle, neither rude nor chatty"
        )
    ]
    if decider == "rules":
        parts.append(_NOW.format(points="\n".join(f"- {point}" for point in points)))
    else:
        parts.append(
            _KNOWS.format(
                topics="\n".join(_topic(*topic) for topic in role.knows.items()) or "- nothing"
            )
        )
        parts.append(_consent(role))
        parts.append(_ENDS)
    if problems:
        parts.append(_AGAIN.format(problems="\n".join(f"- {problem}" for problem in problems)))
    return "".join(parts).strip()


def point(text: str, topic: Topic | None = None) -> str:
    """Return one thing to say, with the parts that must stay unchanged."""
    if topic is None:
        return f'"{text}"'
    values = [fact for fact in facts_of(topic) if fact.kind != "word"]
    if not values:
        return f'"{text}" (in these very words)'
    kept = ", ".join(
        dict.fromkeys(fold(text)[token.start : token.end] or token.text for token in values)
    )
    return f'"{text}" (with: {kept})'


def _topic(name: str, topic: Topic) -> str:
    return f"- {plain_name(name)}: {point(topic.says, topic)}"


def _consent(role: UserRole) -> str:
    consent = role.consent
    if consent is None:
        return ""
    if consent.declines is None:
        answer = f'yes, as in "{consent.says}"'
    else:
        answer = f'no, for the person has thought better of it, as in "{consent.declines}"'
    act = f" What will be done must be this: {' or '.join(consent.act)}." if consent.act else ""
    return _CONSENT.format(mentions="; ".join(consent.mentions), act=act, answer=answer)


def conversation(system: str, own_messages: Sequence[str], heard: Sequence[str]) -> list[Message]:
    """Return the chat from the user's side; ``said`` begins with the opening, ``heard`` ends with
    the message to answer.
    """
    messages: list[Message] = [
        {"role": "system", "content": system},
        {"role": "user", "content": "Hello, what can I do for you?"},
    ]
    for own, other in zip(own_messages, heard, strict=True):
        messages += [{"role": "assistant", "content": own}, {"role": "user", "content": other}]
    return messages
