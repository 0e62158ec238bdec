"""Eight answers of 15 MB at once, in a process of its own whose memory is measured."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.models.openai.raw_endpoint import raw_endpoint, reply, sends

ANSWERS, SIZE = 8, 15_000_000

CLIENT = """
import asyncio, json, re, sys
from synth.core.models.openai.endpoint import Endpoint
from synth.core.models.openai.model import OpenAIModel
from synth.task import Task

def peak_kib():
    return int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])

async def main(url, stream, count):
    model = OpenAIModel(Endpoint("m", url, stream=stream), api_key="key")
    async def ask():
        task = Task(id="t", family="f", env="e", prompt="p", gold=[])
        return len((await model.start(task, [], 1).complete([])).content)
    await ask()
    before = peak_kib()
    lengths = await asyncio.gather(*(ask() for _ in range(count)))
    after = peak_kib()
    await model.aclose()
    print(json.dumps({"lengths": lengths, "grown_kib": after - before}))

asyncio.run(main(sys.argv[1], sys.argv[2] == "streamed", int(sys.argv[3])))
"""


def whole(size: int) -> bytes:
    message = {"role": "assistant", "content": "word " * (size // 5)}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    return reply(json.dumps(body).encode())


def streamed(size: int) -> bytes:
    """The same as server-sent events of some 10 KB."""
    piece = "word " * 2_000
    event = {"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    events = [event] * max(1, size // len(piece)) + [last]
    text = "".join(f"data: {json.dumps(item)}\n\n" for item in events) + "data: [DONE]\n\n"
    return reply(text.encode()).replace(b"application/json", b"text/event-stream")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
@pytest.mark.parametrize("form", [whole, streamed])
async def test_large_answers_at_once_take_less_than_twice_their_bytes(form: Callable[[int], bytes]):
    acts = [sends(form(10_000)), sends(form(SIZE))]
    async with raw_endpoint(*acts) as served:
        arguments = [sys.executable, "-c", CLIENT, served.url, form.__name__, str(ANSWERS)]
        done = await asyncio.to_thread(subprocess.run, arguments, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert len(report["lengths"]) == ANSWERS
    assert min(report["lengths"]) >= SIZE * 0.99
    assert report["grown_kib"] * 1024 < 2 * ANSWERS * SIZE, report
