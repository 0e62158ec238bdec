"""Prompts for reinforcement learning: one example of each task, with the task's id and its pass
rate in this dataset.

The trainer makes the rollouts itself; what a dataset gives it is the opening of each task, the
tools, and the key by which an environment finds the task again.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from synth.core.types.reply import REPLY, REPLY_DESCRIPTION, REPLY_PARAMETERS
from synth.ext.exporters.base import Example, Exporter, Message, Row, prompt_part
from synth.ext.exporters.row_policy import Unit
from synth.ext.exporters.siblings import by_task

TASK_COLUMNS = (
    *("task_id", "env", "env_digest", "family", "case", "split", "universe"),
    *("messages", "tools", "middleware_tools", "outcome", "reward"),
)
_IDENTITY = ("task_id", "env", "env_digest", "family", "case", "split", "universe")


@dataclass(frozen=True)
class PromptOptions:
    """``keep=mixed`` exports only tasks with successes and failures among their samples."""

    keep: Literal["all", "mixed"] = "all"


class PromptExporter(Exporter):
    """One example of each task of the selected rows; a subclass gives it the form of a target."""

    columns = TASK_COLUMNS
    min_reward = None
    units: ClassVar[tuple[Unit, ...]] = ("rollout",)
    by_task = True
    prompts = True
    Options = PromptOptions

    def rendered(self, row: Row) -> Sequence[Sequence[Message]]:
        return [prompt_part(row["messages"])]

    def rows(self, rows: Iterable[Row]) -> Iterator[Example]:
        number = 0
        for group in by_task(rows, self.task_sizes):
            rate = pass_rate(group)
            if self.options.keep == "mixed" and rate in {0.0, 1.0}:
                for row in group:
                    self.leave_out(
                        row, f"every sample of its task {'succeeds' if rate else 'fails'}"
                    )
                continue
            for row in group:
                self.exported(row)
            yield self.example(group, number)
            number += 1

    @abstractmethod
    def example(self, group: Sequence[Row], number: int) -> Example:
        """Return the example of a task; ``group`` are its samples, ``number`` counts from 0."""


def pass_rate(group: Sequence[Row]) -> float:
    """Return the share of successes among samples of a task."""
    return sum(row["outcome"] == "success" for row in group) / len(group)


def task_identity(group: Sequence[Row]) -> Example:
    """Return the columns by which a task is found again, and the results of its samples."""
    return {name: group[0][name] for name in _IDENTITY} | {
        "samples": len(group),
        "pass_rate": pass_rate(group),
    }


def tools_of(group: Sequence[Row]) -> list[Any]:
    """Return the tools of a task's environment, without the tools of the run's middlewares."""
    own = group[0]["middleware_tools"] or ()
    return [tool for tool in group[0]["tools"] if tool["function"]["name"] not in own]


def prompt_of(group: Sequence[Row]) -> list[Example]:
    """Return the messages that open a task."""
    return [dict(message) for message in prompt_part(group[0]["messages"])]


@dataclass(frozen=True)
class _NemoGymOptions(PromptOptions):
    """``agent`` is the name of the agent server that plays the tasks. With ``reply_tool`` the model
    can ask the user by a tool: an agent server ends with the first words that come without a call.
    """

    agent: str = ""
    reply_tool: bool = False


class NemoGym(PromptExporter):
    """Tasks for NeMo Gym: ``responses_create_params`` and the task's columns.

    ``responses_create_params`` is a request of OpenAI's Responses API: ``input`` holds the opening
    of the task, ``tools`` the function tools in that API's flat form. A resources server gets the
    other fields with the request and finds the task by them: ``synth serve-env`` by ``task_id``.
    ``agent_ref`` names the agent server, if the option ``agent`` does.
    """

    name = "nemo-gym"
    description = "NeMo Gym: JSONL with a request of each task and the task's id"
    suffix = ".jsonl"
    Options = _NemoGymOptions

    def example(self, group: Sequence[Row], number: int) -> Example:
        agent = {"type": "responses_api_agents", "name": self.options.agent}
        return {
            "responses_create_params": {
                "input": [
                    {"role": message["role"], "content": message["content"]}
                    for message in prompt_of(group)
                ],
                "tools": [_flat_tool(tool) for tool in self._tools(group)],
            },
            **({"agent_ref": agent} if self.options.agent else {}),
            **task_identity(group),
        }

    def _tools(self, group: Sequence[Row]) -> Sequence[Mapping[str, Any]]:
        function = {"name": REPLY, "description": REPLY_DESCRIPTION, "parameters": REPLY_PARAMETERS}
        return [*tools_of(group), *([{"function": function}] if self.options.reply_tool else [])]


def _flat_tool(tool: Mapping[str, Any]) -> Example:
    """Return a function tool in the form of the Responses API, which requires ``strict``."""
    function = tool["function"]
    return {
        "type": "function",
        "name": function["name"],
        "description": function.get("description", ""),
        "parameters": function.get("parameters", {"type": "object", "properties": {}}),
        "strict": bool(function.get("strict", False)),
    }
