"""What the tests of models share: a task, tools, a conversation, and a real endpoint on
loopback.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from envs.types import ToolCall
from synth.core.models.openai.endpoint import Backoff, Endpoint
from synth.core.models.openai.model import OpenAIModel
from synth.errors import ModelError
from synth.ext.serving.openai_server import serve
from synth.model import Completion, Conversation, RateLimiter, Sampling
from synth.task import Message, Task
from tests.faulty_endpoint import Fault, faulty

KEY = "sk-proj-Secret_0123456789"
TASK = Task(id="t", family="f", env="e", prompt="p", gold=[])
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "find",
            "description": "Find a patient.",
            "parameters": {
                "type": "object",
                "properties": {"name": {"type": "string"}},
                "required": ["name"],
            },
        },
    }
]
AT_ONCE = Backoff(first_s=0.0, longest_s=0.0)


def opening() -> list[Message]:
    return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who is Zoë?"}]


def assistant_call(call_id: str, **arguments: Any) -> Message:
    function = {"name": "find", "arguments": arguments}
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def tool_answer(call_id: str, content: str = "{}") -> Message:
    return {"role": "tool", "tool_call_id": call_id, "name": "find", "content": content}


Answer = Completion | Exception | Fault | Callable[[dict[str, Any]], Completion]


class LoopbackEndpoint:
    """A loopback endpoint whose answers a test puts in line: completions, functions of the request,
    exceptions, or faults.

    The last entry repeats; ``requests`` are the bodies that reached the handler, ``hits`` counts
    every request, ``headers`` are those of each.
    """

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers) or [Completion(content="hello")]
        self.requests: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.url = ""

    @property
    def hits(self) -> int:
        return len(self.headers)

    def _next(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    async def fault(self, request: Any) -> Fault | None:
        self.headers.append(request.headers)
        return self._next() if isinstance(self.answers[0], Fault) else None

    async def handle(self, request: dict[str, Any]) -> Completion:
        self.requests.append(request)
        answer = self._next()
        if isinstance(answer, Exception):
            raise answer
        assert not isinstance(answer, Fault)
        return answer(request) if callable(answer) else answer

    def model(
        self,
        *,
        api_key: str | None = KEY,
        sampling: Sampling | None = None,
        limiter: RateLimiter | None = None,
        **options: Any,
    ) -> OpenAIModel:
        given = {"backoff": AT_ONCE, "max_retries": 0, "base_url": self.url} | options
        return OpenAIModel(Endpoint("m", **given), sampling, api_key, limiter)


@pytest.fixture
async def endpoint() -> AsyncGenerator[Callable[..., Any]]:
    """``async with endpoint(answers..., model options...) as (server, model)``."""

    @asynccontextmanager
    async def run(
        *answers: Answer, serving: dict[str, Any] | None = None, **options: Any
    ) -> AsyncGenerator[tuple[LoopbackEndpoint, OpenAIModel]]:
        served = LoopbackEndpoint(*answers)
        options_of_server = {"models": ("m",), "middlewares": [faulty(served.fault)]}
        async with serve(served.handle, **(options_of_server | (serving or {}))) as served.url:
            model = served.model(**options)
            try:
                yield served, model
            finally:
                await model.aclose()

    return run


def talk(model: OpenAIModel, tools: Iterable[Any] = TOOLS, seed: int = 1) -> Conversation:
    return model.start(TASK, list(tools), seed)


def calling(*ids: str, arguments: str = '{"name": "Zoë"}') -> Completion:
    return Completion(
        tool_calls=tuple(ToolCall(i, "find", arguments) for i in ids), finish_reason="tool_calls"
    )


JSON = {"Content-Type": "application/json"}


def answer_body(text: str = "fine") -> bytes:
    """A completion's body as an endpoint writes it."""
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode()


async def refused(model: OpenAIModel) -> ModelError:
    """The error that a first request ends in."""
    with pytest.raises(ModelError) as caught:
        await talk(model).complete(opening())
    return caught.value
