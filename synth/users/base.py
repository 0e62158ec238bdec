"""The contract of a user: a partner who answers the agent.

The information barrier is in the signatures: a user is made from its role and a seed, and reads the
agent's words. It is never handed a task, a tool call, a result or a gold solution.

A user extension is a callable or class ``(options, model) -> User | None``, named in
``users.kind``. Two attributes on it are optional:

- ``Options``: a dataclass or pydantic model of its options. Fields that are also keys of the
  config's ``users`` section take the section's values, the others come from ``users.options``. The
  extension gets an instance; without ``Options`` it gets the section as a mapping.
- ``asks_model``: True if ``users.model`` describes a model that it asks, which it then gets as
  ``model``; False if it never does. Without it, the model is built if ``users.model.name`` is set.

:class:`synth.testing.UserConformance` tests the contract.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from synth.types import UserRole, UserTurn
from synth.types.acts import Act


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


class User(ABC):
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
