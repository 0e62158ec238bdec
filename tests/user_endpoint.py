"""Models that play users, behind a real OpenAI-compatible HTTP server on loopback: the good one and
the bad ones.

Each is a handler of :func:`synth.serving.openai_server.serve`; ``requests`` holds all that was sent
to it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from envs.types import ToolCall
from synth.models.openai.endpoint import Endpoint
from synth.models.openai.model import OpenAIModel
from synth.serving.openai_server import serve
from synth.types import Completion, Usage, UserRole
from synth.users.scripted.user import ScriptedConversation
from synth.users.simulated.briefing import END, END_TOOL, Decider
from synth.users.simulated.user import SimulatedUser

Json = Any
Request = Mapping[str, Json]
Say = Callable[[Request], Completion | str]

USAGE = Usage(100, 10)


class Player:
    """Answers each request by ``say``."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self.requests: list[dict[str, Json]] = []

    async def __call__(self, request: dict[str, Json]) -> Completion:
        self.requests.append(request)
        said = self._say(request)
        return Completion(said, usage=USAGE) if isinstance(said, str) else said


def system(request: Request) -> str:
    return request["messages"][0]["content"]


def obedient(request: Request) -> str:
    """Says what the note for this turn says; of ``decides=rules``."""
    found = re.findall(
        r'^- "(.*)"(?: \((?:with: .*|in these very words)\))?$', system(request), re.MULTILINE
    )
    assert found, system(request)
    return " ".join(found)


def actor(*roles: UserRole, marks_end: bool = False) -> Say:
    """Plays its roles as the scripted user would, from the messages alone; of ``decides=model``."""

    def say(request: Request) -> Completion | str:
        def briefed(role: UserRole, opening: str) -> bool:
            facts = [
                *(each.says for each in role.knows.values()),
                *(role.consent.mentions if role.consent else ()),
            ]
            return role.opening == opening and all(each in system(request) for each in facts)

        _, _, opening, *rest = request["messages"]
        rules = ScriptedConversation(
            next(each for each in roles if briefed(each, opening["content"])), seed=3
        )
        for each in rest[:-1]:
            if each["role"] == "user":
                rules.remember(rules.decide(each["content"]))
        turn = rules.decide(rest[-1]["content"])
        if turn.ends and not marks_end:
            call = ToolCall("bye", END_TOOL, '{"reason": "nothing more is asked"}')
            return Completion("", [call], finish_reason="tool_calls", usage=USAGE)
        return END if turn.ends else turn.text

    return say


@asynccontextmanager
async def simulated(
    player: Player, decides: Decider = "rules", **options: Any
) -> AsyncGenerator[SimulatedUser]:
    """A simulated user whose model is that player, over HTTP."""
    async with serve(player, models=("player",)) as url:
        model = OpenAIModel(
            Endpoint(
                "player",
                url,
                price_input_usd_per_mtok=1.0,
                price_output_usd_per_mtok=2.0,
                **options,
            )
        )
        try:
            yield SimulatedUser(model, decides)
        finally:
            await model.aclose()
