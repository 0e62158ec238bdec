"""A model that plays the user, held by rules.

A reward is worth something only if the user told what it was asked for, agreed to what was rightly proposed, and to nothing
else. Whether it did must not hang on a model's prose, nor on a second model that reads it. So the rules of
:mod:`synth.users.scripted` stand over every turn, and ``users.decides`` says how far:

``rules`` (default)
    The rules decide what the turn does: tell these topics, agree, decline, correct, end. The model is told that, and only
    that (a fact that nobody asked for is not even in its prompt), and finds the words. A draft that does not do it, or does
    more (:mod:`synth.users.drafts`), is asked for again, ``DRAFTS`` times in all; then the rules' own words are sent. Nothing that
    a model says can make such a rollout unfair, so all of them are scored, and rewards mean what they mean with ``users=scripted``.
``model``
    The model has the whole role, decides itself, and ends by a tool call or the line ``[END]``. Each draft is held against what the rules
    would have done: it must tell what was asked for, may tell what the agent named, must agree exactly where the rules
    agree, and must not end while something is asked. A draft that breaks this is asked for again; after ``DRAFTS`` of them the
    conversation ends with ``fault``, and the rollout is unscored. It hears more than the rules do, and costs rollouts.

The model gets its role, what it has said, and what the agent said to it: no tool call, result, gold or database is in reach.
Drafts that were not sent stand in ``discarded`` of the turn's event with what was wrong with them. An endpoint that cannot be asked
is infrastructure (:class:`synth.errors.ModelError`), not a user's fault.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from synth.canonical import derive_seed
from synth.errors import ModelError, OperatorError
from synth.models.base import Model
from synth.types import Completion, Task, Usage, UserRole, UserTurn
from synth.users.base import User, UserConversation
from synth.users.briefing import END, END_TOOL, TOOLS, Decider, briefing, conversation, point
from synth.users.drafts import Bounds, Ledger, Problem
from synth.users.hearing import spoken
from synth.users.scripted import LONGEST, PATIENCE, ScriptedConversation
from synth.users.topics import about

Json = Any

DRAFTS = 3
"""How often one turn is asked for."""

_NOBODYS = Task(id="", family="", env="", prompt="", gold=())
"""What a model is started with in the place of a task: a model that plays the user gets none."""


class SimulatedUser(User):
    """Plays any role with one model; ``name`` is the model's."""

    def __init__(self, model: Model, decides: Decider = "rules") -> None:
        self.name = model.name
        self._model = model
        self._decides: Decider = decides

    async def preflight(self) -> list[str]:
        try:
            return [f"the user's model: {each}" for each in await self._model.preflight()]
        except ModelError as error:
            raise _of_the_user(error) from None

    def start(self, role: UserRole, seed: int) -> SimulatedConversation:
        return SimulatedConversation(self._model, self._decides, role, seed)

    async def aclose(self) -> None:
        await self._model.aclose()


@dataclass
class _Spent:
    """What one turn has cost so far, and the drafts that were not sent."""

    usage: Usage
    cost_usd: float | None
    discarded: list[Mapping[str, Json]]

    def add(self, completion: Completion) -> None:
        self.usage += completion.usage
        unknown = self.cost_usd is None or completion.cost_usd is None
        self.cost_usd = None if unknown else (self.cost_usd or 0.0) + (completion.cost_usd or 0.0)


