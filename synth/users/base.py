"""The contract of a user: somebody who speaks with the agent.

The information barrier is in the signatures: a user is made from its role and a seed, and hears the agent's words.
It is never handed a task, a tool call, a result or a gold solution.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from synth.types import UserRole, UserTurn


class UserConversation(ABC):
    """One rollout's user."""

    @abstractmethod
    async def reply(self, text: str) -> UserTurn:
        """Answer what the agent said in a turn without tool calls, or end the conversation.

        Raises :class:`synth.errors.ModelError` where a model that plays the user cannot be asked.
        """


class User(ABC):
    """Somebody who can be talked to. A resident: one per worker, shared by its rollouts, never sent between processes."""

    name: str
    """What the record's ``user_model`` column says."""

    async def preflight(self) -> list[str]:
        """Find out, without spending a token, whether it can answer at all; returns warnings."""
        return []

    @abstractmethod
    def start(self, role: UserRole, seed: int) -> UserConversation:
        """Open a rollout's conversation; cheap."""

    async def aclose(self) -> None:
        """Release what it holds. Safe to call twice."""
        return
