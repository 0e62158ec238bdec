"""Agents that know gold by heart, in copies of the shipped worlds with one more tool, which runs
any SQL they like.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from envs.sandboxes.base import Template
from envs.world.loader import World, load_world
from synth.core.tasks.families import FamilyTasks
from synth.core.types.steps import AskStep, CallStep, ConfirmStep, SubmitStep
from synth.core.validation.prove import prove
from synth.episode import Episode, Score
from synth.task import Task
from tests.unit.rewards.rule_fields import ruled

EXAMPLES = Path(__file__).parents[3] / "examples"

ANY_SQL = '''

from typing import Any

import sqlalchemy

from envs import tool


@tool
def sql(db: sqlalchemy.Connection, statement: str) -> dict[str, Any]:
    """Run a statement.

    Args:
        statement: The statement.
    """
    return {"rows": db.exec_driver_sql(statement).rowcount}
'''

Play = Callable[[Episode], Awaitable[None]]


@dataclass(frozen=True)
class Place:
    """A world with a hole in it, and the proved tasks that are played there, by family."""

    world: World
    template: Template
    tasks: Mapping[str, Task]

    def score(self, family: str, play: Play, **changes: Any) -> Score:
        task = self.tasks[family]

        async def whole() -> Score:
            with Episode(
                replace(task, **ruled(changes, task.rules)), self.world, self.template
            ) as episode:
                await play(episode)
                return episode.score()

        return asyncio.run(whole())

    def reward(self, family: str, play: Play, **changes: Any) -> float | None:
        return self.score(family, play, **changes).reward


def opened(name: str, families: Sequence[str], folder: Path) -> Iterator[Place]:
    """A copy of a shipped world in ``folder``, with the first task of each family."""
    copy = shutil.copytree(
        EXAMPLES / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")
    )
    executors = copy / "executors.py"
    executors.write_text(
        executors.read_text("utf-8").replace("__all__ = [", '__all__ = [\n    "sql",') + ANY_SQL,
        "utf-8",
    )
    world = load_world(copy)
    with world.template("sqlite") as template:
        source = FamilyTasks(world, template, families)
        tasks = {family: source.task(family, 0, 0) for family in families}
        yield Place(
            world,
            template,
            {key: asyncio.run(prove(each, world, template)) for key, each in tasks.items()},
        )


def gold(
    *,
    without: Sequence[str] = (),
    then: Sequence[str] = (),
    before: Sequence[str] = (),
    closes: bool = True,
    **answer: Any,
) -> Play:
    """All of gold's words and calls but those of some tools; statements before and after; other
    fields of the answer. Its last words end the conversation, unless it does not close.
    """

    async def play(episode: Episode) -> None:
        for statement in before:
            await run(episode, statement)
        due = episode.task.end
        assert due is not None
        calls = iter(due.played)
        for step in episode.task.gold:
            if isinstance(step, AskStep | ConfirmStep):
                if step.do not in without:
                    await episode.say(step.text)
            elif isinstance(step, CallStep | SubmitStep):
                call = next(calls)
                given = (
                    {**call["arguments"], **answer}
                    if isinstance(step, SubmitStep)
                    else call["arguments"]
                )
                if call["tool"] not in without:
                    await episode.call(call["tool"], given)
        for statement in then:
            await run(episode, statement)
        if not closes:
            return
        assert due.reply is not None
        await episode.say(str(due.reply["said"][-1]))

    return play


async def run(episode: Episode, statement: str) -> None:
    outcome = await episode.call("sql", {"statement": statement})
    assert outcome.result.ok, outcome.content
    assert outcome.result.output["rows"], f"an attack that does nothing: {statement}"


def unlocked(task: Task) -> dict[str, Any]:
    """The task's rules without append-only tables, so that a test can tell its guard from
    that one.
    """
    return {name: rule for name, rule in task.rules.compare.items() if rule != "append_only"}


def says(*texts: str) -> Play:
    async def play(episode: Episode) -> None:
        for text in texts:
            await episode.say(text)

    return play


def ask(episode: Episode, query: str) -> list[dict[str, Any]]:
    """What a query finds in the rollout's database."""
    asked = episode.evidence().query
    assert asked is not None
    return asked(query, {})
