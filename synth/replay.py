"""Re-execution of recorded tool calls on fresh sandboxes: what a dataset says must still happen.

Works from the run directory alone: its world archive, its tasks.parquet and its config.yaml.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from envs.folder import World, load_world
from envs.sandboxes.base import Template
from envs.types import Limits, ToolCall
from synth.agent.memory import echo_of
from synth.agent.react import call_of
from synth.archive import unpack_world
from synth.canonical import canonical
from synth.config import RunConfig
from synth.dataset.reader import Dataset
from synth.dataset.task_table import TaskTable
from synth.dataset.wire import sanitize
from synth.episode import Episode
from synth.errors import DatasetError
from synth.preparation import database_place
from synth.run_files import TASKS_FILE, load_config
from synth.types import Task

Json = Any

NOT_COMPARED = ("latency_s", "created_at", "token counts", "what the model said")
"""What a replay cannot or need not repeat."""


@dataclass
class ReplayReport:
    """``differences`` holds a line for each result, end state or reward that came out otherwise."""

    trajectories: int = 0
    calls: int = 0
    differences: list[str] = field(default_factory=list[str])

    def to_json(self) -> dict[str, Json]:
        return {
            "identical": not self.differences,
            "trajectories": self.trajectories,
            "tool_calls": self.calls,
            "differences": self.differences,
            "not_compared": list(NOT_COMPARED),
        }


def replay(directory: Path, advance: Callable[[], None]) -> ReplayReport:
    """Replay every trajectory of a run directory; ``advance`` is called after each.

    Raises :class:`DatasetError` where the directory lacks what a replay needs.
    """
    dataset = Dataset.open(directory)
    config = load_config(directory, {})
    archives = sorted((directory / "world").glob("*.tar.zst"))
    tasks_file = directory / TASKS_FILE
    if len(archives) != 1 or not tasks_file.is_file():
        raise DatasetError(
            f"{directory}: a replay needs world/<digest>.tar.zst and {TASKS_FILE}; this directory lacks them"
        )
    report = ReplayReport()
    with tempfile.TemporaryDirectory(prefix="synth-replay-") as home:
        world = load_world(unpack_world(archives[0].read_bytes(), Path(home) / "world"))
        with world.template(config.database.engine, place=database_place(config)) as template:
            tasks = TaskTable(tasks_file)

            async def everything() -> None:
                for row in dataset.rows():
                    task = Task.from_json(tasks.task(row["job_index"] // config.tasks.samples))
                    if task.id != row["task_id"]:
                        report.differences.append(
                            f"{row['trajectory_id']}: its task is not the one planned at its place"
                        )
                    else:
                        report.differences += [
                            f"{row['trajectory_id']}: {line}"
                            for line in await differences(row, task, world, template, config)
                        ]
                    report.trajectories += 1
                    report.calls += row["num_tool_calls"]
                    advance()

            asyncio.run(everything())
    return report


async def differences(
    row: Mapping[str, Json], task: Task, world: World, template: Template, config: RunConfig
) -> list[str]:
    """What comes out otherwise when the calls of one row are executed again."""
    out: list[str] = []
    database = config.database
    limits = Limits(False, database.statement_timeout_ms, database.max_rows, database.max_result_bytes)
    with Episode(task, world, template, limits) as episode:
        opening = [dict(each) for each in episode.messages]
        recorded = [each for each in row["messages"] if each["role"] in {"system", "user"}]
        if canonical(opening) != canonical(recorded[: len(opening)]):
            out.append("the opening messages are not those of the task")
        results = [each for each in row["events"] if each["event"] == "tool_result"]
        said = {each["tool_call_id"]: each["content"] for each in row["messages"] if each["role"] == "tool"}
        asked = {call["id"]: call["function"] for each in row["messages"] for call in each.get("tool_calls", ())}
        calls = list(executed(row["events"]))
        if not len(calls) == len(results) == len(asked):
            out.append(
                f"events hold {len(calls)} executed calls and {len(results)} results, messages {len(asked)} calls"
            )
        for number, (call, event) in enumerate(zip(calls, results, strict=False)):
            outcome = await episode.call(call)
            where = f"call {number} ({event['name']}, {call.id})"
            echo = sanitize(echo_of(call)[0])[0]
            if canonical(echo) != canonical(asked.get(call.id)):
                out.append(f"{where}: the model emitted {clip(echo)}, the message holds {clip(asked.get(call.id))}")
            shown = sanitize(outcome.result.content(config.agent.error_style))[0]
            if shown != said.get(call.id):
                out.append(f"{where}: the tool message was {clip(said.get(call.id))}, is now {clip(shown)}")
            payload = sanitize(outcome.result.payload())[0]
            if canonical(payload) != canonical(event["result"]):
                out.append(f"{where}: the recorded result was {clip(event['result'])}, is now {clip(payload)}")
        score = episode.score()
        pairs = (
            ("state_diff", row["state_diff"], sanitize(episode.diff().to_json())[0]),
            ("state_hash_before", row["state_hash_before"], episode.state_hash_before),
            ("state_hash_after", row["state_hash_after"], episode.state_hash()),
            (
                "submitted",
                row["submitted"],
                sanitize(None if episode.submitted is None else dict(episode.submitted))[0],
            ),
            ("reward", row["reward"], score.reward),
        )
        out += [
            f"{name} was {clip(old)}, is now {clip(new)}"
            for name, old, new in pairs
            if canonical(old) != canonical(new)
        ]
    return out


def executed(events: Sequence[Mapping[str, Json]]) -> Iterator[ToolCall]:
    """The calls that were executed, as the model emitted them, in order and under the ids of their results.

    A turn's calls are executed in order until something ends the rollout. The transcript will not do: it holds
    no value that readers of a dataset cannot hold.
    """
    waiting: Iterator[Mapping[str, Json]] = iter(())
    for event in events:
        if event["event"] == "completion":
            waiting = iter(event["tool_calls"])
        elif event["event"] == "tool_result" and (raw := next(waiting, None)) is not None:
            yield call_of(raw, event["id"])


def clip(value: Json) -> str:
    text = value if isinstance(value, str) else canonical(value)
    return text if len(text) <= 300 else f"{text[:297]}..."
