"""A key that a tool of the world gives away is nowhere in what leaves the machine."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from synth.core.config.compose import compose
from synth.core.dataset.reader import Dataset
from synth.core.dataset.texts import stored_texts
from synth.ext.serving.agent_server import serve_agent
from synth.ext.serving.known_rollouts import open_served
from synth.ext.serving.live.supervised_sessions import SupervisedSessions
from synth.ext.serving.live.world import open_live
from synth.prepare import prepare
from tests.e2e.command import synth
from tests.e2e.expert_endpoint import endpoint
from tests.e2e.test_hub import environment
from tests.e2e.test_telemetry import KEY, PLAN, ROOT, play
from tests.hub_stand_in import hub
from tests.otlp_collector import attributes, collector
from tests.unit.ext.serving.live_world import desk

pytestmark = pytest.mark.slow


@pytest.fixture
def leaking(tmp_path: Path) -> Path:
    """The library, with a tool that answers with the teacher's key by a mistake of its author."""
    world = Path(shutil.copytree(ROOT / "examples" / "library", tmp_path / "library"))
    code = (world / "executors.py").read_text("utf-8")
    leak = 'return dict(row) | {"note": os.environ.get("OPENAI_API_KEY", "none")}'
    changed = f"import os\n\n{code}".replace("return dict(row)", leak, 1)
    assert leak in changed
    (world / "executors.py").write_text(changed, "utf-8")
    return world


def texts_of(directory: Path) -> Iterator[str]:
    """Every text of a run: of its tables by their values, of other files as they are."""
    for file in sorted(directory.rglob("*")):
        if file.suffix == ".parquet":
            yield from (text for _, text in stored_texts(file))
        elif file.is_file():
            yield file.read_bytes().decode("latin-1")


def test_words_leave_where_they_are_asked_for_and_no_file_span_page_or_upload_holds_the_key(
    leaking: Path, tmp_path: Path
):
    with collector() as kept:
        rows = play(tmp_path, kept, "telemetry.otel.contents=true", world=f"env.path={leaking}")
    assert '"note":' in json.dumps(rows).replace('\\"', '"')  # the tool did answer with it
    chats = kept.named("chat")
    first = json.loads(attributes(chats[0])["gen_ai.input.messages"])
    assert first[0]["role"] == "system"
    openings = [row["messages"][0]["content"] for row in rows]
    assert first[0]["parts"][0]["content"] in openings
    tools = [attributes(span) for span in kept.named("execute_tool")]
    assert all(json.loads(tool["gen_ai.tool.call.arguments"]) is not None for tool in tools)
    assert any('"note":' in tool["gen_ai.tool.call.result"] for tool in tools)
    assert KEY.encode() not in b"".join(kept.raw)
    said: list[str] = []
    for words in (("view", "out"), ("card", "out")):
        done = synth(*words, cwd=tmp_path)
        said += [done.stdout, done.stderr]
    assert (tmp_path / "out" / "view.html").exists()
    assert not [text for text in (*texts_of(tmp_path / "out"), *said) if KEY in text]
    with Dataset.open(tmp_path / "out") as dataset:
        assert KEY not in json.dumps(list(dataset.rows()), default=str)
    with hub() as online:
        licences = ("--license", "mit", "--world-license", "mit", "--teacher-license", "mit")
        given = environment(online, tmp_path) | {"OPENAI_API_KEY": KEY}
        synth("push", "out", "acme/library", *licences, cwd=tmp_path, env=given)
        assert online.files["acme/library"]
        assert not [name for name, data in online.files["acme/library"].items() if KEY.encode() in data]  # fmt: skip


async def test_no_event_of_a_session_holds_the_key(leaking: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    plan = (*PLAN, f"env.path={leaking}")
    known: Any = compose([*plan])[0].config
    with open_served(known) as served, endpoint(served.repertoire, api_key=KEY) as url:
        model = ("model=openai", "model.name=expert", f"model.base_url={url}")
        asked = ("model.send_seed=true", "preflight=false", "model.api_key_env=OPENAI_API_KEY")
        run = prepare(compose([*plan, *model, *asked])[0].config)
        async with open_live(run) as live:
            sessions = SupervisedSessions(live, at_once=2, idle_s=60)
            async with (
                serve_agent(sessions, "token-of-this-test") as base,
                aiohttp.ClientSession(headers={"Authorization": "Bearer token-of-this-test"}) as http,
            ):  # fmt: skip
                async with http.post(f"{base}/api/sessions", json={"job": 0}) as opened:
                    name = (await opened.json())["session"]
                async with http.get(f"{base}/api/sessions/{name}/events") as stream:
                    text = await stream.text()
    assert "event: score" in text
    assert '\\"note\\"' in text
    assert KEY not in text


async def test_no_answer_of_a_remote_session_holds_the_key(
    leaking: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    plan: Any = compose([*PLAN, f"env.path={leaking}", "tasks.families=[lend_book]"])[0].config
    async with desk(prepare(plan)) as at:
        session = await at.book.take("a client of MCP")
        answer = await session.call("find_member", {"name": "Ada Kern"})
    assert '"note"' in answer.text
    assert KEY not in answer.text
