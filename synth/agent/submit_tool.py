"""The tool ``submit``, by which an agent hands in a typed answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from envs.tools.tool import Tool
from envs.tools.toolbox import Toolbox
from envs.types import ToolResult
from synth.foundation.hashing import canonical
from synth.tasks.yaml.words import SUBMIT

SUBMIT_DESCRIPTION = (
    "Hand in the final answer, once, when the work is done. Then reply to the user in words."
)


def submit_toolbox(answer: Mapping[str, Any]) -> Toolbox:
    """A toolbox with the submit tool of an answer's JSON Schema; its validator is compiled once for
    each schema.
    """
    return _submit_toolbox(canonical(answer))


@lru_cache(maxsize=256)
def _submit_toolbox(answer: str) -> Toolbox:
    schema: dict[str, Any] = json.loads(answer)
    return Toolbox([Tool(SUBMIT, SUBMIT_DESCRIPTION, schema, _never, read_only=True)])


def _never(arguments: dict[str, Any], db: object) -> ToolResult:
    raise AssertionError("submit is handled by the episode")
