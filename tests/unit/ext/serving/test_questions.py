"""Questions of one's own to ``serve-agent``: a real endpoint, real databases, and HTTP."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp
import pytest
from openai import AsyncOpenAI

from envs.types import ToolCall
from synth.config import from_dict
from synth.core.foundation.shipped import find_world
from synth.errors import ModelError, OperatorError
from synth.ext.serving.agent_server import serve_agent
from synth.ext.serving.live.supervised_sessions import SupervisedSessions
from synth.ext.serving.live.world import open_live
from synth.ext.serving.openai_server import serve
from synth.ext.serving.questions.asking import Conversations, Questions
from synth.ext.serving.questions.databases import QuestionDatabases, worlds_in
from synth.model import Completion
from synth.prepare import prepare
from tests.unit import talking_world

TOKEN = "the-token-of-this-test"
Json = dict[str, Any]


async def analyst(request: Json) -> Completion:
    """Looks for the table, counts its rows, and says so; it tries to "delete" them. Of a question
    with "before" it says how many results it has seen.
    """
    messages: list[Json] = request["messages"]
    question, last = [one for one in messages if one["role"] == "user"][-1], messages[-1]
    if "before" in question["content"]:
        results = sum(message["role"] == "tool" for message in messages)
        return Completion(f"Before this there were {results} results.")
    if "break" in question["content"]:
        raise ModelError("the endpoint is gone", retryable=False, status=400)
    if last["role"] == "user":
        return _calls(len(messages), "find_tables", question=last["content"])
    found = json.loads(last["content"])
    if "tables" in found:
        if not found["tables"]:
            return Completion("No database has that.")
        best = found["tables"][0]
        verb = "DELETE" if "delete" in question["content"] else "SELECT count(*) AS n"
        sql = f"{verb} FROM {best['table']}"
        return _calls(len(messages), "run_select_query", database=best["database"], sql=sql)
    if "rows" not in found:
        return Completion(f"It failed: {last['content']}")
    asked = json.loads(messages[-2]["tool_calls"][0]["function"]["arguments"])
    return Completion(f"{found['rows'][0][0]} rows in {asked['database']}")


def _calls(turn: int, name: str, **arguments: object) -> Completion:
    call = ToolCall.of(name, arguments, f"call_{turn}")
    return Completion(tool_calls=(call,), finish_reason="tool_calls")


class Visitor:
    """A plain HTTP client with the token."""

    def __init__(self, http: aiohttp.ClientSession, url: str, openai: AsyncOpenAI) -> None:
        self.http, self.url, self.openai = http, url, openai

    async def ask(self, question: str, conversation: str | None = None) -> list[Json]:
        body = {"question": question} | ({"conversation": conversation} if conversation else {})
        async with self.http.post(f"{self.url}/api/questions", json=body) as answer:
            if answer.status != 200:
                return [{"status": answer.status, **await answer.json()}]
            text = await answer.text()
        return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]

    async def chat(self, *said: str) -> str:
        """The answer to the last of ``said``: questions and answers in turn."""
        roles = ("user", "assistant")
        messages: Any = [
            {"role": roles[place % 2], "content": text} for place, text in enumerate(said)
        ]
        done = await self.openai.chat.completions.create(model="analyst", messages=messages)
        return done.choices[0].message.content or ""


@asynccontextmanager
async def visiting(
    folder: Path,
    *others: Path | str,
    kept: Path | None = None,
    at_once: int = 16,
    model: str = "openai",
) -> AsyncGenerator[Visitor]:
    world = folder / "talk"
    if not world.exists():
        world.mkdir(parents=True)
        talking_world.make(world)
    async with AsyncExitStack() as stack:
        endpoint = await stack.enter_async_context(serve(analyst, models=["analyst"]))
        options = {"kind": model, "name": "analyst"}
        if model == "openai":
            options |= {"base_url": endpoint, "api_key_env": None}
        config = {"env": {"path": str(world)}, "model": options, "tasks": {"count": 3}}
        run = prepare(from_dict({**config, "tasks": {"count": 3, "families": ["price"]}}))
        live = await stack.enter_async_context(open_live(run))
        scratch = Path(stack.enter_context(TemporaryDirectory()))
        databases = stack.enter_context(QuestionDatabases(scratch, run.spec.limits))
        databases.add(world, "sqlite")
        for other in worlds_in([str(name) for name in others]):
            databases.add(other, "sqlite")
        conversations = stack.enter_context(Conversations(kept))
        questions = Questions(live, databases, conversations, at_once=at_once)
        sessions = SupervisedSessions(live, at_once=4, idle_s=60)
        url = await stack.enter_async_context(serve_agent(sessions, TOKEN, questions=questions))
        headers = {"Authorization": f"Bearer {TOKEN}"}
        http = await stack.enter_async_context(aiohttp.ClientSession(headers=headers))
        openai = AsyncOpenAI(base_url=f"{url}/v1", api_key=TOKEN, max_retries=0)
        yield Visitor(http, url, await stack.enter_async_context(openai))


def kinds(events: Sequence[Json]) -> list[str]:
    return [event["event"] for event in events]


async def test_a_question_is_answered_by_a_query_of_the_right_database(tmp_path: Path):
    async with visiting(tmp_path, "library", "ehr_db") as visitor:
        async with visitor.http.get(f"{visitor.url}/api/world") as answer:
            assert (await answer.json())["databases"] == ["talk", "library", "ehr_db"]
        events = await visitor.ask("How many books are there?")
        assert kinds(events).count("tool_call") == 2
        assert kinds(events)[-2:] == ["agent_finish", "answer"]
        assert re.fullmatch(r"\d+ rows in library", events[-1]["text"])
        assert (await visitor.ask("How many patients?"))[-1]["text"].endswith("in ehr_db")


async def test_the_next_question_knows_the_results_of_the_first(tmp_path: Path):
    async with visiting(tmp_path, "library") as visitor:
        first = (await visitor.ask("How many books?"))[-1]
        then = (await visitor.ask("And before?", first["conversation"]))[-1]
        assert then["conversation"] == first["conversation"]
        assert then["text"] == "Before this there were 2 results."
        assert (await visitor.ask("And before?"))[-1]["text"] == "Before this there were 0 results."


async def test_openais_client_goes_on_by_the_messages_that_it_sends_again(tmp_path: Path):
    async with visiting(tmp_path, "library") as visitor:
        first = await visitor.chat("How many books?")
        assert first.endswith("in library")
        second = await visitor.chat("How many books?", first, "How many members?")
        assert second.endswith("in library")
        said = ("How many books?", first, "How many members?", second)
        assert await visitor.chat(*said, "before?") == "Before this there were 4 results."
        # asked again from an earlier place, and after an answer that the server never gave
        assert await visitor.chat(*said[:2], "before?") == "Before this there were 2 results."
        assert await visitor.chat("Hi", "Hello", "before?") == "Before this there were 0 results."


async def test_openais_client_gets_the_answer_as_a_stream(tmp_path: Path):
    async with visiting(tmp_path, "library") as visitor:
        stream = await visitor.openai.chat.completions.create(
            model="analyst", messages=[{"role": "user", "content": "How many books?"}], stream=True
        )
        text = "".join([part.choices[0].delta.content or "" async for part in stream])
        assert text.endswith("in library")


async def test_what_was_answered_outlives_the_server(tmp_path: Path):
    kept = tmp_path / "kept.sqlite"
    async with visiting(tmp_path, "library", kept=kept) as visitor:
        first = (await visitor.ask("How many books?"))[-1]
        by_openai = await visitor.chat("How many members?")
    assert kept.stat().st_mode & 0o077 == 0
    async with visiting(tmp_path, "library", kept=kept) as visitor:
        then = (await visitor.ask("And before?", first["conversation"]))[-1]
        assert then["text"] == "Before this there were 2 results."
        said = await visitor.chat("How many members?", by_openai, "before?")
        assert said == "Before this there were 2 results."
    async with visiting(tmp_path, "library") as visitor:
        (refused,) = await visitor.ask("And before?", first["conversation"])
        assert (refused["status"], refused["error"]["type"]) == (404, "not_found")


async def test_fifty_conversations_at_once_are_kept_apart(tmp_path: Path):
    async with visiting(tmp_path, "library", at_once=8) as visitor:

        async def converse(turns: int) -> str:
            name = (await visitor.ask("How many books?"))[-1]["conversation"]
            for _ in range(turns % 3):
                await visitor.ask("How many members?", name)
            return (await visitor.ask("And before?", name))[-1]["text"]

        said = await asyncio.gather(*(converse(number) for number in range(50)))
    wanted = [f"Before this there were {2 + 2 * (number % 3)} results." for number in range(50)]
    assert said == wanted


async def test_a_conversation_has_one_turn_at_a_time(tmp_path: Path):
    async with visiting(tmp_path, "library") as visitor:
        name = (await visitor.ask("How many books?"))[-1]["conversation"]
        both = await asyncio.gather(*(visitor.ask("How many members?", name) for _ in range(2)))
        assert sorted(events[-1].get("status", 200) for events in both) == [200, 409]
        assert (await visitor.ask("before?", name))[-1]["text"].endswith("4 results.")


async def test_a_database_that_does_not_open_is_left_out(tmp_path: Path):
    for name, schema in (
        ("broken", "CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT CHECK (x));\nCREATE TABEL u;"),
        ("whole", "CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT NOT NULL);"),
    ):
        (tmp_path / "worlds" / name).mkdir(parents=True)
        (tmp_path / "worlds" / name / "schema.sql").write_text(schema)
        (tmp_path / "worlds" / name / "seed.sql").write_text("")
    async with visiting(tmp_path, tmp_path / "worlds") as visitor:
        async with visitor.http.get(f"{visitor.url}/api/world") as answer:
            assert (await answer.json())["databases"] == ["talk", "whole"]
        assert (await visitor.ask("How many books?"))[-1]["text"] == "0 rows in whole"


async def test_two_databases_of_one_name_and_the_same_tables_are_told_apart(tmp_path: Path):
    for place, title in (("north", "Peer Gynt"), ("south", "Il Gattopardo")):
        world = tmp_path / place / "books"
        world.mkdir(parents=True)
        (world / "schema.sql").write_text(
            "CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT);"
        )
        rows = f"INSERT INTO books VALUES (1, '{title}')" + (
            ", (2, 'Le zie'), (3, 'La Gatta')" if place == "south" else ""
        )
        (world / "seed.sql").write_text(f"{rows};")
    async with visiting(tmp_path, tmp_path / "north", tmp_path / "south") as visitor:
        assert (await visitor.ask("Peer Gynt?"))[-1]["text"] == "1 rows in books"
        assert (await visitor.ask("Gattopardo?"))[-1]["text"] == "3 rows in books_2"


async def test_a_question_that_cannot_be_asked_is_refused(tmp_path: Path):
    async with visiting(tmp_path) as visitor:
        for question in ("", " \n", "x" * 20_001, "🎸" * 20_001, "x" * 300_000):
            (refused,) = await visitor.ask(question)
            assert refused["status"] == (413 if len(question) == 300_000 else 400)


async def test_hostile_questions_are_answered(tmp_path: Path):
    async with visiting(tmp_path, "library") as visitor:
        for question in (
            '"books" OR NEAR(*) \x00',
            "'; DROP TABLE books; --",
            "📚 books",
            "\ud800books books",
            "book " * 3_999,
        ):
            assert (await visitor.ask(question))[-1]["text"].endswith("in library"), question


async def test_a_model_that_breaks_ends_the_turn_and_not_the_conversation(tmp_path: Path):
    async with visiting(tmp_path, "library") as visitor:
        name = (await visitor.ask("How many books?"))[-1]["conversation"]
        assert "agent_error" in kinds(await visitor.ask("break", name))
        assert (await visitor.ask("before?", name))[-1]["text"].endswith("2 results.")
        with pytest.raises(Exception, match="the endpoint is gone"):
            await visitor.chat("break")


async def test_the_scripted_expert_answers_no_questions_and_says_so(tmp_path: Path):
    async with visiting(tmp_path, model="scripted") as visitor:
        (refused,) = await visitor.ask("How many books?")
        assert "--model NAME" in refused["error"]["message"]
        with pytest.raises(Exception, match="--model NAME"):
            await visitor.chat("How many books?")
        async with visitor.http.get(f"{visitor.url}/api/world") as answer:
            assert (await answer.json())["databases"] == []


async def test_both_apis_want_the_token(tmp_path: Path):
    async with visiting(tmp_path) as visitor, aiohttp.ClientSession() as stranger:
        for path in ("/api/questions", "/v1/chat/completions"):
            async with stranger.post(f"{visitor.url}{path}", json={}) as answer:
                assert answer.status == 401


def test_only_so_many_answers_are_kept_and_only_for_so_long(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("synth.ext.serving.questions.asking.KEPT", 3)
    with Conversations() as kept:
        for number in range(5):
            kept.keep(f"c{number}", [], [{"role": "user", "content": str(number)}])
        assert [kept.named(f"c{number}") is None for number in range(5)] == [
            True,
            True,
            *[False] * 3,
        ]
        monkeypatch.setattr("synth.ext.serving.questions.asking.KEPT_S", 0.0)
        assert kept.named("c4") is None


def test_a_file_that_holds_something_else_is_refused(tmp_path: Path):
    (tmp_path / "notes").write_text("no database at all, but long enough to be read as one" * 20)
    with pytest.raises(OperatorError, match="--conversations") as caught:
        Conversations(tmp_path / "notes")
    held = [item.resolve() for item in Path("/proc/self/fd").glob("*")]
    assert tmp_path / "notes" not in held, caught
    with pytest.raises(OperatorError, match="--conversations"):
        Conversations(tmp_path / "nowhere" / "kept.sqlite")


def test_a_folder_of_worlds_stands_for_each_of_them(tmp_path: Path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "schema.sql").touch()
    assert [*worlds_in(["library", str(tmp_path)])] == [
        find_world("library"),
        tmp_path / "a",
        tmp_path / "b",
    ]
    with pytest.raises(OperatorError, match="nowhere"):
        list(worlds_in(["nowhere"]))
