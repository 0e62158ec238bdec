"""Faults of endpoints through the whole loop: agent, episode and score; each rollout comes to its
typed end.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any

import pytest

import synth
from synth.agent import AgentLimits, AgentRun, ReactAgent
from synth.core.models.openai.endpoint import Endpoint
from synth.core.models.openai.model import OpenAIModel
from synth.core.models.openai.wire import canonical_message
from synth.core.models.scripted.expert import ExpertConversation
from synth.core.types.events import Usage
from synth.episode import Episode
from synth.errors import ContextOverflow, ModelAuthError, ModelError, ModelRefusedRequest
from synth.ext.serving.openai_server import serve
from synth.model import Completion
from synth.verdict import StopReason
from tests.unit.models.conftest import AT_ONCE, KEY, answer_body, opening, talk

from .faults import SCENES, called
from .raw_endpoint import Wire, raw_endpoint, reply, sends, sends_and_hangs

pytestmark = pytest.mark.slow


@pytest.fixture
def episode() -> Generator[Episode]:
    with synth.open("ehr_db", family="record_heart_rate") as opened:
        yield opened


async def play(model: OpenAIModel, episode: Episode, limits: AgentLimits | None = None) -> AgentRun:
    conversation = model.start(episode.task, episode.tools, 1)
    return await ReactAgent(conversation, episode.call, limits or AgentLimits()).run(
        episode.messages
    )


STOPS = {
    "a refusal": StopReason.REFUSED,
    "content with a NUL and a surrogate": StopReason.FINISHED,
    "no length, ended by closing": StopReason.FINISHED,
    "usage past all bounds": StopReason.FINISHED,
    "finish_reason unheard of": StopReason.FINISHED,
}


@pytest.mark.parametrize(("name", "stop"), STOPS.items(), ids=STOPS.keys())
async def test_an_end_that_is_data(episode: Episode, name: str, stop: StopReason) -> None:
    """Refusal and odd answers end a rollout that is scored."""
    async with raw_endpoint(SCENES[name].act) as server:
        model = OpenAIModel(Endpoint("m", server.url, max_retries=0), api_key=KEY)
        run = await play(model, episode)
        await model.aclose()
    assert run.stop_reason == stop
    assert episode.score().reward == 0.0


@pytest.mark.parametrize(
    ("name", "stop", "error"),
    [
        ("400 content filter, Azure", StopReason.REFUSED, ModelRefusedRequest),
        ("403 moderation, OpenRouter", StopReason.REFUSED, ModelRefusedRequest),
        ("message filtered away", StopReason.REFUSED, ModelRefusedRequest),
        ("400 context, vLLM", StopReason.CONTEXT_OVERFLOW, ContextOverflow),
        ("500 context", StopReason.CONTEXT_OVERFLOW, ContextOverflow),
        ("413", StopReason.CONTEXT_OVERFLOW, ContextOverflow),
    ],
)
async def test_a_filter_and_an_overflow_are_data_after_the_first_answer_and_faults_before(
    episode: Episode, name: str, stop: StopReason, error: type[ModelError]
) -> None:
    """An endpoint that never took a request has shown nothing about the agent, and what a filter
    withholds at once would make a dataset of zeros.
    """
    looks = sends(reply(json.dumps(called(name="list_patients")).encode()))
    words = "content filter withholds" if error is ModelRefusedRequest else None
    async with raw_endpoint(looks, SCENES[name].act) as server:
        model = OpenAIModel(Endpoint("m", server.url, max_retries=3, backoff=AT_ONCE), api_key=KEY)
        run = await play(model, episode)
        assert run.stop_reason == stop
        with pytest.raises(error, match=words):
            await play(model, episode)
        await model.aclose()


ODD_CALLS = (
    "arguments an object",
    "arguments a number",
    "arguments NaN",
    "calls with one id",
    "ids that are numbers",
)


@pytest.mark.parametrize("name", ODD_CALLS)
async def test_odd_calls_get_results_and_the_rollout_goes_on(episode: Episode, name: str) -> None:
    """Each call has exactly one answer under an id of its own; the next request is made, and
    answered.
    """
    async with raw_endpoint(SCENES[name].act, sends(reply(answer_body("done")))) as server:
        model = OpenAIModel(Endpoint("m", server.url, max_retries=1, backoff=AT_ONCE), api_key=KEY)
        run = await play(model, episode)
        await model.aclose()
    assert run.stop_reason == StopReason.FINISHED
    ids = [call["id"] for each in run.messages for call in each.get("tool_calls", ())]
    assert ids
    assert len(set(ids)) == len(ids)
    assert [each["tool_call_id"] for each in run.messages if each["role"] == "tool"] == ids


@pytest.mark.parametrize("name", ["closed within the body", "404 model", "429 no money"])
async def test_an_end_that_is_an_error(episode: Episode, name: str) -> None:
    """What is no rollout raises what the model raised."""
    async with raw_endpoint(SCENES[name].act) as server:
        model = OpenAIModel(Endpoint("m", server.url, max_retries=1, backoff=AT_ONCE), api_key=KEY)
        with pytest.raises(ModelError) as caught:
            await play(model, episode)
        await model.aclose()
    kinds = {"retry": ModelError, "final": ModelRefusedRequest, "auth": ModelAuthError}
    assert type(caught.value) is kinds[SCENES[name].end]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_rollouts_time_ends_while_a_request_hangs(
    episode: Episode, *, stream: bool
) -> None:
    """The request may take an hour, the rollout may not: it ends by its own clock, also while it
    waits to try again.
    """
    for act in (sends_and_hangs(b""), sends(reply(b"", "503 Busy", "Retry-After: 50"))):
        async with raw_endpoint(act) as server:
            model = OpenAIModel(
                Endpoint("m", server.url, timeout_s=3600, stream=stream), api_key=KEY
            )
            with pytest.raises(ModelError, match="no completion came"):
                await play(model, episode, AgentLimits(timeout_s=0.3))
            await model.aclose()


@asynccontextmanager
async def expert_behind_faults(episode: Episode, *names: str) -> AsyncGenerator[str]:
    """The expert's endpoint behind one that does these things first, one for each connection."""

    async def handle(request: dict[str, Any]) -> Completion:
        return ExpertConversation(episode.task).next_turn(
            [canonical_message(each) for each in request["messages"]]
        )

    async with serve(handle) as url:
        port = int(url.rpartition(":")[2].partition("/")[0])

        async def forward(wire: Wire) -> None:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(wire.raw.replace(b"HTTP/1.1\r\n", b"HTTP/1.1\r\nConnection: close\r\n", 1))
            while data := await reader.read(65536):
                await wire.send(data)
            writer.close()

        async with raw_endpoint(*(SCENES[name].act for name in names), forward) as server:
            yield server.url


