"""The scripted expert behind a real OpenAI-compatible HTTP server on loopback.

It finds the task by its opening messages, keeps no state between requests, and refuses what a
strict endpoint refuses.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Generator, Iterable
from typing import Any

from synth.core.models.openai.wire import canonical_message
from synth.core.models.scripted.expert import ExpertConversation
from synth.errors import ModelRefusedRequest
from synth.ext.serving.openai_server import Handler, serve
from synth.model import Completion
from synth.task import Task
from tests.faulty_endpoint import FaultHook, faulty
from tests.loopback import in_a_thread


class Expert:
    """Answers requests about known tasks; ``requests`` counts them."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._tasks = {_opening(task.system, task.prompt): task for task in tasks}
        self.requests = 0

    async def __call__(self, request: dict[str, Any]) -> Completion:
        self.requests += 1
        messages = [canonical_message(each) for each in request["messages"]]
        texts: dict[str, str] = {}
        for each in messages:
            texts.setdefault(each["role"], each["content"])  # the opening: a user may speak again
        task = self._tasks.get(_opening(texts.get("system", ""), texts["user"]))
        if task is None:
            raise ModelRefusedRequest("no task opens like this")
        return ExpertConversation(task).next_turn(messages)


def _opening(system: str, prompt: str) -> str:
    return json.dumps([system, prompt])


@contextlib.contextmanager
def endpoint(
    expert: Handler, faults: FaultHook | None = None, api_key: str | None = None
) -> Generator[str]:
    """Serve the expert from a thread of its own; gives the base URL."""
    own = [] if faults is None else [faulty(faults)]
    with in_a_thread(serve(expert, models=("expert",), api_key=api_key, middlewares=own)) as url:
        yield url
