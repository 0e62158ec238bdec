"""What a turn of the agent does, classified by the model that plays the user.

The answer is the call of one tool, or the same JSON object as text; anything else is nonsense. The
model gets the names of the user's topics and of the tools that its conditions cover, no fact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from synth.core.language.json_answers import json_object
from synth.core.types.reply import Act, ActKind
from synth.core.users.scripted.topics import plain_name
from synth.model import Completion
from synth.user import UserRole

ACTS_TOOL = "classify_message"
OTHER = "other"
"""The tool of a proposal that no condition is about."""

_SYSTEM = """\
You read the last message that an assistant wrote to a person, and say what it does. You do not \
answer it. Call {tool} once; if you have no tools, answer with its arguments as one JSON object.

A message may do several things:
- ask: it wants to be told something. `topics`: those of the list that it asks for, none if it \
asks for something else. A thing that it only mentions or repeats is not asked for.
- propose: it asks for leave to do something, and says what. `tools`: the tools that do this, \
"{other}" for another act. A list of facts, a denial or "I only read out" is not a proposal.
- check: it asks whether something is right, done or enough, and proposes nothing.
- refuse: it says that something is not possible, or offers something else in its place.
- report: it says what has been done or found, or takes its leave; nothing more is to come.
- work: it says what it is about to look up, or greets.
An offer of further help at the end ("Anything else?") does nothing of its own.

Topics: {topics}
Tools: {tools}
"""
_ACTS = TypeAdapter(list[Act])


def instructions(role: UserRole) -> str:
    """Return the system message of a classification."""
    topics = (
        f"{name} ({', '.join((plain_name(name), *topic.words))})"
        for name, topic in role.knows.items()
    )
    return _SYSTEM.format(
        tool=ACTS_TOOL,
        other=OTHER,
        topics="; ".join(topics) or "none",
        tools=", ".join(_tools(role)),
    )


def acts_tool(role: UserRole) -> Mapping[str, Any]:
    """Return the tool whose arguments are the acts, with the names that this role has."""
    topics: dict[str, Any] = {"type": "string"}
    if role.knows:
        topics["enum"] = list(role.knows)
    act = {
        "type": "object",
        "properties": {
            "kind": {"type": "string", "enum": list(get_args(ActKind))},
            "topics": {"type": "array", "items": topics},
            "tools": {"type": "array", "items": {"type": "string", "enum": _tools(role)}},
        },
        "required": ["kind", "topics", "tools"],
        "additionalProperties": False,
    }
    return {
        "type": "function",
        "function": {
            "name": ACTS_TOOL,
            "description": "State what the assistant's last message does.",
            "parameters": {
                "type": "object",
                "properties": {"acts": {"type": "array", "items": act}},
                "required": ["acts"],
                "additionalProperties": False,
            },
        },
    }


def acts_in(completion: Completion, role: UserRole) -> Sequence[Act] | None:
    """Return the acts that a classification states; None if it is nonsense."""
    calls = [call for call in completion.tool_calls if call.name == ACTS_TOOL]
    answer = json_object(calls[0].arguments if calls else completion.content)
    try:
        acts = _ACTS.validate_python((answer or {}).get("acts"))
    except ValidationError:
        return None
    tools = set(_tools(role))
    known = all(role.knows.keys() >= set(act.topics) and tools >= set(act.tools) for act in acts)
    return acts if acts and known else None


def _tools(role: UserRole) -> list[str]:
    covered = (tool for consent in role.consents for tool in consent.covers)
    return [*dict.fromkeys(covered), OTHER]
