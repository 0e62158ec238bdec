"""The tool by which an agent outside speaks to the user, in protocols that know only tool calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

REPLY: Final = "reply_to_user"

REPLY_DESCRIPTION: Final = (
    "Say something to the user, and get the user's answer. Questions, and the final report, go"
    " here: the user sees nothing else of your work."
)
REPLY_PARAMETERS: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"text": {"type": "string", "description": "What you say to the user."}},
    "required": ["text"],
    "additionalProperties": False,
}
