"""An analyst behind a real endpoint: it answers questions with SQL, and errs now and then as models
do.

It keeps no state: what it says next follows from how often it has spoken and from what it was told
last. A result that was put aside it reads first; asked for a summary, it notes down how far it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from envs.types import ToolCall
from synth.core.foundation.hashing import derive_seed
from synth.core.models.openai.wire import canonical_message
from synth.core.models.recap import READ, kept_in, read_piece, read_request, without_recap
from synth.errors import ModelRefusedRequest
from synth.model import Completion
from synth.task import Message, Task

KINDS = (
    "right",
    "wrong column",
    "wrong table",
    "malformed call",
    "wrong query",
    "by heart",
    "unknown tool",
)
FAILING = frozenset({"wrong query", "by heart"})

_NAMES = re.compile(
    r"\b(placed_at|status|carrier|price_cents|method|category|total_cents|shipped_on|reason|country|name)\b"
)
_TABLES = re.compile(r"\b(?:FROM|JOIN) ([a-z_]{5,})\b")
_NOTE = "Steps of my plan that are done: {steps}."
_NOTED = re.compile(re.escape(_NOTE).replace(re.escape("{steps}"), r"(\d+)"))
_NEAR = re.compile(r"no (?:such )?(?:column|table) `(?:\w+\.)?(\w+)`[^;]*; did you mean ([\w.]+)")


def kind_of(task: Task) -> str:
    """What the analyst does in a task: every second question goes smoothly."""
    draw = derive_seed("analyst", task.id) % (2 * len(KINDS))
    return KINDS[draw] if draw < len(KINDS) else "right"


class Analyst:
    """Answers requests about known tasks. ``advised`` counts corrections by advice, ``lost`` those
    without any.
    """

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._tasks = {(task.system, task.prompt): task for task in tasks}
        self.advised = self.lost = self.summaries = self.read = 0

    async def __call__(self, request: dict[str, Any]) -> Completion:
        messages = [canonical_message(each) for each in request["messages"]]
        asked = read_request(messages)
        if asked is not None:
            self.summaries += 1
            return Completion(
                content=_NOTE.format(steps=_steps(asked.messages)), finish_reason="stop"
            )
        texts: dict[str, str] = {}
        for each in without_recap(messages)[0]:
            texts.setdefault(each["role"], each["content"])
        task = self._tasks.get((texts.get("system", ""), texts["user"]))
        if task is None:
            raise ModelRefusedRequest("no task opens like this")
        told = messages[-1]["content"]
        kept, part = kept_in(told), read_piece(told)
        if kept is not None:
            self.read += 1
            return _call(f"{kept.output_id}_0", READ, {"output_id": kept.output_id})
        if part is not None and part[1] is not None:
            reading = messages[-2]["tool_calls"][0]["function"]["arguments"]
            return _call(f"{reading['output_id']}_{part[1]}", READ, {**reading, "offset": part[1]})
        return self._say(task, _steps(messages), told)

    def _say(self, task: Task, turn: int, told: str) -> Completion:
        gate = task.gate("sql")
        assert gate is not None
        right, kind = gate.options["query"], kind_of(task)
        if turn == 0:
            return _call(turn, "list_tables", {})
        if turn == 1:
            if kind == "malformed call":
                return _raw(turn, "run_select_query", '{"sql": "SELECT 1')
            if kind == "unknown tool":
                return _call(turn, "query_database", {"sql": right})
            return _call(turn, "run_select_query", {"sql": spoilt(right, kind)})
        if turn == 2 and kind != "right":
            sql = self._corrected(right, kind, told)
            return _call(turn, "run_select_query", {"sql": sql})
        if turn == (2 if kind == "right" else 3):
            sql = {
                "wrong query": f"SELECT * FROM (\n{right}\n) AS answer WHERE 1 = 0",
                "by heart": "SELECT 42",
            }.get(kind, right)
            return _call(turn, "submit_sql", {"sql": sql})
        return Completion(
            content="The query is handed in, which answers the question.", finish_reason="stop"
        )

    def _corrected(self, right: str, kind: str, told: str) -> str:
        """The query mended with the name that the advice gives, where the mistake was a name."""
        wrong = spoilt(right, kind)
        if wrong == right:
            return right
        found = _NEAR.search(told)
        if found is None:
            self.lost += 1
            return right
        self.advised += 1
        meant = found.group(2).rpartition(".")[2]
        return re.sub(rf"\b{found.group(1)}\b", meant, wrong)


def _steps(messages: Sequence[Message]) -> int:
    """How many steps were taken, those of the summary included; reading a result that was put aside
    is none.
    """
    shown, recap = without_recap(messages)
    noted = _NOTED.search(recap.summary) if recap is not None else None
    calls = [each.get("tool_calls", []) for each in shown if each["role"] == "assistant"]
    taken = [each for each in calls if READ not in [call["function"]["name"] for call in each]]
    return len(taken) + (int(noted[1]) if noted is not None else 0)


def spoilt(sql: str, kind: str) -> str:
    """The query with one name misspelt."""
    names = {"wrong column": _NAMES, "wrong table": _TABLES}.get(kind)
    found = names.search(sql) if names is not None else None
    if found is None:
        return sql
    name = found.group(1)
    return re.sub(rf"\b{name}\b", f"{name[:-1]}x{name[-1]}", sql)


def _call(turn: int | str, tool: str, arguments: dict[str, Any]) -> Completion:
    return _raw(turn, tool, json.dumps(arguments))


def _raw(turn: int | str, tool: str, arguments: str) -> Completion:
    calls: Sequence[ToolCall] = (ToolCall(f"call_{turn}", tool, arguments),)
    return Completion(tool_calls=calls, finish_reason="tool_calls")
