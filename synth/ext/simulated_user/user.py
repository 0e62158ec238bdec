"""The simulated user: a model plays the user, bounded by rules.

A reward is meaningful only if the user told the topics it was asked for, agreed to a correct
proposal, and to nothing else. That must not depend on a model's prose, nor on a second model that
reads it. So the rules of :mod:`synth.core.users.scripted.user` apply to every turn, and
``users.decides`` sets their strength:

``rules`` (default)
    The model classifies the agent's turn into acts, and the
    rules decide the move: tell these topics, agree, decline, correct, end. An answer that states
    no acts, ``DRAFTS`` times, ends the rollout unscored with the fault ``unheard``. Then the model
    gets only the move (a fact that nobody asked for is not even in its prompt) and finds the words.
    A draft that does not make the move, or does more (:mod:`synth.ext.simulated_user.drafts`), is
    requested again, ``DRAFTS`` times in all; then the rules' own words are sent. A yes still needs
    every fact of the condition in the agent's own text.
``model``
    The model has the whole role, decides itself, and ends by a tool call or the line ``[END]``.
    Each draft is compared with the rules' move: it must tell the topics asked for, may tell those
    that the agent named, must agree exactly if the rules agree, and must not end while something is
    asked. A draft that breaks this is requested again; after ``DRAFTS`` of them the conversation
    ends with ``fault``, and the rollout is unscored. This model understands more than the rules do,
    and loses rollouts.

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

from envs.types import ToolCall, ToolResult
from synth.core.foundation.hashing import derive_seed
from synth.core.foundation.json_leaves import parsed
from synth.core.language.json_answers import json_object
from synth.core.types.events import Usage
from synth.core.types.reply import Act, ActKind
from synth.core.users.scripted.hearing import spoken
from synth.core.users.scripted.topics import about, plain_name
from synth.core.users.scripted.user import LONGEST, PATIENCE, ScriptedConversation
from synth.errors import ModelError, OperatorError
from synth.ext.simulated_user import DecidesConfig
from synth.ext.simulated_user.briefing import (
    END,
    END_TOOL,
    TOOLS,
    Decider,
    briefing,
    conversation,
    point,
)
from synth.ext.simulated_user.drafts import Bounds, Ledger, Problem
from synth.model import Completion, Model
from synth.plugins import extension
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
    covered = (tool for consent in role.consents for tool in consent.covers)
    return [*dict.fromkeys(covered), OTHER]


DRAFTS = 3
"""Number of drafts of one turn."""

_UNHEARD = Problem("unheard", "It does not say what the assistant's message does.")
_NOBODYS = Task(id="", family="", env="", prompt="", gold=())
"""Task with which a model that plays the user is started: it gets no real one."""


class SimulatedUser(User):
    """Plays any role with one model; ``name`` is the model's."""

    def __init__(self, model: Model, decides: Decider = "rules") -> None:
        self.name = model.name
        self._model = model
        self._decides: Decider = decides

    async def preflight(self) -> list[str]:
        try:
            return [f"the user's model: {warning}" for warning in await self._model.preflight()]
        except ModelError as error:
            raise _of_the_user(error) from None

    def start(self, role: UserRole, seed: int) -> _SimulatedConversation:
        return _SimulatedConversation(self._model, self._decides, role, seed)

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

    def __init__(self, model: Model, decides: Decider, role: UserRole, seed: int) -> None:
        self._model = model
        self._decides: Decider = decides
        self._role = replace(role, knows=role.every_topic)
        self._seed = seed
        self._rules = ScriptedConversation(role, seed)
        self._ledger = Ledger(self._role, said=[role.opening])
        self._answered: set[str] = set()
        self._idle = 0

    async def reply(self, text: str) -> UserTurn:
        return await self.answer(text, ())

    async def answer(self, text: str, acts: Sequence[Act]) -> UserTurn:
        aloud = spoken(text).strip()
        spent = _Spent(Usage(), 0.0, [])
        hears = bool(aloud) and not acts and self._decides == "rules" and len(aloud) <= LONGEST
        if hears and not (acts := await self._classified(aloud, spent)):
            return _paid(UserTurn(ends=True, fault="unheard"), spent)
        due = self._rules.decide(text, acts, heard=hears)
        if due.then is not None:
            own = self._rules.role
            self._role = replace(self._role, consent=own.consent, others=own.others)
        self._ledger.heard.append(aloud[:LONGEST])
        if due.calls:
            return _paid(due, spent)
        if not aloud or len(aloud) > LONGEST or (due.ends and self._decides == "rules"):
            turn = due
        elif self._decides == "rules" or due.then is not None:
            turn = await self._worded(due, spent)
        else:
            turn = await self._decided(due, aloud, spent)
        return self._sent(_paid(turn, spent))

    async def observe(self, results: Sequence[ToolResult]) -> UserTurn:
        spent = _Spent(Usage(), 0.0, [])
        return self._sent(_paid(await self._worded(self._rules.observed(results), spent), spent))

    def _sent(self, turn: UserTurn) -> UserTurn:
        """Record a turn that is sent."""
        self._rules.remember(turn)
        self._ledger.said.append(turn.text)
        self._answered.update(turn.told)
        return turn

    async def _classified(self, heard: str, spent: _Spent) -> Sequence[Act]:
        """Return the acts of the agent's turn; none if the model only answers nonsense."""
        role = self._rules.role
        said = self._ledger.said
        messages = conversation(instructions(role), said, [*self._ledger.heard, heard])
        for _ in range(DRAFTS):
            completion = await self._complete(messages, [_acts_tool(role)], "acts", spent)
            if acts := _acts_in(completion, role):
                return acts
            spent.discarded.append(_discarded(completion.content, [_UNHEARD]))
        return ()

    async def _worded(self, due: UserTurn, spent: _Spent) -> UserTurn:
        """Return the rules' move in the model's words, or in the rules' own."""
        topics = [self._role.knows[name] for name in due.told]
        also = due.text.removeprefix(" ".join(event.says for event in topics)).strip()
        points = [*(point(event.says, event) for event in topics), *([point(also)] if also else ())]
        bounds = Bounds(
            due.told,
            frozenset(self._answered),
            also,
            due.consents,
            due.declines,
            True,
            self._has_consent,
        )
        sent = await self._drafted(bounds, points, (), spent)
        return replace(due, text=sent[0]) if isinstance(sent, tuple) else replace(due, by_rule=True)

    async def _decided(self, due: UserTurn, heard: str, spent: _Spent) -> UserTurn:
        """Return the model's own move, if the rules have no objection to it."""
        asked = {*due.told, *about(heard, self._role.knows)}
        bounds = Bounds(
            due.told,
            frozenset(self._answered | asked),
            "",
            due.consents and self._has_consent,
            due.declines,
            not due.ends,
            self._has_consent,
        )
        self._idle = 0 if due.told or due.consents or due.declines else self._idle + 1
        if due.ends and self._idle > PATIENCE:
            return due  # nothing was asked for turns, and the model still talks
        sent = await self._drafted(bounds, (), TOOLS, spent, may_end=due.ends)
        if not isinstance(sent, tuple):
            kinds = dict.fromkeys(problem.kind for problem in sent)
            return UserTurn(ends=True, fault="; ".join(kinds))
        text, ends = sent
        return UserTurn(
            text,
            ends,
            () if ends else self._ledger.told_in(text, asked),
            due.consents and not ends,
            due.declines and not ends,
            corrects=due.corrects and not ends,
        )

    async def _drafted(
        self,
        bounds: Bounds,
        points: Sequence[str],
        tools: Sequence[object],
        spent: _Spent,
        *,
        may_end: bool = False,
    ) -> tuple[str, bool] | list[Problem]:
        """Return the first draft without a problem, and whether it ends the conversation, which
        only a model with ``tools`` does; the problems of the last one if there is none.
        """
        problems: list[Problem] = []
        for _ in range(DRAFTS):
            completion = await self._ask(points, problems, tools, spent)
            text, ends, problems = _read(completion, may_end=bool(tools))
            problems = problems or self._objections(text, bounds, ends=ends, may_end=may_end)
            if not problems:
                return text, ends
            spent.discarded.append(_discarded(text, problems))
        return problems

    def _objections(self, text: str, bounds: Bounds, *, ends: bool, may_end: bool) -> list[Problem]:
        if not ends:
            return self._ledger.problems(text, bounds)
        if may_end:
            return []
        return [
            Problem("ended", "The assistant asked something: answer it, then the chat goes on.")
        ]

    @property
    def _has_consent(self) -> bool:
        return bool(self._role.every_consent)

    async def _ask(
        self,
        points: Sequence[str],
        problems: Sequence[Problem],
        tools: Sequence[object],
        spent: _Spent,
    ) -> Completion:
        system = briefing(self._role, self._decides, points, [problem.why for problem in problems])
        messages = conversation(system, self._ledger.said, self._ledger.heard)
        return await self._complete(messages, tools, "user", spent)

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


