"""Questions of one's own: a server that is killed, and the page in a real browser."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from synth.model import Completion
from tests.e2e.chromium import FLAGS, executable, sync_api
from tests.e2e.command import COMMAND
from tests.e2e.expert_endpoint import endpoint
from tests.e2e.test_serve_agent import TOKEN, ask
from tests.unit.envs.sandboxes.attached.databases import on_server
from tests.unit.envs.sandboxes.attached.test_writes import rows_of
from tests.unit.ext.serving.test_questions import analyst

pytestmark = pytest.mark.slow


class Slow:
    """The analyst of the other tests; of a question with "wait" it says the end only when told."""

    def __init__(self) -> None:
        self.waits, self.over = threading.Event(), threading.Event()

    async def __call__(self, request: dict[str, Any]) -> Completion:
        messages = request["messages"]
        question = [one["content"] for one in messages if one["role"] == "user"][-1]
        if (
            "wait" in question
            and messages[-1]["role"] == "tool"
            and "rows" in messages[-1]["content"]
        ):
            self.waits.set()
            await asyncio.to_thread(self.over.wait, 60)
        return await analyst(request)


@contextmanager
def serving(
    url: str, kept: Path, *words: str, database: str = ""
) -> Generator[tuple[str, subprocess.Popen[str]]]:
    """The command itself, about two worlds or other ``words``."""
    command = [*COMMAND, "serve-agent", *(words or ["library", "--databases", "ehr_db"])]
    command += ["--model", "expert", "--base-url", url, "--token-env", "AGENT_TOKEN"]
    with subprocess.Popen(
        [*command, "--conversations", str(kept)],
        env=os.environ | {"AGENT_TOKEN": TOKEN, "THE_DB": database},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().partition("/?")[0], process
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)


def answered(base: str, question: str, conversation: str = "") -> dict[str, Any]:
    """The last event. Raises what the connection does if the server dies."""
    last = b"{}"
    with ask(f"{base}/api/questions", {"question": question, "conversation": conversation}) as said:
        for line in said:
            last = line[6:] if line.startswith(b"data: ") else last
    return json.loads(last)


@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
def test_on_a_server_worlds_answer_and_an_existing_database_does(tmp_path: Path, engine: str):
    """Worlds are built there, the existing database stays as it is, whatever is asked."""
    world = tmp_path / "writers"
    world.mkdir()
    (world / "policy.md").write_text("Answer from the database.")
    (world / "tools.yaml").write_text("- builtin: [run_select_query]\n")
    (world / "tasks.yaml").write_text(
        "families:\n"
        "- id: visits\n"
        "  ground: {key: id, sql: 'SELECT id, name FROM author'}\n"
        "  user: {says: 'Is {name} there?'}\n"
        "  gold: [{run_select_query: {sql: 'SELECT id FROM author'}}, {say: 'Yes.'}]\n"
    )
    with on_server(engine) as address, endpoint(Slow()) as url:
        before = rows_of(address)
        attached = [str(world), "--count", "3", "--databases", "library", "database=attached"]
        built = ["library", "--databases", "ehr_db", f"database.engine={engine}"]
        for words, right in ((attached, "3 rows in writers"), (built, r"\d+ rows in library")):
            words += ["database.dsn_env_var=THE_DB"]
            with serving(url, tmp_path / "kept.sqlite", *words, database=address) as (base, _):
                said = answered(base, "How many books or authors are there?")
                assert re.fullmatch(right, said["text"]), said
                refused = answered(base, "delete all books and authors")["text"]
                assert "permission_denied" in refused, refused
                then = answered(base, "And before?", said["conversation"])
                assert then["text"] == "Before this there were 2 results."
        assert rows_of(address) == before


@pytest.mark.parametrize("size", [(1280, 900), (390, 844)])
def test_in_a_browser_a_person_asks_one_database_and_asks_on(tmp_path: Path, size: tuple[int, int]):
    with (
        endpoint(Slow()) as url,
        serving(url, tmp_path / "kept.sqlite") as (base, _),
        sync_api().sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=executable(), args=FLAGS)
        page: Any = browser.new_page(viewport={"width": size[0], "height": size[1]})
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))  # pyright: ignore
        page.on("console", lambda said: problems.append(said.text))  # pyright: ignore
        page.goto(f"{base}/?token={TOKEN}")
        page.wait_for_selector("#ask:not([hidden])")
        assert page.locator("#database option").all_inner_texts() == [
            "all databases",
            "library",
            "ehr_db",
        ]
        page.select_option("#database", "ehr_db")
        page.fill("#question", "How many books, or patients with a book?")
        page.click("#send")
        page.wait_for_selector("text=rows in ehr_db")
        found = page.inner_text("article.call >> nth=0")
        assert "find_tables" in found
        assert "ehr_db.patients, ehr_db." in found
        assert "library" not in page.inner_text("#log")
        page.fill("#question", "And before?")
        page.click("#send")
        page.wait_for_selector("text=Before this there were 2 results.")
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        if shots := os.environ.get("SYNTH_SCREENSHOTS"):
            page.screenshot(path=f"{shots}/questions-{size[0]}.png", full_page=True)
        page.click("#anew")
        page.select_option("#database", "")
        page.fill("#question", "How many books?")
        page.click("#send")
        page.wait_for_selector("text=rows in library")
        assert problems == []
        browser.close()
