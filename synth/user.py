"""The contract of a user: a partner who answers the agent.

The information barrier is in the signatures: a user is made from its role and a seed, and reads the
agent's words and the results of its own calls. It is never handed a task, a call of the agent, its
result or a gold solution.

A user extension is a callable or class ``(options, model) -> User | None``, named in
``users.kind``. Two attributes on it are optional:

- ``Options``: a dataclass or pydantic model of its options. Fields that are also keys of the
  config's ``users`` section take the section's values, the others come from ``users.options``. The
  extension gets an instance; without ``Options`` it gets the section as a mapping.
- ``asks_model``: True if it asks a model, which it then gets as ``model``: the one that
  ``users.model`` names, or the agent's. False if it never does. Without it, the model is built if
  ``users.model`` is set.

:class:`synth.testing.UserConformance` tests the contract.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from envs.plugins import Contract
from envs.types import ToolCall, ToolResult
from synth.core.types.events import Usage
from synth.core.types.json_form import JsonForm
from synth.core.types.reply import Act


@dataclass(frozen=True, slots=True)
class Topic:
    """Something that a user tells when asked: ``says`` is the answer, ``words`` are what a question
    about it mentions, ``asked`` is how the expert asks.
    """

    says: str
    words: Sequence[str] = ()
    asked: str = ""


@dataclass(frozen=True, slots=True)
class Consent:
    """The condition of a user's consent: a question that restates every one of ``mentions`` is
    answered with ``says``.

    ``act`` holds words for the act: a question that proposes another act and has none of these
    words is not agreed to. ``declines`` is the answer of a user who does not want it after all;
    None for a user who consents. A yes licenses calls of the tools that it ``covers``; none named
    stands for all. A question that holds one of ``never`` is not agreed to. Neither is one
    that does not say what would be done. A fact counts in any of its ``forms`` ("the
    Visa that ends in 7447"); a question that names one of its ``rivals`` and not the fact is wrong,
    and so is one with another value where it need not name one of ``if_named``.
    """

    mentions: Sequence[str] = ()
    says: str = "Yes, please go ahead."
    declines: str | None = None
    act: Sequence[str] = ()
    covers: Sequence[str] = ()
    never: Sequence[str] = ()
    forms: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    rivals: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    if_named: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A later wish of a user: ``says`` is said in the place of the yes to the first proposal that
    could have it (``proposed``), or once the agent reports an end (``done``).

    ``knows`` is added to what the user knows; ``consents``, if there are any, take the place of the
    conditions so far. A ``fresh`` wish is a new request: what the user knew and agreed to before
    belongs to the earlier one.
    """

    when: Literal["proposed", "done", "refused"]
    says: str
    knows: Mapping[str, Topic] = field(default_factory=dict[str, Topic])
    consents: Sequence[Consent] = ()
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class UserRole(JsonForm):
    """All that the user of a task is and knows. Whoever plays the user gets this and the agent's
    words, nothing else.

    ``consent`` is the first condition of consent, ``others`` hold more. ``then`` is what the user
    wants later, in order. ``tools`` are the user's own, each with ``name``,
    ``description``, ``parameters`` and ``read_only``.
    """

    opening: str
    knows: Mapping[str, Topic] = field(default_factory=dict[str, Topic])
    consent: Consent | None = None
    persona: str = ""
    others: Sequence[Consent] = ()
    then: Sequence[FollowUp] = ()
    tools: Annotated[Sequence[Mapping[str, Any]], Field(exclude=True)] = ()

    @property
    def consents(self) -> Sequence[Consent]:
        """The conditions of consent from the beginning."""
        return () if self.consent is None else (self.consent, *self.others)

    @property
    def every_consent(self) -> Sequence[Consent]:
        """The conditions of consent, also in follow-ups."""
        return (*self.consents, *(one for sequel in self.then for one in sequel.consents))

    @property
    def requests(self) -> Sequence[int]:
        """The follow-ups that are requests of their own, by their place in ``then``."""
        return [index for index, sequel in enumerate(self.then) if sequel.fresh]

    @property
    def every_topic(self) -> Mapping[str, Topic]:
        """The topics of the request and of all follow-ups."""
        parts = (self, *self.then)
        return {name: topic for part in parts for name, topic in part.knows.items()}


@dataclass(frozen=True, slots=True)
class UserTurn:
    """One turn of the user, after the agent has spoken.

    ``ends`` signals that the conversation is over. ``told`` names the topics that were answered,
    ``consents`` is set if this turn agrees, ``covers`` then names the tools that it licenses (none:
    all), and ``then`` is the number of the follow-up that it brings. ``fault`` names a mistake of
    the user (a leak, a broken role), which leaves the rollout unscored. ``discarded`` holds a
    model's drafts that were not sent, each ``{"text", "kinds", "why"}``; ``by_rule`` is set if the
    rules spoke because no draft was good enough. ``corrects`` is set if this turn objects to facts
    of a proposal. ``usage`` and ``cost_usd`` are the cost of the
    turn. The user makes ``calls`` of its own tools before it speaks; a turn that has nothing beside
    them is followed by what it says about their results (:meth:`UserConversation.observe`).
    """

    text: str = ""
    ends: bool = False
    told: Sequence[str] = ()
    consents: bool = False
    declines: bool = False
    fault: str | None = None
    discarded: Sequence[Mapping[str, Any]] = ()
    by_rule: bool = False
    covers: Sequence[str] = ()
    then: int | None = None
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    corrects: bool = False
    calls: Sequence[ToolCall] = ()


class UserConversation(ABC):
    """One rollout's user."""

    @abstractmethod
    async def reply(self, text: str) -> UserTurn:
        """Answer the agent's turn without tool calls, or end the conversation.

        Raises :class:`synth.errors.ModelError` if a model that plays the user cannot be asked.
        """

    async def answer(self, text: str, acts: Sequence[Act]) -> UserTurn:
        """Answer a turn that may state its acts as data. By default the text alone counts."""
        return await self.reply(text)

    async def observe(self, results: Sequence[ToolResult]) -> UserTurn:
        """Go on after the calls of a turn, whose results these are, in order.

        A conversation whose turns have ``calls`` without words needs it; raises NotImplementedError
        otherwise.
        """
        raise NotImplementedError(f"{type(self).__name__} makes calls, so it needs `observe`")


class User(Contract, ABC):
    """A source of conversations with users: one per worker, shared by its rollouts, never sent
    between processes.
    """

    name: str
    """Value of the record's ``user_model`` column."""

    async def preflight(self) -> list[str]:
        """Check, without spending a token, that it can answer at all. Returns warnings."""
        return []

    @abstractmethod
    def start(self, role: UserRole, seed: int) -> UserConversation:
        """Open a rollout's conversation; cheap."""

    async def aclose(self) -> None:
        """Release its resources. Safe to call twice."""
        return
