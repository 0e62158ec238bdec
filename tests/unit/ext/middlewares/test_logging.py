"""The log: lines of JSON with places, bounded, without secrets."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from synth.agent import ReactAgent
from synth.core.agent.rollout_result import AgentLimits
from synth.core.agent.state import RolloutIdentity
from synth.core.foundation.scrubber import Scrubber
from synth.errors import ModelError
from synth.ext.middlewares import LoggingConfig
from synth.ext.middlewares.logging import CLIPPED, make
from synth.middleware import MiddlewareHome, start
from tests.unit.agent.test_react import DONE, OPENING, Lines, calls, dispatch, find

KEY = "a-key-that-nobody-may-read"


async def lines(home: Path, model: Lines, **options: Any) -> list[dict[str, Any]]:
    maker = make(
        LoggingConfig(**options),
        MiddlewareHome(home, "run", "w0", home, hide=Scrubber([KEY]).message),
    )
    agent = ReactAgent(
        model,
        dispatch,
        AgentLimits(),
        middlewares=[start("logging", maker)],
        identity=RolloutIdentity("r7", 3, 1, "t"),
    )
    with contextlib.suppress(ModelError):
        await agent.run(OPENING)
    await maker.aclose()
    return [
        json.loads(line)
        for line in (home / "logs" / "agent-w0.jsonl").read_text("utf-8").splitlines()
    ]


async def test_each_line_says_where_it_belongs(tmp_path: Path):
    told = await lines(tmp_path, Lines(calls(find("1"), ("2", "find", "{")), DONE))
    assert [each["event"] for each in told] == [
        *("rollout_start", "llm_answer", "tool_result", "tool_result", "llm_answer", "rollout_end")
    ]
    assert {(each["run"], each["worker"], each["job"], each["rollout"]) for each in told} == {
        ("run", "w0", 3, "r7")
    }
    assert [each["step"] for each in told] == [0, 0, 1, 1, 1, 2]
    assert [each["category"] for each in told[2:4]] == [None, "malformed_call"]
    assert told[-1]["stop_reason"] == "finished"
    assert "Zoë" not in json.dumps(told, ensure_ascii=False), (
        "what was said is not logged unless that is asked for"
    )


async def test_contents_are_logged_on_demand_without_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SOME_API_KEY", "another-secret-value")
    model = Lines(calls(find("1", f"{KEY} and another-secret-value and Zoë")), DONE)
    told = await lines(tmp_path, model, contents=True, level="debug")
    text = json.dumps(told, ensure_ascii=False)
    assert "Zoë" in text
    assert KEY not in text
    assert "another-secret-value" not in text
    assert {"llm_call", "tool_call", "tool_executed"} < {each["event"] for each in told}


@pytest.mark.parametrize("key", [KEY, 'quo"ted\\key', "schlüssel-wörter"])
async def test_no_part_of_a_key_is_logged_however_it_is_written(tmp_path: Path, key: str):
    """In an argument (JSON in JSON), in prose, and where a long text is cut in the middle of it."""
    home = MiddlewareHome(tmp_path, "run", "w0", tmp_path, hide=Scrubber([key]).message)
    maker = make(LoggingConfig(contents=True), home)
    texts = [
        key,
        json.dumps({"name": key}),
        "x" * (CLIPPED - 5) + key,
        json.dumps({"a": "x" * (CLIPPED - 12) + key}),
    ]
    for text in texts:
        maker.write({"event": "x", "arguments": text})
    await maker.aclose()
    written = [
        json.loads(line)["arguments"]
        for line in (tmp_path / "logs" / "agent-w0.jsonl").read_text().splitlines()
    ]
    assert len(written) == len(texts)
    for text in written:
        assert key[:5] not in text
        assert len(text) <= CLIPPED + 3


async def test_what_breaks_a_rollout_off_is_logged(tmp_path: Path):
    told = await lines(tmp_path, Lines(calls(find("1")), ModelError("gone")))
    assert told[-2]["event"] == "llm_error"
    assert (told[-1]["stop_reason"], told[-1]["error"]) == ("model_error", "ModelError: gone")


async def test_a_log_is_bounded(tmp_path: Path):
    said = calls(find("1", "x" * 1_500))
    told = await lines(tmp_path, Lines(*[said] * 29, DONE), contents=True, max_mb=1)
    assert told[-1]["event"] == "rollout_end"
    maker = make(LoggingConfig(max_mb=1), MiddlewareHome(tmp_path, "run", "w1", tmp_path))
    for _ in range(1_500):
        maker.write({"event": "x", "text": "y" * 1_000})
    await maker.aclose()
    file = tmp_path / "logs" / "agent-w1.jsonl"
    assert file.stat().st_size < 1_100_000
    assert json.loads(file.read_text().splitlines()[-1])["event"] == "log_full"
