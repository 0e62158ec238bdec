"""The simulated user: a model plays the user, bounded by rules.

A reward is meaningful only if the user told the topics it was asked for, agreed to a correct
proposal, and to nothing else. That must not depend on a model's prose, nor on a second model that
reads it. So the rules of :mod:`synth.core.users.scripted.user` apply to every turn:

1. The model classifies the agent's turn into acts. An answer that states no acts, ``DRAFTS`` times,
   ends the rollout unscored with the fault ``unheard``.
2. The rules decide the move: tell these topics, agree, decline, correct, end. A yes needs every
   fact of the condition in the agent's own text.
3. The model gets only the move (a fact that nobody asked for is not even in its prompt) and finds
   the words. A draft that does not make the move, or does more
   (:mod:`synth.ext.simulated_user.drafts`), is requested again, ``DRAFTS`` times in all; then the
   rules' own words are sent.

The model gets its role, its own messages, and the agent's messages to it: no tool call of the
agent, no result of one, gold or database is within its reach; the rules use the user's tools.
Drafts that were not sent are kept in ``discarded`` of the turn's event, with their problems. An
endpoint that cannot be asked is infrastructure (:class:`synth.errors.ModelError`), not a user's
fault.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from envs.types import ToolResult
from synth.core.foundation.hashing import derive_seed
from synth.core.language.json_answers import json_object
from synth.core.rewards.reply.sentences import visible
from synth.core.types.events import Usage
from synth.core.types.reply import Act, ActKind
from synth.core.users.scripted.topics import plain_name
from synth.core.users.scripted.user import LONGEST, ScriptedConversation
from synth.errors import ModelError, OperatorError
from synth.ext.simulated_user.briefing import briefing, conversation, point
from synth.ext.simulated_user.drafts import Ledger, Problem
from synth.model import Completion, Model
from synth.plugins import NoOptions, extension
from synth.task import Message, Task
from synth.user import User, UserConversation, UserRole, UserTurn

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
- work: it says what it is about to look up, or greets.{instruct}
An offer of further help at the end ("Anything else?") does nothing of its own.

Topics: {topics}
Tools: {tools}
"""
_INSTRUCT = """
- instruct: it asks the person to do something with one of the person's own tools. `tools`: the \
one, an act for each; `arguments`: what it says of its parameters. The person's own tools: \
{tools}"""
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
        instruct=_INSTRUCT.format(tools=json.dumps(role.tools)) if role.tools else "",
    )


