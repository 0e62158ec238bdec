"""Transcripts of other benchmarks as evidence: what was said, called and returned, and the label.

Three shapes are read, plain or compressed by gzip: the historical trajectories of tau-bench (a list
of rollouts with ``traj``), the results of tau2-bench (``simulations`` and ``tasks``), and lines of
conversations as text (``messages_display``). Row changes are not recorded in any of them: a call of
a tool that is not a lookup, and that succeeded, counts as done. All rollouts of a file have the
tools that one of them, or a task, calls.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from envs.types import ToolResult
from envs.unreadable import unreadable
from synth.core.foundation.hashing import digest
from synth.core.foundation.json_leaves import parsed
from synth.core.types.reply import Fact, GoldReply
from synth.errors import OperatorError
from synth.rewards import CallRecord, Evidence, TurnRecord, Utterance
from synth.task import GoldEnd, Task

Raw = Mapping[str, Any]

_LOOKUP = re.compile(
    r"(?:get|find|list|search|look|read|show|count|check|calculate|think|transfer)(?:_|$)"
)
"""Beginnings of the names of tools that change no row. A transfer changes none either."""

_NOW = re.compile(r"(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})")
_TURN = re.compile(r"^(user|assistant|tool|system): ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LabelledRollout:
    """A rollout, and whether the benchmark calls it successful. ``id`` is its task's and trial's
    number: "12.0".
    """

    model: str
    id: str
    success: bool
    evidence: Evidence

    @property
    def half(self) -> str:
        """The half of its model's transcripts that it belongs to: ``seen`` or ``held``.

        All trials of a task are in one half. Rules are made on ``seen``.
        """
        return "held" if int(digest(self.id.partition(".")[0])[:8], 16) % 2 else "seen"


def read_transcripts(path: Path) -> list[LabelledRollout]:
    """The rollouts of a file. Raises :class:`~synth.errors.OperatorError` with file and line."""
    try:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8") as file:
            text = file.read()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise OperatorError(f"{path}: cannot be read: {unreadable(error, 'text')}") from None
    model = path.name.split(".json")[0]
    if ".jsonl" in path.name:
        return [_displayed(path, line, raw, model) for line, raw in json_lines(path, text)]
    try:
        data = json.loads(text)
    except ValueError as error:
        raise OperatorError(f"{path}: is not JSON: {error}") from None
    rows, read = _rows(data)
    if read is None:
        raise OperatorError(
            f"{path}:1: is neither a list of rollouts with `traj`, nor `simulations` with `tasks`,"
            " nor lines with `messages_display`"
        )
    out: list[LabelledRollout] = []
    for number, row in enumerate(rows):
        try:
            out.append(read(row, model))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            line = _line_of(text, number, "traj" if read is _of_tau_bench else "messages")
            raise OperatorError(
                f"{path}:{line}: rollout {number}: {type(error).__name__}: {error}"
            ) from None
    writers = frozenset[str]().union(*(one.evidence.writers for one in out))
    return [replace(one, evidence=replace(one.evidence, writers=writers)) for one in out]


def _rows(data: Any) -> tuple[Sequence[Raw], Callable[[Raw, str], LabelledRollout] | None]:
    """The rollouts of a file, and what reads one; None for a file of another shape."""
    if isinstance(data, list) and data and "traj" in data[0]:
        return cast("Sequence[Raw]", data), _of_tau_bench
    if not isinstance(data, dict) or not {"simulations", "tasks"} <= data.keys():
        return (), None
    whole = cast("dict[str, Any]", data)
    tasks = {str(task["id"]): task for task in whole["tasks"]}
    policy = whole.get("info", {}).get("environment_info", {}).get("policy") or ""
    rows = [
        {**row, "task": tasks.get(str(row["task_id"])), "policy": policy}
        for row in whole["simulations"]
    ]
    return rows, _of_tau2


def json_lines(path: Path, text: str) -> Iterator[tuple[int, Raw]]:
    """The objects of a JSON Lines file with their lines. Raises OperatorError."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                raw = json.loads(line)
            except ValueError as error:
                raise OperatorError(f"{path}:{number}: is not JSON: {error}") from None
            if not isinstance(raw, dict):
                raise OperatorError(f"{path}:{number}: is not a JSON object")
            yield number, cast("Raw", raw)


def _line_of(text: str, number: int, key: str) -> int:
    """The line of the n-th rollout of a file."""
    places = [found.start() for found in re.finditer(rf'"{key}"\s*:', text)]
    return text.count("\n", 0, places[min(number, len(places) - 1)]) + 1 if places else 1


