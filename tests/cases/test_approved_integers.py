"""earendil-works/pi#8943: a person approves the number that is written, with all its digits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from envs.types import ToolCall
from synth.ext.serving.agent_server import serve_agent
from synth.ext.serving.live.supervised_sessions import SupervisedSessions
from synth.ext.serving.live.world import open_live
from synth.model import Completion
from synth.task import Message
from tests.e2e import chromium
from tests.unit import talking_world
from tests.unit.ext.serving.live_world import run_of
from tests.unit.scripted_model import Answering

KEY, MOST = 2512292042121000001, 2**63 - 1
TOKEN = "the-token-of-this-test"


def plans(messages: Sequence[Message]) -> Completion:
    """Make one call with a large number in its arguments."""
    if any(message["role"] == "tool" for message in messages):
        return Completion("Done.")
    arguments = {"name": "Desk", "due": "2026-04-03", "note": MOST}
    return Completion("", (ToolCall.of("plan_item", arguments, "c"),), finish_reason="tool_calls")


def world(folder: Path) -> None:
    """The talking world with large keys, and a tool that takes a number."""
    talking_world.make(folder)
    for file, old, new in (
        ("seed.sql", "(3, 'Desk'", f"({KEY}, 'Desk'"),
        ("schema.sql", "note TEXT", "note INTEGER"),
        ("executors.py", 'note: str = ""', "note: int = 0"),
    ):
        text = (folder / file).read_text()
        assert old in text
        (folder / file).write_text(text.replace(old, new))


@pytest.mark.slow
async def test_a_person_approves_what_is_written(tmp_path: Path):
    """The arguments stand on the card, and the rows that changed below it."""
    executable = chromium.executable()
    async_api = pytest.importorskip("playwright.async_api")
    (tmp_path / "talk").mkdir()
    world(tmp_path / "talk")
    run = run_of(tmp_path, ["plan_asked"], model="scripted")
    async with open_live(run, Answering(plans)) as live, async_api.async_playwright() as playwright:
        sessions = SupervisedSessions(live, at_once=1, idle_s=60)
        async with serve_agent(sessions, TOKEN) as base:
            browser = await playwright.chromium.launch(
                executable_path=executable, args=chromium.FLAGS
            )
            page = await browser.new_page()
            await page.goto(f"{base}/?token={TOKEN}")
            await page.wait_for_selector("#task option", state="attached")
            await page.click("#go")
            await page.wait_for_selector("text=Approve")
            assert str(MOST) in await page.inner_text("article.call")
            await page.click("text=Approve")
            await page.wait_for_selector(".changes")
            changes = await page.inner_text(".changes")
            await browser.close()
    assert f"item_id={KEY}" in changes
    assert f"-> {MOST}" in changes
