"""``synth serve-agent``: by a plain HTTP client against the command, and in a real browser."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from envs.types import ToolCall
from synth.ext.serving.agent_server import serve_agent
from synth.ext.serving.live.supervised_sessions import SupervisedSessions
from synth.ext.serving.live.world import open_live
from synth.model import Completion, Conversation, Delta, Model, OnDelta
from synth.task import Message, Task
from tests.e2e.chromium import FLAGS, HOSTILE, executable
from tests.e2e.command import synth
from tests.unit.ext.serving.live_world import run_of

TOKEN = "the-token-of-this-test"


def ask(url: str, body: object = None) -> Any:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    return urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=20)


class HostileModel(Model, Conversation):
    """Says hostile text, plans a desk, and says it again."""

    name = HOSTILE[:60]

    def start(self, task: Task, tools: Sequence[object], seed: int) -> Conversation:
        return self

    async def complete(
        self, messages: Sequence[Message], on_delta: OnDelta | None = None
    ) -> Completion:
        if on_delta is not None:
            on_delta(Delta("content", HOSTILE))
        if any(message["role"] == "tool" for message in messages):
            return Completion(HOSTILE)
        arguments = {"name": "Desk", "due": "2026-04-03", "note": HOSTILE}
        call = ToolCall.of("plan_item", arguments, "call_0")
        return Completion(HOSTILE, (call,), reasoning_content=HOSTILE, finish_reason="tool_calls")


@asynccontextmanager
async def page_of(folder: Path, width: int) -> AsyncIterator[Any]:
    """The page in a browser; at the end it has asked nobody else and run nothing hostile."""
    async_api = pytest.importorskip("playwright.async_api")
    run = run_of(folder, ["plan_asked"], model="scripted")
    async with open_live(run, HostileModel()) as live, async_api.async_playwright() as playwright:
        sessions = SupervisedSessions(live, at_once=2, idle_s=60)
        async with serve_agent(sessions, TOKEN) as base:
            browser = await playwright.chromium.launch(executable_path=executable(), args=FLAGS)
            page = await browser.new_page(viewport={"width": width, "height": 900})
            asked: list[str] = []
            problems: list[str] = []
            page.on("request", lambda request: asked.append(request.url))
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on("console", lambda said: problems.append(said.text))
            await page.goto(f"{base}/?token={TOKEN}")
            yield page
            assert await page.evaluate("window.owned") is None
            assert TOKEN not in await page.evaluate("location.href")
            assert not [url for url in asked if not url.startswith(base)]
            assert problems == []
            await browser.close()


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
async def test_in_a_browser_a_person_approves_answers_and_sees_the_rows(tmp_path: Path, width: int):
    async with page_of(tmp_path, width) as page:
        await page.wait_for_selector("#task option", state="attached")
        await page.select_option("#task", index=0)
        assert await page.evaluate("location.hash") == "#job=0"
        await page.select_option("#user", "person")
        await page.click("#go")
        await page.click("text=Approve")
        await page.wait_for_selector(".changes")
        assert 'due: null -> "2026-04-03"' in await page.inner_text(".changes")
        await page.fill("#words", "Thank you. <b>Bye</b>")
        await page.click("#end")
        await page.wait_for_selector("text=reward 0")
        assert await page.inner_text("#status") == "It is over: the user ended the conversation."
        assert await page.inner_text("#user option >> nth=0") == "scripted"
        assert "You approved it." in await page.inner_text("article.call")
        await page.wait_for_selector("#next")
        text = await page.inner_text("#log")
        assert "<script>window.owned = 1</script>" in text
        assert "\\u202e" in text
        assert "<b>Bye</b>" in text
        wide = await page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width
        if shots := os.environ.get("SYNTH_SCREENSHOTS"):
            await page.screenshot(path=f"{shots}/serve-agent-{width}.png", full_page=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["library", "--base-url", "http://127.0.0.1:9/v1"], "--model"),
        (["library", "--model", "some-model"], "OPENAI_API_KEY"),
    ],
)
def test_what_cannot_be_served_is_said_at_once(tmp_path: Path, words: list[str], message: str):
    done = synth("serve-agent", *words, cwd=tmp_path, env={"OPENAI_API_KEY": ""}, code=None)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