def _of_tau_bench(row: Raw, model: str) -> LabelledRollout:
    task = row["info"]["task"]
    writes = [action["name"] for action in task["actions"]]
    messages: Sequence[Raw] = row["traj"]
    evidence = _evidence(messages, "", task.get("outputs") or (), writes)
    return LabelledRollout(model, f"{row['task_id']}.{row['trial']}", row["reward"] == 1, evidence)


def _of_tau2(row: Raw, model: str) -> LabelledRollout:
    if row["task"] is None:
        raise ValueError(f"task {row['task_id']!r} is not in `tasks`")
    task: dict[str, Any] = row["task"]
    due: dict[str, Any] = task.get("evaluation_criteria") or {}
    writes = [action["name"] for action in due.get("actions") or ()]
    evidence = _evidence(row["messages"], row["policy"], due.get("communicate_info") or (), writes)
    judged: dict[str, Any] = row.get("reward_info") or {}
    reward = judged.get("reward")
    return LabelledRollout(model, f"{row['task_id']}.{row.get('trial', 0)}", reward == 1, evidence)


def _displayed(path: Path, line: int, raw: Raw, model: str) -> LabelledRollout:
    text = raw.get("messages_display")
    if not isinstance(text, str):
        raise OperatorError(f"{path}:{line}: has no text `messages_display`")
    parts = _TURN.split(text)[1:]
    messages = [
        {"role": role, "content": content.strip().removesuffix("None").strip()}
        for role, content in zip(parts[::2], parts[1::2], strict=True)
    ]
    return LabelledRollout(model, f"{line}.0", True, _evidence(messages, "", (), ()))


class _Conversation:
    """The messages of a rollout, taken one after another."""

    def __init__(self, writes: Sequence[str]) -> None:
        self.writes = {name for name in writes if not _LOOKUP.match(name)}
        self.system, self.prompt = "", ""
        self.calls: list[CallRecord] = []
        self.turns: list[TurnRecord] = []
        self.said: list[Utterance] = []
        self.open: dict[str, int] = {}

    def take(self, message: Raw) -> None:
        role, content = message["role"], message.get("content") or ""
        if role == "system":
            self.system += content
        elif role == "user" and not self.prompt:
            self.prompt = content
        elif role == "user":
            self.turns.append(TurnRecord(len(self.calls), text=content))
        elif role == "assistant":
            self._assistant(message, content)
        elif role == "tool":
            self._result(message, content)
        else:
            raise ValueError(f"unknown role {role!r}")

    def _assistant(self, message: Raw, content: str) -> None:
        if content.strip() and self.prompt:
            self.said.append(Utterance(len(self.calls), content, len(self.turns)))
        for call in message.get("tool_calls") or ():
            made = call.get("function") or call
            arguments = made["arguments"]
            if isinstance(arguments, str):
                arguments = json.loads(arguments)
            self.open[str(call["id"])] = len(self.calls)
            lookup = _LOOKUP.match(made["name"]) is not None and made["name"] not in self.writes
            self.calls.append(CallRecord(made["name"], arguments, False, None, read_only=lookup))

    def _result(self, message: Raw, content: str) -> None:
        failed = bool(message.get("error")) or content.startswith("Error")
        result = (
            ToolResult(parsed(content))
            if not failed
            else ToolResult.failure(content, category="error")
        )
        key = str(message.get("tool_call_id") or message.get("id") or "")
        if key in self.open:
            index = self.open[key]
            self.calls[index] = replace(self.calls[index], ok=not failed, result=result)
        else:  # a conversation as text shows results without their calls
            self.calls.append(CallRecord("", None, not failed, None, read_only=True, result=result))


def _evidence(
    messages: Sequence[Raw], policy: str, outputs: Sequence[str], writes: Sequence[str]
) -> Evidence:
    talk = _Conversation(writes)
    for message in messages:
        talk.take(message)
    facts = tuple(Fact(output, (output,)) for output in map(str, outputs))
    system = talk.system or policy
    now = _NOW.search(system)
    task = Task(
        id="",
        family="",
        env="",
        prompt=talk.prompt,
        gold=(),
        system=system,
        now="T".join(now.groups()) if now else "2026-01-01T09:00:00",
        end=GoldEnd(reply=GoldReply(must=facts).to_json()),
    )
    called = {call.name for call in talk.calls if call.name and not call.read_only}
    return Evidence(
        task,
        (),
        talk.calls,
        None,
        turns=talk.turns,
        said=talk.said[-1].text if talk.said else "",
        utterances=talk.said,
        writers=frozenset(called | talk.writes),
    )