class SimulatedConversation(UserConversation):
    """One rollout's user."""

    def __init__(self, model: Model, decides: Decider, role: UserRole, seed: int) -> None:
        self._model = model
        self._decides: Decider = decides
        self._role = role
        self._seed = seed
        self._rules = ScriptedConversation(role, seed)
        self._ledger = Ledger(role, said=[role.opening])
        self._told: set[str] = set()
        self._idle = 0

    async def reply(self, text: str) -> UserTurn:
        aloud = spoken(text).strip()
        due = self._rules.decide(text)
        self._ledger.heard.append(aloud[:LONGEST])
        spent = _Spent(Usage(), 0.0, [])
        if not aloud or len(aloud) > LONGEST or (due.ends and self._decides == "rules"):
            turn = due
        elif self._decides == "rules":
            turn = await self._worded(due, spent)
        else:
            turn = await self._decided(due, aloud, spent)
        turn = replace(turn, usage=spent.usage, cost_usd=spent.cost_usd, discarded=spent.discarded)
        self._rules.remember(turn)
        self._ledger.said.append(turn.text)
        self._told.update(turn.told)
        return turn

    async def _worded(self, due: UserTurn, spent: _Spent) -> UserTurn:
        """The rules' move in the model's words, or in their own."""
        told = [self._role.knows[name] for name in due.told]
        also = due.text.removeprefix(" ".join(each.says for each in told)).strip()
        points = [*(point(each.says, each) for each in told), *([point(also)] if also else ())]
        bounds = Bounds(due.told, frozenset(self._told), also, due.consents, due.declines, True, self._has_consent)
        problems: list[Problem] = []
        for _ in range(DRAFTS):
            completion = await self._ask(points, problems, (), spent)
            text, ends, problems = _read(completion, may_end=False)
            problems = problems or self._ledger.problems(text, bounds)
            if not problems and not ends:
                return replace(due, text=text)
            spent.discarded.append(_discarded(text, problems))
        return replace(due, by_rule=True)

    async def _decided(self, due: UserTurn, heard: str, spent: _Spent) -> UserTurn:
        """The model's own move, where the rules find nothing wrong with it."""
        asked = {*due.told, *about(heard, self._role.knows)}
        bounds = Bounds(
            due.told, frozenset(self._told | asked), "", due.consents, due.declines, not due.ends, self._has_consent
        )
        self._idle = 0 if due.told or due.consents or due.declines else self._idle + 1
        if due.ends and self._idle > PATIENCE:
            return due  # nothing was asked for turns, and the model still talks
        problems: list[Problem] = []
        for _ in range(DRAFTS):
            completion = await self._ask((), problems, TOOLS, spent)
            text, ends, problems = _read(completion, may_end=True)
            if not problems and ends and not due.ends:
                problems = [Problem("ended", "The assistant asked something: answer it, then the chat goes on.")]
            if not problems and not ends:
                problems = self._ledger.problems(text, bounds)
            if not problems:
                told = () if ends else self._ledger.told_in(text, asked)
                return UserTurn(text, ends, told, due.consents and not ends, due.declines and not ends)
            spent.discarded.append(_discarded(text, problems))
        return UserTurn(ends=True, fault="; ".join(dict.fromkeys(each.kind for each in problems)))

    @property
    def _has_consent(self) -> bool:
        return self._role.consent is not None

    async def _ask(
        self, points: Sequence[str], problems: Sequence[Problem], tools: Sequence[Json], spent: _Spent
    ) -> Completion:
        system = briefing(self._role, self._decides, points, [each.why for each in problems])
        messages = conversation(system, self._ledger.said, self._ledger.heard)
        seed = derive_seed(self._seed, "user", len(self._ledger.heard), len(spent.discarded))
        try:
            completion = await self._model.start(_NOBODYS, tools, seed).complete(messages)
        except ModelError as error:
            raise _of_the_user(error) from None
        spent.add(completion)
        return completion


def _of_the_user(error: ModelError) -> ModelError:
    return type(error)(f"the user's model: {error.message}", error.retryable, error.status, error.retry_after_s)


def _discarded(text: str, problems: Sequence[Problem]) -> dict[str, Json]:
    return {
        "text": text,
        "kinds": list(dict.fromkeys(each.kind for each in problems)),
        "why": [p.why for p in problems],
    }


def _read(completion: Completion, *, may_end: bool) -> tuple[str, bool, list[Problem]]:
    """What a completion says, whether it ends the conversation, and what is wrong with it as a message."""
    text = spoken(completion.content).strip()
    if completion.refusal is not None or completion.finish_reason == "content_filter":
        return (
            completion.refusal or text,
            False,
            [Problem("refusal", "It is only a message of the person in this chat.")],
        )
    if completion.finish_reason == "length":
        return text, False, [Problem("cut_off", "It was cut off: one to three short sentences.")]
    calls = [may_end and each.name == END_TOOL and _is_object(each.arguments) for each in completion.tool_calls]
    if not all(calls):
        return text, False, [Problem("form", "There is no such tool here: write the message itself.")]
    lines = text.splitlines()
    marked = may_end and bool(lines) and lines[-1].strip() == END
    if marked:
        text = "\n".join(lines[:-1]).strip()
    if END in text:
        return text, False, [Problem("form", f"{END} is no part of a message.")]
    if len(text) > 1 and text[0] == text[-1] == '"' and text.count('"') == 2:
        text = text[1:-1].strip()
    return text, marked or bool(calls), []


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments or "{}"), dict)
    except (ValueError, RecursionError):
        return False


def make(options: Mapping[str, Json], model: Model | None = None) -> SimulatedUser:
    """The factory that ``users=simulated`` names. Raises OperatorError where no model was described."""
    if model is None:
        raise OperatorError(
            "users=simulated: describe the model that plays the user, as in users.model.name=gpt-4.1-mini"
        )
    return SimulatedUser(model, options.get("decides", "rules"))
