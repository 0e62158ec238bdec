"""NeMo Gym: one JSON object per line with ``responses_create_params`` and the task's columns.

``responses_create_params`` is a request of OpenAI's Responses API: ``input`` holds the opening of
the task, ``tools`` the function tools in that API's flat form. A resources server gets the other
fields with the request and finds the task by them: ``synth serve-env`` by ``task_id``.
``agent_ref`` names the agent server, if the option ``agent`` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from synth.core.types.reply import REPLY, REPLY_DESCRIPTION, REPLY_PARAMETERS
from synth.ext.exporters.base import Example, Row
from synth.ext.exporters.prompts import (
    PromptExporter,
    PromptOptions,
    prompt_of,
    task_identity,
    tools_of,
)


@dataclass(frozen=True)
class _NemoGymOptions(PromptOptions):
    """``agent`` is the name of the agent server that plays the tasks. With ``reply_tool`` the model
    can ask the user by a tool: an agent server ends with the first words that come without a call.
    """

    agent: str = ""
    reply_tool: bool = False


class NemoGym(PromptExporter):
    """Tasks for NeMo Gym."""

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
