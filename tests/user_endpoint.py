"""Models that play users, behind a real OpenAI-compatible HTTP server on loopback: the good one and
the bad ones.

Each is a handler of :func:`synth.ext.serving.openai_server.serve`; ``requests`` holds all that was sent
to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from envs.types import ToolCall
from synth.core.models.openai.endpoint import Endpoint
from synth.core.models.openai.model import OpenAIModel
from synth.core.types.events import Usage
from synth.ext.serving.openai_server import serve
from synth.ext.simulated_user.user import ACTS_TOOL, SimulatedUser
from synth.model import Completion

Json = Any
Request = Mapping[str, Json]
Say = Callable[[Request], Completion | str]

USAGE = Usage(100, 10)


def classify(request: Request) -> Completion:
    """States what the last message does, by its first word and the topics of the schema."""
    text = request["messages"][-1]["content"]
    act = request["tools"][0]["function"]["parameters"]["properties"]["acts"]["items"]["properties"]
    names = act["topics"]["items"].get("enum", ())
    named = dict(re.findall(r"(\w+) \(([^)]*)\)", system(request).rpartition("Topics:")[2]))
    words = {name: named[name].split(", ") for name in names}
    asked = [name for name in names if any(word in text.lower() for word in words[name])]
    tools = act["tools"]["items"]["enum"]
    if text.startswith("Shall I"):
        return acts({"kind": "propose", "topics": [], "tools": tools})
    if text.startswith("Please") and "instruct" in act["kind"]["enum"]:
        return acts({"kind": "instruct", "topics": [], "tools": tools[1:]})
    if "?" in text:
        return acts({"kind": "ask", "topics": asked, "tools": []})
    return acts({"kind": "report", "topics": [], "tools": []})


def acts(*found: Json) -> Completion:
    """The call by which a model states acts."""
    call = ToolCall("c", ACTS_TOOL, json.dumps({"acts": found}))
    return Completion("", [call], finish_reason="tool_calls", usage=USAGE)


class Player:
    """Answers each request for words by ``say``, and each for the acts of a message by ``hear``."""

    def __init__(self, say: Say, hear: Say = classify) -> None:
        self._say, self._hear = say, hear
        self.requests: list[dict[str, Json]] = []
        self.classified: list[dict[str, Json]] = []

    async def __call__(self, request: dict[str, Json]) -> Completion:
        tools = [tool["function"]["name"] for tool in request.get("tools", ())]
        hears = tools == [ACTS_TOOL]
        (self.classified if hears else self.requests).append(request)
        said = (self._hear if hears else self._say)(request)
        return Completion(said, usage=USAGE) if isinstance(said, str) else said


def system(request: Request) -> str:
    return request["messages"][0]["content"]


def obedient(request: Request) -> str:
    """Says what the note for this turn says."""
    found = re.findall(
        r'^- "(.*)"(?: \((?:with: .*|in these very words)\))?$', system(request), re.MULTILINE
    )
    assert found, system(request)
    return " ".join(found)


@asynccontextmanager
async def simulated(player: Player, **options: Any) -> AsyncGenerator[SimulatedUser]:
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
            yield SimulatedUser(model)
        finally:
            await model.aclose()
