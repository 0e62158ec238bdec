"""TRL's GRPOTrainer: Parquet with the column ``prompt`` and the columns that name the task.

An environment of TRL gets every column as an argument of its ``reset``: ``task_id``, ``env``,
``universe`` and the rest say which task to set up. ``tools`` are the schemas of the task's tools.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from synth.ext.exporters.base import Example, Row
from synth.ext.exporters.files import Columns
from synth.ext.exporters.prompts import PromptExporter, prompt_of, task_identity, tools_of


class TrlGrpo(PromptExporter):
    """Prompts for TRL."""

    name = "trl-grpo"
    description = "TRL GRPOTrainer: Parquet with a prompt of each task and the task's id"
    suffix = ".parquet"
    parquet: ClassVar[Columns] = {
        **dict.fromkeys(("prompt", "tools"), "list<json>"),
        **dict.fromkeys(("task_id", "env", "env_digest", "family", "case", "split"), "str"),
        **dict.fromkeys(("universe", "samples"), "int32"),
        "pass_rate": "float64",
    }

    def example(self, group: Sequence[Row], number: int) -> Example:
        return {
            "prompt": prompt_of(group),
            "tools": tools_of(group),
            **task_identity(group),
        }
