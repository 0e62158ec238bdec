"""The tool ``submit``, by which an agent hands in a typed answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from envs.tools.tool import Tool
from envs.tools.toolbox import Toolbox
from envs.types import ToolCall, ToolResult
from synth.core.foundation.hashing import canonical
from synth.core.tasks.yaml.words import SUBMIT
from synth.task import Task

SUBMIT_DESCRIPTION = (
    "Hand in the final answer, once, when the work is done. Then reply to the user in words."
)
SUBMIT_SEVERAL = (
    "Hand in the final answer to a request, once for each request, when its work is done. Then"
    " reply to the user in words."
)


def submit_toolbox(answer: Mapping[str, Any], *, several: bool = False) -> Toolbox:
    """A toolbox with the submit tool of an answer's JSON Schema; its validator is compiled once for
    each schema. ``several``: a conversation may hold several requests, each with its answer.
    """
    return _submit_toolbox(canonical(answer), SUBMIT_SEVERAL if several else SUBMIT_DESCRIPTION)


@lru_cache(maxsize=256)
def _submit_toolbox(answer: str, description: str) -> Toolbox:
    schema: dict[str, Any] = json.loads(answer)
    return Toolbox([Tool(SUBMIT, description, schema, _never, read_only=True)])


def due_answer(
    task: Task, given: Mapping[str, Any], call_id: str
) -> dict[str, Any] | ToolResult | None:
    """What a form of the world holds of the answer that is due; None if none is.

    Empty fields and fields that nobody waits for are left out. Returns a failed result, which names
    the first field that is missing or has another word than this kind of request knows: a form
    that all families share does not say beforehand what is due.
    """
    if task.answer is None:
        return None
    known = task.answer["properties"]
    kept = {name: value for name, value in given.items() if value is not None and name in known}
    parsed = submit_toolbox(task.answer).parse(ToolCall.of(SUBMIT, kept, call_id))
    return parsed if isinstance(parsed, ToolResult) else parsed[1]


def _never(arguments: dict[str, Any], db: object) -> ToolResult:
    raise AssertionError("submit is handled by the episode")
