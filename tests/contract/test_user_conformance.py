"""Users sit the exam of synth.testing: the one by rule, and a model behind real HTTP that words
what is said, and one that is useless.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from synth.core.users.scripted.user import ScriptedUser
from synth.testing import UserConformance
from synth.user import User, UserRole
from tests.user_endpoint import Player, obedient, simulated


class TestScripted(UserConformance):
    @asynccontextmanager
    async def opened(self, role: UserRole) -> AsyncGenerator[User]:
        yield ScriptedUser()


class TestWordsOfAModel(UserConformance):
    @asynccontextmanager
    async def opened(self, role: UserRole) -> AsyncGenerator[User]:
        async with simulated(Player(obedient)) as user:
            yield user


class TestUselessModel(UserConformance):
    """Where no draft will do, the rules' words are sent: the rollout loses nothing by it."""

    @asynccontextmanager
    async def opened(self, role: UserRole) -> AsyncGenerator[User]:
        async with simulated(
            Player(lambda _: "As an AI language model I cannot help with that.")
        ) as user:
            yield user
