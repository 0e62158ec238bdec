"""A query that was handed in to do harm: it is judged where it can be killed, is wrong, and the
next one is judged as ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import synth
from envs.processes import close_pools
from envs.sandboxes.base import DatabaseTarget, Template
from envs.types import Limits, ToolResult
from envs.world import query as asking
from envs.world.loader import World, load_world
from synth.core.tasks.families import FamilyTasks
from synth.core.validation.prove import prove
from synth.episode import Episode
from synth.task import Task
from synth.verdict import Verdict
from tests.servers import server
from tests.unit.asking_world import asking_world

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[4] / "examples"
LIMITS = Limits(statement_timeout_ms=300)
ENDLESS = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT"

BOMBS = {
    "time": f"{ENDLESS} count(*) FROM n",
    "memory": (
        "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 9000000)"
        " SELECT group_concat(x) FROM n"
    ),
    "a value": "SELECT length(zeroblob(2000000000))",
}
"""One for each bound; what else sandboxes end is in `sandboxes/test_attack_scripts.py`."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    yield load_world(asking_world(tmp_path_factory.mktemp("sql") / "rooms"))
    close_pools()


@pytest.fixture(scope="module")
def task(world: World) -> Task:
    with synth.open(world.path, family="guests") as episode:
        return episode.task


def judged(
    world: World, template: Template, task: Task, *queries: str, tool: str = "submit_sql"
) -> tuple[Verdict, float | None]:
    """The sql gate's verdict, and the reward; the calls of the tool themselves are not executed."""

    async def work(episode: Episode) -> Any:
        for sql in queries:
            await episode.call(tool, {"sql": "SELECT 1"})
            episode.calls[-1] = replace(episode.calls[-1], arguments={"sql": sql})
        await episode.say("Done.")
        return await episode.scored()

    with Episode(task, world, template, LIMITS) as episode:
        score = asyncio.run(work(episode))
    return next(each for each in score.verdicts if each.verifier == "sql"), score.reward


@pytest.mark.parametrize("engine", ["postgresql", "mysql"])
def test_a_bomb_is_a_wrong_answer_on_a_server_too(engine: str):
    world = load_world(EXAMPLES / "shop_sql")
    with world.template(engine, 0, DatabaseTarget(server(engine))) as made:
        source = FamilyTasks(world, made, ["refunds_for_reason"], 0)
        asked = asyncio.run(prove(source.task("refunds_for_reason", 0, 0), world, made))
        bomb = "SELECT count(*) FROM " + ", ".join(f"order_items i{n}" for n in range(12))
        verdict, reward = judged(world, made, asked, bomb, tool="run_select_query")
        assert (verdict.score, reward) == (0.0, 0.0)
        assert verdict.detail["category"] in {"timeout", "limit_exceeded"}, verdict
        right = asked.gates[1].options["query"]
        assert judged(world, made, asked, right, tool="run_select_query")[0].score == 1.0


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_a_wrong_answer_with_a_reason(
    world: World, template: Template, task: Task, name: str
):
    verdict, reward = judged(world, template, task, BOMBS[name])
    assert (verdict.score, reward) == (0.0, 0.0)
    assert verdict.detail["category"] in {"timeout", "limit_exceeded"}, verdict
    assert verdict.reason.startswith("the submitted query fails: ")
    assert judged(world, template, task, BOMBS[name], task.gates[1].options["query"])[1] == 1.0


def test_no_query_is_executed_in_this_process(
    world: World, template: Template, task: Task, monkeypatch: pytest.MonkeyPatch
):
    """Neither on the end state, nor on its copy in another order, nor on the databases beside
    it.
    """
    here: list[str] = []

    def executed(arguments: dict[str, Any], db: object) -> ToolResult:
        here.append(arguments["sql"])
        raise AssertionError("a query of the judge runs in place")

    tool = replace(asking.ASKING.tools[0], executor=executed)
    monkeypatch.setattr(asking, "ASKING", type(asking.ASKING)([tool]))
    verdict, reward = judged(world, template, task, task.gates[1].options["query"])
    assert (verdict.detail["databases"], reward, here) == (2, 1.0, [])


def test_other_rollouts_of_a_worker_go_on_while_a_bomb_is_judged(
    world: World, template: Template, task: Task
):
    async def work(episode: Episode) -> int:
        await episode.call("submit_sql", {"sql": "SELECT 1"})
        episode.calls[-1] = replace(episode.calls[-1], arguments={"sql": BOMBS["time"]})
        scoring, turns = asyncio.ensure_future(episode.scored()), 0
        while not scoring.done():
            await asyncio.sleep(0.01)
            turns += 1
        assert scoring.result().reward == 0.0
        return turns

    with Episode(task, world, template, LIMITS) as episode:
        assert asyncio.run(work(episode)) > 1
