"""Re-execution of recorded tool calls on fresh sandboxes: what a dataset says must still happen.

Works from the run directory alone: its world archive, its tasks.parquet and its config.yaml.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from envs.folder import World
from envs.sandboxes.base import Template
from envs.types import Limits
from synth.agent.memory import echo_of
from synth.agent.run import user_event
from synth.canonical import canonical
from synth.config import RunConfig
from synth.dataset.wire import sanitize
from synth.episode import Episode
from synth.errors import DatasetError
from synth.recording import Recording, Row, again, open_recording
from synth.types import Task
from synth.users.base import UserConversation
from synth.users.scripted import ScriptedUser

Json = Any

NOT_COMPARED = ("latency_s", "created_at", "executions", "token counts", "what the model said")
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
    with open_recording(directory) as recording:
        return asyncio.run(_everything(recording, advance))


async def _everything(recording: Recording, advance: Callable[[], None]) -> ReplayReport:
    report = ReplayReport()
    for row in recording.rows():
        try:
            task = recording.task(row)
            with recording.templates.use(task.universe) as template:
                lines = await differences(row, task, recording.world, template, recording.config)
        except DatasetError as error:
            lines = [str(error)]
        report.differences += [f"{row['trajectory_id']}: {line}" for line in lines]
        report.trajectories += 1
        report.calls += row["num_tool_calls"]
        advance()
    return report


async def differences(row: Row, task: Task, world: World, template: Template, config: RunConfig) -> list[str]:
    """What comes out otherwise when the calls of one row are executed again.

    A user says again what the record says; the scripted one is also asked whether it would.
    """
    out: list[str] = []
    scripted = None
    if task.user is not None and config.users.kind == "scripted":
        scripted = ScriptedUser().start(task.user, row["seed"])
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
        done = 0
        async for event, outcome in again(row["events"], episode):
            if outcome is None:
                out += await _heard(event, episode.said, scripted)
                continue
            call, where = outcome.call, f"call {done} ({event['name']}, {outcome.call.id})"
            done += 1
            echo = sanitize(echo_of(call)[0])[0]
            if canonical(echo) != canonical(asked.get(call.id)):
                out.append(f"{where}: the model emitted {clip(echo)}, the message holds {clip(asked.get(call.id))}")
            shown = sanitize(outcome.result.content(config.agent.error_style))[0]
            if shown != said.get(call.id) and "offloaded" not in event:
                out.append(f"{where}: the tool message was {clip(said.get(call.id))}, is now {clip(shown)}")
            payload = sanitize(outcome.result.payload())[0]
            if canonical(payload) != canonical(event["result"]):
                out.append(f"{where}: the recorded result was {clip(event['result'])}, is now {clip(payload)}")
        executed = [each for each in results if "by" not in each]
        if done != len(executed) or len(results) != len(asked):
            out.append(f"{done} calls were executed of {len(executed)}; {len(results)} results, {len(asked)} calls")
        replies = [each["text"] for each in row["events"] if each["event"] == "user_turn" and not each["ends"]]
        if replies != [each["content"] for each in recorded[len(opening) :]]:
            out.append("the user's messages are not those of the events")
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


async def _heard(event: Row, text: str, scripted: UserConversation | None) -> list[str]:
    """Whether the scripted user, hearing the same, does what is recorded."""
    if scripted is None:
        return []
    now = sanitize(user_event(await scripted.reply(text)))[0]
    if canonical(now) == canonical(dict(event)):
        return []
    return [f"the user's answer to {clip(text)} was {clip(dict(event))}, is now {clip(now)}"]


def clip(value: Json) -> str:
    text = value if isinstance(value, str) else canonical(value)
    return text if len(text) <= 300 else f"{text[:297]}..."