@pytest.mark.parametrize("stream", [False, True])
async def test_a_rollout_survives_what_heals(episode: Episode, *, stream: bool) -> None:
    """Five faults before the first answer: the expert behind them still solves the task, to the
    full reward.
    """
    faults = (
        "reset after the request",
        "502 html",
        "truncated",
        "closed within the headers",
        "429 nonsense to wait",
    )
    async with expert_behind_faults(episode, *faults) as url:
        model = OpenAIModel(
            Endpoint("synth", url, max_retries=6, backoff=AT_ONCE, stream=stream), api_key=KEY
        )
        run = await play(model, episode)
        await model.aclose()
    assert run.stop_reason == StopReason.FINISHED
    episode.said = run.said
    assert episode.score().reward == 1.0


class Recorder:
    """A gate that lets everybody through and writes down what it sees."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def slot(self, tokens_estimate: int) -> Recorder:
        self.seen.append(tokens_estimate)
        return self

    def report(
        self, error: ModelError | None, retry_after_s: float | None, usage: Usage | None = None
    ) -> None:
        self.seen.append((None if error is None else error.status, retry_after_s, usage))

    async def __aenter__(self) -> None:
        self.seen.append("in")

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.seen.append("out")


async def test_each_attempt_goes_through_the_gate() -> None:
    """One slot and one report an attempt, the wait between them outside; a preflight asks
    nobody.
    """
    gate = Recorder()
    async with raw_endpoint(
        sends(reply(b"", "503 Busy", "Retry-After: 0")), sends(reply(answer_body()))
    ) as server:
        model = OpenAIModel(
            Endpoint("m", server.url, max_retries=1, backoff=AT_ONCE), api_key=KEY, limiter=gate
        )
        await talk(model).complete(opening())
        tokens = gate.seen[0]
        assert tokens > 0
        assert gate.seen == [
            tokens,
            "in",
            (503, 0.0, None),
            "out",
            tokens,
            "in",
            (None, None, Usage()),
            "out",
        ]
        gate.seen.clear()
        await model.preflight()
        assert gate.seen == []
        await model.aclose()


async def test_a_cancelled_request_leaves_nothing_behind() -> None:
    """The slot is left, the connection closed, and the model serves the next."""
    gate, asked = Recorder(), asyncio.Event()

    async def hang(wire: Wire) -> None:
        asked.set()
        await wire.hang()

    async with raw_endpoint(hang, sends(reply(answer_body()))) as server:
        model = OpenAIModel(Endpoint("m", server.url, max_connections=1), api_key=KEY, limiter=gate)
        waiting = asyncio.create_task(talk(model).complete(opening()))
        await asked.wait()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert gate.seen[1:] == ["in", "out"]
        assert (await talk(model).complete(opening())).content == "fine"
        await model.aclose()