def _acts_tool(role: UserRole) -> Mapping[str, Any]:
    """Return the tool whose arguments are the acts, with the names that this role has.

    The answer is the call of one tool, or the same JSON object as text; anything else is nonsense.
    The model gets the names of the user's topics and of the tools that its conditions cover, no
    fact.
    """
    topics: dict[str, Any] = {"type": "string"}
    if role.knows:
        topics["enum"] = list(role.knows)
    own = [tool["name"] for tool in role.tools]
    kinds = [kind for kind in get_args(ActKind) if own or kind != "instruct"]
    properties: dict[str, Any] = {
        "kind": {"type": "string", "enum": kinds},
        "topics": {"type": "array", "items": topics},
        "tools": {"type": "array", "items": {"type": "string", "enum": [*_tools(role), *own]}},
    }
    act = {
        "type": "object",
        "properties": properties | ({"arguments": {"type": "object"}} if own else {}),
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


def _acts_in(completion: Completion, role: UserRole) -> Sequence[Act] | None:
    """Return the acts that a classification states; None if it is nonsense."""
    calls = [call for call in completion.tool_calls if call.name == ACTS_TOOL]
    answer = json_object(calls[0].arguments if calls else completion.content)
    try:
        acts = _ACTS.validate_python((answer or {}).get("acts"))
    except ValidationError:
        return None
    tools = {*_tools(role), *(tool["name"] for tool in role.tools)}
    known = all(role.knows.keys() >= set(act.topics) and tools >= set(act.tools) for act in acts)
    return acts if acts and known else None


def _tools(role: UserRole) -> list[str]:
    return [*dict.fromkeys(tool for consent in role.consents for tool in consent.covers), OTHER]


DRAFTS = 3
"""Number of drafts of one turn."""

_UNHEARD = Problem("unheard", "It does not say what the assistant's message does.")
_NOBODYS = Task(id="", family="", env="", prompt="", gold=())
"""Task with which a model that plays the user is started: it gets no real one."""


class SimulatedUser(User):
    """Plays any role with one model; ``name`` is the model's."""

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self._model = model

    async def preflight(self) -> list[str]:
        try:
            return [f"the user's model: {warning}" for warning in await self._model.preflight()]
        except ModelError as error:
            raise _of_the_user(error) from None

    def start(self, role: UserRole, seed: int) -> _SimulatedConversation:
        return _SimulatedConversation(self._model, role, seed)

    async def aclose(self) -> None:
        await self._model.aclose()


@dataclass
class _Spent:
    """Cost of one turn so far, and the drafts that were not sent."""

    usage: Usage
    cost_usd: float | None
    discarded: list[Mapping[str, object]]

    def add(self, completion: Completion) -> None:
        self.usage += completion.usage
        unknown = self.cost_usd is None or completion.cost_usd is None
        self.cost_usd = None if unknown else (self.cost_usd or 0.0) + (completion.cost_usd or 0.0)


class _SimulatedConversation(UserConversation):
    """One rollout's user."""

    def __init__(self, model: Model, role: UserRole, seed: int) -> None:
        self._model = model
        self._seed = seed
        self._rules = ScriptedConversation(role, seed)
        self._ledger = Ledger(replace(role, knows=role.every_topic), said=[role.opening])

    async def reply(self, text: str) -> UserTurn:
        return await self.answer(text, ())

    async def answer(self, text: str, acts: Sequence[Act]) -> UserTurn:
        aloud = visible(text).strip()
        spent = _Spent(Usage(), 0.0, [])
        hears = bool(aloud) and not acts and len(aloud) <= LONGEST
        if hears and not (acts := await self._classified(aloud, spent)):
            return _paid(UserTurn(ends=True, fault="unheard"), spent)
        due = self._rules.decide(text, acts, heard=hears)
        self._ledger.heard.append(aloud[:LONGEST])
        if due.calls:
            return _paid(due, spent)
        if aloud and len(aloud) <= LONGEST and not due.ends:
            due = await self._worded(due, spent)
        return self._sent(_paid(due, spent))

    async def observe(self, results: Sequence[ToolResult]) -> UserTurn:
        spent = _Spent(Usage(), 0.0, [])
        return self._sent(_paid(await self._worded(self._rules.observed(results), spent), spent))

    def _sent(self, turn: UserTurn) -> UserTurn:
        """Record a turn that is sent."""
        self._rules.remember(turn)
        self._ledger.said.append(turn.text)
        self._ledger.told.update(turn.told)
        return turn

    async def _classified(self, heard: str, spent: _Spent) -> Sequence[Act]:
        """Return the acts of the agent's turn; none if the model only answers nonsense."""
        role = self._rules.role
        messages = conversation(instructions(role), self._ledger.said, [*self._ledger.heard, heard])
        for _ in range(DRAFTS):
            completion = await self._complete(messages, [_acts_tool(role)], "acts", spent)
            if acts := _acts_in(completion, role):
                return acts
            spent.discarded.append(_discarded(completion.content, [_UNHEARD]))
        return ()

    async def _worded(self, due: UserTurn, spent: _Spent) -> UserTurn:
        """Return the rules' move in the model's words, or in the rules' own."""
        ledger = self._ledger
        points = [point(ledger.role.knows[name]) for name in due.told]
        if more := ledger.beside_topics(due):
            points.append(f'"{more}"')
        problems: list[Problem] = []
        for _ in range(DRAFTS):
            system = briefing(ledger.role.persona, points, [problem.why for problem in problems])
            messages = conversation(system, ledger.said, ledger.heard)
            text, problems = _read(await self._complete(messages, [], "user", spent))
            problems = problems or ledger.problems(text, due)
            if not problems:
                return replace(due, text=text)
            spent.discarded.append(_discarded(text, problems))
        return replace(due, by_rule=True)

    async def _complete(
        self, messages: Sequence[Message], tools: Sequence[object], what: str, spent: _Spent
    ) -> Completion:
        seed = derive_seed(self._seed, what, len(self._ledger.heard), len(spent.discarded))
        try:
            completion = await self._model.start(_NOBODYS, tools, seed).complete(messages)
        except ModelError as error:
            raise _of_the_user(error) from None
        spent.add(completion)
        return completion


def _paid(turn: UserTurn, spent: _Spent) -> UserTurn:
    return replace(turn, usage=spent.usage, cost_usd=spent.cost_usd, discarded=spent.discarded)


def _of_the_user(error: ModelError) -> ModelError:
    return type(error)(
        f"the user's model: {error.message}", error.retryable, error.status, error.retry_after_s
    )


def _discarded(text: str, problems: Sequence[Problem]) -> dict[str, object]:
    return {
        "text": text,
        "kinds": list(dict.fromkeys(problem.kind for problem in problems)),
        "why": [p.why for p in problems],
    }


def _read(completion: Completion) -> tuple[str, list[Problem]]:
    """Return the text of a completion, and its problems as a message."""
    text = visible(completion.content).strip()
    if completion.refusal is not None or completion.finish_reason == "content_filter":
        problem = Problem("refusal", "It is only a message of the person in this chat.")
        return completion.refusal or text, [problem]
    if completion.finish_reason == "length":
        return text, [Problem("cut_off", "It was cut off: one to three short sentences.")]
    if completion.tool_calls:
        return text, [Problem("form", "Unknown tool: write the message itself.")]
    return _unquoted(text), []


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] == '"' and text.count('"') == 2
    return text[1:-1].strip() if quoted else text


@extension(NoOptions, asks_model=True)
def make(options: NoOptions, model: Model | None = None) -> SimulatedUser:
    """Build the user that ``users=simulated`` names.

    Raises :class:`OperatorError` if no model is described.
    """
    if model is None:
        raise OperatorError(
            "users=simulated: name the model that plays the user, as in"
            " models.user.name=gpt-4.1-mini users.model=user"
        )
    return SimulatedUser(model)
