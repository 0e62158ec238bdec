"""Re-execution of recorded tool calls on fresh sandboxes: what a dataset says must still happen.

Works from the run directory alone: its world archive, its tasks.parquet and its config.yaml.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from envs.sandboxes.base import Template
from envs.types import ErrorStyle, Limits, ToolOutcome, ToolResult
from envs.world.loader import World
from synth.core.agent.memory import echo_of
from synth.core.agent.rollout_result import user_event
from synth.core.dataset.sanitize import sanitize
from synth.core.foundation.consent import Consent, refuse
from synth.core.foundation.hashing import canonical
from synth.core.models.emission import read_events
from synth.core.rerun.recorded_run import Recording, Row, open_recording
from synth.core.rewards.gate_costs import notes_in
from synth.core.runner.recorded_calls import again
from synth.core.runner.setup import wrapper_kinds
from synth.core.types.checks import CLOCK, TIE
from synth.core.types.events import CompletionEvent, ToolResultEvent, UserTurnEvent
from synth.core.types.reply import Act
from synth.core.users.scripted.user import ScriptedUser
from synth.episode import Episode
from synth.errors import DatasetError
from synth.rewards import total_reward
from synth.task import Task
from synth.user import UserConversation
from synth.wrapper import RolloutWrapper, with_recorded

NOT_COMPARED = (
    "latency_s",
    "created_at",
    "executions",
    "retries",
    "token counts",
    "what the model said",
)
"""What a replay cannot or need not repeat."""

UNPINNED = frozenset({TIE, CLOCK})
"""Notes on a question with which the results of its SQL are not compared, and its reward is."""


@dataclass
class ReplayReport:
    """``differences`` holds a line for each result, end state or reward that came out otherwise."""

    trajectories: int = 0
    calls: int = 0
    differences: list[str] = field(default_factory=list[str])

    def to_json(self) -> dict[str, object]:
        return {
            "identical": not self.differences,
            "trajectories": self.trajectories,
            "tool_calls": self.calls,
            "differences": self.differences,
            "not_compared": list(NOT_COMPARED),
        }


def replay(directory: Path, advance: Callable[[], None], consent: Consent = refuse) -> ReplayReport:
    """Replay every trajectory of a run directory; ``advance`` is called after each.

    ``consent`` decides on code that was not made on this machine. Raises :class:`DatasetError`
    where the directory lacks what a replay needs, and :class:`~synth.errors.UntrustedCode`.
    """
    with open_recording(directory, consent) as recording:
        return asyncio.run(_everything(recording, advance))


async def _everything(recording: Recording, advance: Callable[[], None]) -> ReplayReport:
    report = ReplayReport()
    for row in recording.rows():
        try:
            task = recording.task(row)
            with recording.templates.use(task.universe) as template:
                lines = await differences(
                    row,
                    task,
                    recording.world,
                    template,
                    recording.limits,
                    error_style=recording.config.agent.error_style,
                    user=recording.config.users.kind,
                    wrappers=wrapper_kinds(recording.config.wrappers),
                )
        except DatasetError as error:
            lines = [str(error)]
        report.differences += [f"{row['trajectory_id']}: {line}" for line in lines]
        report.trajectories += 1
        report.calls += row["num_tool_calls"]
        advance()
    return report


async def differences(
    row: Row,
    task: Task,
    world: World,
    template: Template,
    limits: Limits,
    *,
    error_style: ErrorStyle = "structured",
    user: str = "scripted",
    wrappers: Sequence[type[RolloutWrapper]] = (),
) -> list[str]:
    """Execute the calls of one row again; returns a line for each difference.

    A user says again what the record says; the scripted one is also asked if it still would.
    """
    with Episode(task, world, template, limits) as episode:
        scripted = ScriptedUser().start(episode.role, row["seed"]) if user == "scripted" else None
        opening = [dict(message) for message in episode.messages]
        lines: list[str] = []
        if canonical(opening) != canonical(_spoken_messages(row)[: len(opening)]):
            lines.append("the opening messages are not those of the task")
        executed = 0
        acts = _acts_answered(row)
        unpinned = UNPINNED & {
            note["check"] for one in row["verdicts"] for note in notes_in(one["detail"])
        }
        queries = {tool.name for tool in world.tools if tool.free_sql} if unpinned else set[str]()
        async for event, outcome in again(row["events"], episode):
            if isinstance(event, UserTurnEvent):
                lines += await _user_differences(event, episode, next(acts, ()), scripted)
            elif outcome is not None:
                where = f"call {executed} ({event.name}, {outcome.call.id})"
                style = None if event.name in queries else error_style
                problems = _call_differences(row, event, outcome, style)
                lines += [f"{where}: {problem}" for problem in problems]
                executed += 1
        return [
            *lines,
            *_count_differences(row, executed),
            *_reply_differences(row, len(opening)),
            *_end_differences(row, episode, wrappers),
        ]


def _spoken_messages(row: Row) -> list[Row]:
    return [message for message in row["messages"] if message["role"] in {"system", "user"}]


def _recorded_calls(row: Row) -> dict[str, object]:
    """The functions that the messages call, by the ids of the calls."""
    return {
        call["id"]: call["function"]
        for message in row["messages"]
        for call in message.get("tool_calls", ())
    }


def _call_differences(
    row: Row, event: ToolResultEvent, outcome: ToolOutcome, style: ErrorStyle | None
) -> list[str]:
    """Compare one executed call with its message and, unless ``style`` is None, its tool message
    and its recorded result.
    """
    call, lines = outcome.call, list[str]()
    function = _recorded_calls(row).get(call.id)
    echo = sanitize(echo_of(call)[0])[0]
    if canonical(echo) != canonical(function):
        lines.append(f"the model emitted {clip(echo)}, the message holds {clip(function)}")
    if style is None:
        return lines
    contents = (
        message["content"]
        for message in row["messages"]
        if message["role"] == "tool" and message["tool_call_id"] == call.id
    )
    before, now = next(contents, None), sanitize(outcome.result.content(style))[0]
    if now != before and "offloaded" not in event.notes:
        lines.append(f"the tool message was {clip(before)}, is now {clip(now)}")
    payload = sanitize(outcome.result.payload())[0]
    if canonical(payload) != canonical(event.result):
        lines.append(f"the recorded result was {clip(event.result)}, is now {clip(payload)}")
    return lines


def _count_differences(row: Row, executed: int) -> list[str]:
    results = [event for event in row["events"] if event["event"] == "tool_result"]
    expected = sum("by" not in event for event in results)
    calls = len(_recorded_calls(row))
    if executed == expected and len(results) == calls:
        return []
    return [f"{executed} calls were executed of {expected}; {len(results)} results, {calls} calls"]


def _reply_differences(row: Row, opening: int) -> list[str]:
    replies = [
        event["text"]
        for event in row["events"]
        if event["event"] == "user_turn" and not event["ends"]
    ]
    if replies == [message["content"] for message in _spoken_messages(row)[opening:]]:
        return []
    return ["the user's messages are not those of the events"]


def _end_differences(
    row: Row, episode: Episode, wrappers: Sequence[type[RolloutWrapper]]
) -> list[str]:
    """Compare the end state, the submitted answer and the reward; verdicts of ``wrappers`` are
    taken as they are recorded.
    """
    score = episode.score()
    verdicts = with_recorded(wrappers, score.verdicts, row["verdicts"])
    reward = None if score.reward is None else total_reward(verdicts)
    submitted = None if episode.submitted is None else dict(episode.submitted)
    pairs = (
        ("state_diff", sanitize(episode.diff().to_json())[0]),
        ("state_hash_before", episode.state_hash_before),
        ("state_hash_after", episode.state_hash()),
        ("submitted", sanitize(submitted)[0]),
        ("reward", reward),
    )
    return [
        f"{name} was {clip(row[name])}, is now {clip(now)}"
        for name, now in pairs
        if canonical(row[name]) != canonical(now)
    ]


def _acts_answered(row: Row) -> Iterator[Sequence[Act]]:
    """The acts of each turn that the user answered."""
    acts: Sequence[Act] = ()
    for event in read_events(row["events"]):
        if isinstance(event, CompletionEvent) and event.is_turn:
            acts = event.acts or ()
        elif isinstance(event, UserTurnEvent):
            yield acts


async def _user_differences(
    event: UserTurnEvent, episode: Episode, acts: Sequence[Act], scripted: UserConversation | None
) -> list[str]:
    """Compare the recorded user's turn, whose calls were made again, with what the scripted user
    does now.
    """
    if scripted is None:
        return []
    text = episode.own_text(episode.said)
    turn = await scripted.answer(text, acts)
    if turn.calls:
        results = [call.result or ToolResult() for call in episode.turns[-1].calls]
        turn = replace(await scripted.observe(results), calls=turn.calls)
    now = sanitize(user_event(turn).to_json())[0]
    before = event.to_json()
    if canonical(now) == canonical(before):
        return []
    return [f"the user's answer to {clip(text)} was {clip(before)}, is now {clip(now)}"]


def clip(value: object) -> str:
    text = value if isinstance(value, str) else canonical(value)
    return text if len(text) <= 300 else f"{text[:297]}..."
