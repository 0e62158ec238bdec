"""CPU per call of our model and of the ``openai`` package's default, in the same run, against the
same endpoint.

    uv run python -m tests.bench.calls

Each place in flight plays conversations of six calls: five tool calls and an answer, ten tools, the
prompt as given; with the openai default only their first calls, which take long enough. The
endpoint is a process of its own and answers at once; what is counted is the CPU time of the
client's process.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

import openai
import uvloop

from synth.core.foundation.own_process import THRESHOLDS
from synth.core.models.openai.endpoint import Endpoint
from synth.core.models.openai.model import OpenAIModel
from synth.task import Task
from tests.bench.endpoint import endpoint

Json = Any
Lane = Callable[[], Awaitable[None]]

TASK = Task(id="t", family="f", env="e", prompt="p", gold=[])
TURNS = 6
QUESTION = "Look it up."
TOOLS: list[Json] = [
    {
        "type": "function",
        "function": {
            "name": f"tool_{at}",
            "description": f"Look up number {at}.",
            "parameters": {
                "type": "object",
                "properties": {"key": {"type": "string"}},
                "required": ["key"],
            },
        },
    }
    for at in range(10)
]


def bodies() -> list[Json]:
    """Five tool calls and an answer, as an endpoint writes them."""

    def body(message: Json, finish: str) -> Json:
        usage = {"prompt_tokens": 1000, "completion_tokens": 40, "total_tokens": 1040}
        choice = {
            "index": 0,
            "message": {"role": "assistant", "refusal": None, **message},
            "logprobs": None,
        }
        return {
            "id": "chatcmpl-0123456789",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "m",
            "choices": [{**choice, "finish_reason": finish}],
            "usage": usage,
        }

    def call(at: int) -> Json:
        function = {"name": f"tool_{at}", "arguments": json.dumps({"key": f"value {at}"})}
        return {
            "content": None,
            "tool_calls": [{"id": f"call_{at}", "type": "function", "function": function}],
        }

    return [
        *(body(call(at), "tool_calls") for at in range(TURNS - 1)),
        body({"content": "Done."}, "stop"),
    ]


def opening(prompt_bytes: int) -> list[Json]:
    text = ("A rule of the house that has to be kept. " * (prompt_bytes // 40 + 1))[:prompt_bytes]
    return [{"role": "system", "content": text}, {"role": "user", "content": QUESTION}]


def ours(model: OpenAIModel, first: list[Json]) -> Lane:
    async def lane() -> None:
        messages, conversation = list(first), model.start(TASK, TOOLS, 1)
        while True:
            completion = await conversation.complete(messages)
            if not completion.tool_calls:
                return
            calls = [
                {
                    "id": c.id,
                    "type": "function",
                    "function": {"name": c.name, "arguments": json.loads(c.arguments)},
                }
                for c in completion.tool_calls
            ]
            messages.append(
                {"role": "assistant", "content": completion.content, "tool_calls": calls}
            )
            messages += [
                {"role": "tool", "tool_call_id": c.id, "content": '{"found": 1}'}
                for c in completion.tool_calls
            ]

    return lane


def default(client: openai.AsyncOpenAI, first: list[Json]) -> Lane:
    async def lane() -> None:
        completion = await client.chat.completions.create(model="m", messages=first, tools=TOOLS)
        assert completion.choices[0].message.tool_calls

    return lane


async def measure(lane: Lane, in_flight: int, conversations: int, calls: int = TURNS) -> float:
    """Microseconds of CPU per call; every place in flight has played once before the clock
    starts.
    """
    await asyncio.gather(*(lane() for _ in range(in_flight)))
    left = conversations

    async def work() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            await lane()

    gc.collect()
    began = time.process_time()
    await asyncio.gather(*(work() for _ in range(in_flight)))
    return (time.process_time() - began) / (conversations * calls) * 1e6


async def main(url: str, *, with_default: bool) -> None:
    gc.set_threshold(*THRESHOLDS)  # as a worker sets it, for both
    print(f"{'us of CPU per call':28}{'synth':>8}{'openai default':>16}{'ratio':>8}")
    for prompt_bytes in (4_000, 40_000):
        for in_flight in (64, 1_024):
            model = OpenAIModel(Endpoint("m", url, max_connections=in_flight), api_key="key")
            lean = await measure(ours(model, opening(prompt_bytes)), in_flight, max(600, in_flight))
            await model.aclose()
            row = f"{prompt_bytes // 1000:3} KB, {in_flight:5} in flight"
            if not with_default:
                print(f"{row:28}{lean:8.0f}", flush=True)
                continue
            async with openai.AsyncOpenAI(
                api_key="key", base_url=url, max_retries=0, timeout=600
            ) as client:
                slow = await measure(
                    default(client, opening(prompt_bytes)), in_flight, max(200, in_flight), 1
                )
            print(f"{row:28}{lean:8.0f}{slow:16.0f}{slow / lean:8.1f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ours-only", action="store_true", help="leave the openai default out")
    options = parser.parse_args()
    with endpoint({QUESTION: bodies()}) as address:
        uvloop.run(main(address, with_default=not options.ours_only))
