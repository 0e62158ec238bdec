"""Users: partners who answer the agent. The contract is :mod:`synth.user`."""

from __future__ import annotations

from synth.model import Model
from synth.plugins import NoOptions, extension
from synth.user import User, UserConversation, UserRole, UserTurn


class AbsentUser(User):
    """Ends every conversation at the agent's first turn without tool calls."""

    name = "none"

    def start(self, role: UserRole, seed: int) -> UserConversation:
        return _Silence()


class _Silence(UserConversation):
    async def reply(self, text: str) -> UserTurn:
        return UserTurn(ends=True)


@extension(NoOptions, asks_model=False)
def make(options: NoOptions, model: Model | None = None) -> AbsentUser:
    """Build the user that ``users=none`` names."""
    return AbsentUser()