def _read(completion: Completion, *, may_end: bool) -> tuple[str, bool, list[Problem]]:
    """Return the text of a completion, True if it ends the conversation, and its problems as a
    message.
    """
    text = spoken(completion.content).strip()
    if completion.refusal is not None or completion.finish_reason == "content_filter":
        problem = Problem("refusal", "It is only a message of the person in this chat.")
        return completion.refusal or text, False, [problem]
    if completion.finish_reason == "length":
        return text, False, [Problem("cut_off", "It was cut off: one to three short sentences.")]
    calls = completion.tool_calls
    if not all(may_end and _ends(call) for call in calls):
        problem = Problem("form", "Unknown tool: write the message itself.")
        return text, False, [problem]
    text, marked = _without_end(text) if may_end else (text, False)
    if END in text:
        return text, False, [Problem("form", f"{END} must not stand in a message.")]
    return _unquoted(text), marked or bool(calls), []


def _ends(call: ToolCall) -> bool:
    return call.name == END_TOOL and isinstance(parsed(call.arguments or "{}"), dict)


def _without_end(text: str) -> tuple[str, bool]:
    """Return a text without the line that ends the conversation, and whether it had one."""
    lines = text.splitlines()
    if not lines or lines[-1].strip() != END:
        return text, False
    return "\n".join(lines[:-1]).strip(), True


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] == '"' and text.count('"') == 2
    return text[1:-1].strip() if quoted else text


@extension(DecidesConfig, asks_model=True)
def make(options: DecidesConfig, model: Model | None = None) -> SimulatedUser:
    """Build the user that ``users=simulated`` names.

    Raises :class:`OperatorError` if no model is described.
    """
    if model is None:
        raise OperatorError(
            "users=simulated: name the model that plays the user, as in"
            " models.user.name=gpt-4.1-mini users.model=user"
        )
    return SimulatedUser(model, options.decides)
