"""Sessions over MCP and of serve-agent on PostgreSQL and MariaDB: isolated, recorded, replayable."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.core.dataset.reader import Dataset
from synth.ext.serving.live.recorder import Recorder
from synth.ext.serving.live.supervised_sessions import SupervisedSessions
from synth.ext.serving.live.world import open_live
from synth.ext.serving.mcp.transports import serve_http
from synth.prepare import PreparedRun
from tests.e2e.command import synth
from tests.e2e.test_mcp import TOKEN, client, play, text_of
from tests.servers import VARIABLES, server
from tests.unit import talking_world
from tests.unit.ext.serving.live_world import desk, run_of

ENGINES = ("postgresql", "mariadb")


def run_on(engine: str, folder: Path, family: str, model: str) -> PreparedRun:
    """A run of the talking world, in the SQL of servers."""
    server(engine)
    world = talking_world.make(folder / "talk")
    for name, old, new in (
        ("executors.py", "instr(name, :n)", "position(:n in name) > 0"),
        ("schema.sql", "name TEXT", "name VARCHAR(50)"),
    ):
        text = (world / name).read_text("utf-8")
        assert old in text
        (world / name).write_text(text.replace(old, new), "utf-8")
    database = {"engine": engine, "dsn_env_var": VARIABLES[engine]}
    return run_of(folder, [family], model=model, database=database)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
async def test_clients_over_mcp_have_sandboxes_of_their_own(tmp_path: Path, engine: str):
    async with (
        desk(run_on(engine, tmp_path, "price", "remote"), record=tmp_path / "out") as at,
        serve_http(at.book, "talk", TOKEN) as url,
        client(f"{url}/first") as first,
        client(f"{url}/second") as second,
    ):
        await second.call_tool("plan_item", {"name": "Desk", "due": "2026-04-03"})
        assert "2026-04-03" in text_of(await second.call_tool("all_items", {}))
        assert "2026-04-03" not in text_of(await first.call_tool("all_items", {}))
        await play(first)
    assert sorted(report.reward or 0.0 for report in at.reports) == [0.0, 1.0]
    with Dataset.open(tmp_path / "out") as dataset:
        assert sum(row["reward"] for row in dataset.rows()) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
async def test_supervised_sessions_at_once_are_recorded(tmp_path: Path, engine: str):
    async with open_live(run_on(engine, tmp_path, "plan_asked", "scripted")) as live:
        recorder = await Recorder.open(live, tmp_path / "out")
        sessions = SupervisedSessions(live, at_once=3, idle_s=60, recorder=recorder)
        opened = [await sessions.open({}) for _ in range(3)]
        kinds = [[event.kind async for event in one.follow() if event] for one in opened]
        await sessions.aclose()
        recorder.close()
    assert [seen[-1] for seen in kinds] == ["score"] * 3
    assert all("row_changes" in seen for seen in kinds)
    with Dataset.open(tmp_path / "out") as dataset:
        assert [row["reward"] for row in dataset.rows()] == [1.0] * 3
    synth("replay", "out", "--trust", cwd=tmp_path)
