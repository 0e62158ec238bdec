"""``serve-agent``: a rollout as server-sent events, with decisions and turns from outside."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from jsonschema import Draft202012Validator

from synth.core.agent.events import agent_events_schema
from synth.core.dataset.reader import Dataset
from synth.errors import ModelError
from synth.ext.serving.agent_server import MAX_BODY, serve_agent
from synth.ext.serving.live.recorder import Recorder
from synth.ext.serving.live.session_registry import SessionReport
from synth.ext.serving.live.supervised_sessions import SupervisedSessions
from synth.ext.serving.live.world import open_live
from synth.model import Completion, Conversation, Delta, Model, OnDelta
from synth.task import Message, Task
from tests.unit.ext.serving.live_world import run_of
from tests.unit.scripted_model import Answering

TOKEN = "the-token-of-this-test"
Json = dict[str, Any]


class Visitor:
    """A plain HTTP client with the token."""

    def __init__(
        self,
        http: aiohttp.ClientSession,
        url: str,
        sessions: SupervisedSessions,
        reports: list[SessionReport],
    ) -> None:
        self.http, self.url, self.sessions, self.reports = http, url, sessions, reports

    async def post(self, path: str, body: object = None, **options: Any) -> tuple[int, Json]:
        options = options or {"json": {} if body is None else body}
        async with self.http.post(f"{self.url}{path}", **options) as answer:
            return answer.status, await answer.json()

    async def start(self, **asked: object) -> str:
        status, opened = await self.post("/api/sessions", asked)
        assert status == 201, opened
        return f"/api/sessions/{opened['session']}"

    async def events(self, path: str, after: int = 0) -> AsyncIterator[Json]:
        headers = {"Last-Event-ID": str(after)} if after else {}
        async with self.http.get(f"{self.url}{path}/events", headers=headers) as answer:
            assert answer.headers["Content-Type"] == "text/event-stream"
            block: Json = {}
            async for raw in answer.content:
                line = raw.decode().rstrip("\n")
                key, _, value = line.partition(": ")
                if key:
                    block[key] = value
                elif block:
                    yield {"number": int(block["id"]), **json.loads(block["data"])}
                    block = {}


@asynccontextmanager
async def visiting(
    folder: Path,
    *families: str,
    idle_s: float = 60.0,
    at_once: int = 4,
    model: Model | None = None,
    record: Path | None = None,
    samples: int = 1,
) -> AsyncIterator[Visitor]:
    prepared = run_of(folder, families or ("plan_asked",), model="scripted", samples=samples)
    async with open_live(prepared, model) as opened, AsyncExitStack() as stack:
        recorder = None if record is None else await Recorder.open(opened, record)
        if recorder is not None:
            stack.callback(recorder.close)
        reports: list[SessionReport] = []
        sessions = SupervisedSessions(
            opened, at_once=at_once, idle_s=idle_s, recorder=recorder, report=reports.append
        )
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            serve_agent(sessions, TOKEN) as url,
            aiohttp.ClientSession(headers=headers) as http,
        ):
            yield Visitor(http, url, sessions, reports)


async def whole(visitor: Visitor, path: str) -> list[Json]:
    return [event async for event in visitor.events(path)]


async def test_a_rollout_streams_as_events_of_the_schema(tmp_path: Path):
    async with visiting(tmp_path) as visitor:
        events = await whole(visitor, await visitor.start())
    kinds = [event["event"] for event in events]
    assert kinds[0] == "agent_start"
    assert kinds[-2:] == ["agent_finish", "score"]
    assert {"content_complete", "tool_call", "tool_result", "row_changes", "user_reply"} <= {*kinds}
    assert events[-1]["reward"] == 1.0
    (changed,) = (event for event in events if event["event"] == "row_changes")
    assert changed["call"]["name"] == "plan_item"
    assert changed["changes"][0]["table"] == "items"
    validator = Draft202012Validator(agent_events_schema())
    assert [event["number"] for event in events] == list(range(1, len(events) + 1))
    for event in events:
        validator.validate({key: value for key, value in event.items() if key != "number"})


async def test_who_comes_later_or_comes_back_gets_the_rest(tmp_path: Path):
    async with visiting(tmp_path) as visitor:
        path = await visitor.start()
        events = await whole(visitor, path)
        assert await whole(visitor, path) == events
        assert [event async for event in visitor.events(path, after=3)] == events[3:]


@pytest.mark.parametrize("approve", [True, False])
async def test_a_call_waits_for_its_approval(tmp_path: Path, approve: bool):
    results: list[str] = []
    async with visiting(tmp_path) as visitor:
        path = await visitor.start(approval="strict")
        async for event in visitor.events(path):
            if event["event"] == "approval_request":
                assert event["risk"] == "write"
                wrong, _ = await visitor.post(f"{path}/approvals", {"call": "x", "approve": True})
                assert wrong == 409
                decision = {"call": event["call"]["id"], "approve": approve, "reason": "not today"}
                assert (await visitor.post(f"{path}/approvals", decision))[0] == 200
                again, _ = await visitor.post(f"{path}/approvals", decision)
                assert again == 409
            if event["event"] == "tool_result" and event["call"]["name"] == "plan_item":
                results.append(event["content"])
    assert results
    assert all(("not today" in content) is not approve for content in results)


async def test_a_person_takes_the_users_turns(tmp_path: Path):
    said: list[str] = []
    async with visiting(tmp_path) as visitor:
        other = await visitor.start(user="world")
        nobodys, _ = await visitor.post(f"{other}/turns", {"text": "It is me!"})
        assert nobodys == 409
        path = await visitor.start(user="person")
        async for event in visitor.events(path):
            if event["event"] == "user_turn_request":
                turn: Json = {"text": "On 2026-04-03, please."} if not said else {"ends": True}
                said.append(event["text"])
                assert (await visitor.post(f"{path}/turns", turn))[0] == 200
            if event["event"] == "user_reply" and not event["ends"]:
                assert event["text"] == "On 2026-04-03, please."
            if event["event"] == "agent_finish":
                assert event["stop_reason"] == "user_ended"
    assert len(said) == 2


async def test_a_session_is_ended_and_its_stream_with_it(tmp_path: Path):
    async with visiting(tmp_path) as visitor:
        path = await visitor.start(user="person")
        kinds: list[str] = []
        async for event in visitor.events(path):
            kinds.append(event["event"])
            if event["event"] == "user_turn_request":
                async with visitor.http.delete(f"{visitor.url}{path}") as answer:
                    assert answer.status == 200
        assert kinds[-1] == "agent_error"
        gone, body = await visitor.post(f"{path}/turns", {"text": "Hello?"})
        assert (gone, body["error"]["type"]) == (404, "not_found")


async def test_a_session_that_nobody_follows_ends(tmp_path: Path):
    async with visiting(tmp_path, idle_s=0.05) as visitor:
        path = await visitor.start(user="person")
        session = visitor.sessions[path.rpartition("/")[2]]
        await asyncio.wait([session.logged])
        assert session.over
        assert "nobody followed it for 0.05 s" in str([one async for one in session.follow()][-1])


async def test_sessions_at_once_are_bounded(tmp_path: Path):
    async with visiting(tmp_path, at_once=1) as visitor:
        await visitor.start(user="person")
        status, body = await visitor.post("/api/sessions")
        assert (status, body["error"]["type"]) == (429, "too_many_sessions")


@pytest.mark.parametrize("token", [None, "wrong", TOKEN[:-1], "caf\udce9"])
async def test_a_wrong_token_is_refused(tmp_path: Path, token: str | None):
    async with visiting(tmp_path) as visitor, aiohttp.ClientSession() as http:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        for path in ("/", "/api/world", "/api/sessions/x/events", "/nowhere"):
            async with http.get(f"{visitor.url}{path}", headers=headers) as answer:
                assert answer.status == 401
                assert TOKEN not in await answer.text()
        async with http.get(f"{visitor.url}/api/world?token={TOKEN}") as answer:
            assert answer.status == 401  # a token in an address is for the page alone


async def test_another_name_for_loopback_is_refused(tmp_path: Path):
    async with visiting(tmp_path) as visitor:
        url = f"{visitor.url}/api/world"
        async with visitor.http.get(url, headers={"Host": "evil.example:80"}) as answer:
            assert answer.status == 403


HOSTILE: list[tuple[str, Callable[[], Json], int, str]] = [
    ("/api/sessions", lambda: {"data": b"{not json"}, 400, "bad_json"),
    ("/api/sessions", lambda: {"data": b"[1]"}, 400, "bad_json"),
    ("/api/sessions", lambda: {"data": b"[" * 100_000}, 400, "bad_json"),
    ("/api/sessions", lambda: {"data": b'{"job": NaN}'}, 400, "bad_json"),
    ("/api/sessions", lambda: {"data": b"x" * (MAX_BODY + 1)}, 413, "request_entity_too_large"),
    ("/api/sessions", lambda: {"json": {"job": 99}}, 400, "bad_request"),
    ("/api/sessions", lambda: {"json": {"job": True}}, 400, "bad_request"),
    ("/api/sessions", lambda: {"json": {"approval": ["never"]}}, 400, "bad_request"),
    ("/api/sessions", lambda: {"json": {"gold": 1}}, 400, "bad_request"),
    ("/api/sessions/x/turns", lambda: {"json": {"text": "Hi"}}, 404, "not_found"),
    ("{own}/turns", lambda: {"json": {"text": 7}}, 400, "bad_request"),
    ("{own}/turns", lambda: {"json": {"text": "x" * 50_000}}, 400, "bad_request"),
    ("{own}/turns", lambda: {"json": {"text": "Hi", "consents": "yes"}}, 400, "bad_request"),
    ("{own}/turns", lambda: {"json": {}}, 400, "bad_request"),
    ("{own}/approvals", lambda: {"json": {"call": "call_0"}}, 400, "bad_request"),
    ("/api/gold", lambda: {"json": {}}, 404, "not_found"),
]


async def test_hostile_requests_are_typed_errors(tmp_path: Path):
    async with visiting(tmp_path) as visitor:
        own = await visitor.start(user="person")
        for path, options, status, kind in HOSTILE:
            given = options()
            if "data" in given:
                given["headers"] = {"Content-Type": "application/json"}
            got, body = await visitor.post(path.format(own=own), **given)
            assert (got, body["error"]["type"]) == (status, kind), (path, body)
        status, body = await visitor.post("/api/sessions", data={"job": "1"})
        assert (status, body["error"]["type"]) == (400, "bad_request")  # a form of another site


async def test_the_page_admits_nothing_but_its_own_code(tmp_path: Path):
    async with visiting(tmp_path) as visitor, aiohttp.ClientSession() as http:  # noqa: SIM117
        async with http.get(f"{visitor.url}/?token={TOKEN}") as answer:
            page, policy = await answer.text(), answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert TOKEN not in page
    assert not [word for word in ("http:", "https:", "innerHTML", "eval(", " src=") if word in page]


class Typist(Model, Conversation):
    """Writes its answer in two pieces, and waits between them."""

    name = "typist"

    def __init__(self) -> None:
        self.goes_on = asyncio.Event()

    def start(self, task: Task, tools: Sequence[object], seed: int) -> Conversation:
        return self

    async def complete(
        self, messages: Sequence[Message], on_delta: OnDelta | None = None
    ) -> Completion:
        assert on_delta is not None
        on_delta(Delta("content", "Good"))
        await self.goes_on.wait()
        on_delta(Delta("content", "bye."))
        return Completion("Goodbye.")


async def test_an_answer_is_seen_while_it_is_written_and_later_as_a_whole(tmp_path: Path):
    typist = Typist()
    async with visiting(tmp_path, model=typist) as visitor:
        path = await visitor.start()
        pieces: list[str] = []
        async for event in visitor.events(path):
            if event["event"] == "content_delta":
                pieces.append(event["delta"]["text"])
                typist.goes_on.set()
        later = await whole(visitor, path)
    assert pieces[0] == "Good"
    kinds = [event["event"] for event in later]
    assert "content_complete" in kinds
    assert "content_delta" not in kinds


async def test_a_session_ends_when_its_last_follower_has_left(tmp_path: Path):
    async with visiting(tmp_path, idle_s=0.2, model=Typist()) as visitor:
        path = await visitor.start()
        session = visitor.sessions[path.rpartition("/")[2]]
        async with aclosing(visitor.events(path)) as events:
            async for event in events:
                if event["event"] == "content_delta":
                    break
        await asyncio.wait([session.logged])
        assert [event["event"] for event in await whole(visitor, path)][-1] == "agent_error"


def leaky(messages: Sequence[Message]) -> Completion:
    return Completion(f"My key is {os.environ['LEAKY_API_KEY']}. Goodbye.")


async def test_a_key_that_a_model_says_is_in_no_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LEAKY_API_KEY", "canary-4f9a8b7c6d5e4f3a2b1c0d9e")
    async with visiting(tmp_path, model=Answering(leaky)) as visitor:
        events = await whole(visitor, await visitor.start())
    assert "My key is" in str(events)
    assert "canary-4f9a8b7c6d5e4f3a2b1c0d9e" not in str(events)


class BrokenModel(Model):
    """Its endpoint is gone."""

    name = "gone"

    def start(self, task: Task, tools: Sequence[object], seed: int) -> Conversation:
        raise ModelError("the endpoint is gone", retryable=False)


async def test_sessions_are_recorded_as_samples_of_their_task(tmp_path: Path):
    out = tmp_path / "out"
    async with visiting(tmp_path, record=out, samples=2) as visitor:
        for _ in range(3):
            await whole(visitor, await visitor.start(job=2))
        left = await visitor.start(job=0, approval="strict")
        async with visitor.http.delete(f"{visitor.url}{left}") as answer:
            assert answer.status == 200
    assert [report.reward for report in visitor.reports] == [1.0, 1.0, 1.0]
    assert [report.broke is None for report in visitor.reports] == [True, True, False]
    with Dataset.open(out) as dataset:
        assert [(row["job_index"], row["sample_index"]) for row in dataset.rows()] == [
            *((2, 0), (3, 1))
        ]
    async with visiting(tmp_path, record=out, samples=2) as visitor:
        await whole(visitor, await visitor.start(job=0))
    with Dataset.open(out) as dataset:
        assert [row["job_index"] for row in dataset.rows()] == [0, 2, 3]


async def test_a_person_who_answers_is_named_in_the_row(tmp_path: Path):
    out = tmp_path / "out"
    async with visiting(tmp_path, record=out) as visitor:
        path = await visitor.start(user="person")
        turns = iter([{"text": "On 2026-04-03, please."}, {"text": "Forget it.", "ends": True}])
        async for event in visitor.events(path):
            if event["event"] == "user_turn_request":
                await visitor.post(f"{path}/turns", next(turns))
    with Dataset.open(out) as dataset:
        (row,) = dataset.rows()
    assert row["user_model"] == "person"
    assert [event["told"] for event in row["events"] if "told" in event] == [["day"], []]
    assert row["reward"] == 0.0


async def test_a_session_that_breaks_is_an_error_row(tmp_path: Path):
    out = tmp_path / "out"
    async with visiting(tmp_path, record=out, model=BrokenModel()) as visitor:
        events = await whole(visitor, await visitor.start())
    assert events[-1]["event"] == "agent_error"
    assert [report.broke for report in visitor.reports] == ["the endpoint is gone"]
    with Dataset.open(out) as dataset:
        assert [error["error_type"] for error in dataset.errors()] == ["ModelError"]
