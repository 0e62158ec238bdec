"""verl: Parquet of plain columns, which verl reads with pandas.

``verl`` holds prompts for reinforcement learning, one of each task: ``data_source``,
``agent_name``, ``prompt``, ``ability``, ``reward_model`` and ``extra_info`` with the columns by
which a task is found again. The environment scores a rollout, so that ``ground_truth`` is the
task's id.

``verl-sft`` holds ``messages`` for its multi-turn SFT dataset. That one passes messages to the chat
template as pandas gives them, and parses neither arguments nor tools. Calls, results and tools are
therefore text in the format of Hermes (:mod:`synth.ext.exporters.hermes`), which is the text
that Qwen's templates make of them; a message has ``role`` and ``content`` and no null-filled keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from synth.core.dataset.store.wire import json_text
from synth.ext.exporters.base import ConversationExporter, Example, Message, Row
from synth.ext.exporters.files import Columns
from synth.ext.exporters.hermes import conversation
from synth.ext.exporters.prompts import (
    PromptExporter,
    PromptOptions,
    prompt_of,
    task_identity,
    tools_of,
)
from synth.ext.exporters.row_policy import Unit

_TEXT, _INT = pa.string(), pa.int64()
_MESSAGES = pa.list_(pa.struct([("role", _TEXT), ("content", _TEXT)]))
_EXTRA = pa.struct(
    [
        ("index", _INT),
        ("need_tools_kwargs", pa.bool_()),
        *((name, _TEXT) for name in ("tools", "task_id", "env", "env_digest", "family", "case")),
        ("split", _TEXT),
        ("universe", _INT),
        ("samples", _INT),
        ("pass_rate", pa.float64()),
    ]
)
_ROLES = {"system": "system", "human": "user", "gpt": "assistant", "tool": "user"}
"""Roles of the turns: results are in a turn of the user, as Qwen's templates have them."""


@dataclass(frozen=True)
class VerlOptions(PromptOptions):
    """``agent`` is the name of verl's agent loop."""

    agent: str = "tool_agent"


class Verl(PromptExporter):
    """Prompts for reinforcement learning with verl."""

    name = "verl"
    description = "verl, reinforcement learning: Parquet with a prompt of each task"
    suffix = ".parquet"
    parquet: ClassVar[Columns] = {
        "data_source": _TEXT,
        "agent_name": _TEXT,
        "prompt": _MESSAGES,
        "ability": _TEXT,
        "reward_model": pa.struct([("style", _TEXT), ("ground_truth", _TEXT)]),
        "extra_info": _EXTRA,
    }
    Options = VerlOptions

    def example(self, group: Sequence[Row], number: int) -> Example:
        identity = task_identity(group)
        return {
            "data_source": identity["env"],
            "agent_name": self.options.agent,
            "prompt": [
                {key: message[key] for key in ("role", "content")} for message in prompt_of(group)
            ],
            "ability": identity["family"],
            "reward_model": {"style": "rule", "ground_truth": identity["task_id"]},
            "extra_info": {
                "index": number,
                "need_tools_kwargs": False,
                "tools": json_text(tools_of(group)),
                **identity,
            },
        }


class VerlSft(ConversationExporter):
    """Conversations as text for verl's multi-turn SFT dataset."""

    name = "verl-sft"
    description = "verl, multi-turn SFT: Parquet with messages, calls and tools as text"
    suffix = ".parquet"
    parquet: ClassVar[Columns] = {"messages": _MESSAGES}
    has_masks = False
    keeps_reasoning = False
    units: ClassVar[tuple[Unit, ...]] = ("rollout",)

    def example(self, row: Row, messages: Sequence[Message]) -> Example:
        turns = conversation(messages, row["tools"])
        said = [{"role": _ROLES[turn["from"]], "content": turn["value"]} for turn in turns]
        return {"messages": said}
