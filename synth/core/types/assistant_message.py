"""A message of the assistant in a live conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class AssistantMessage(dict[str, Any]):
    """A message with ``echo``: fields that its endpoint wants back, beside the message and, under
    the calls' ids, beside each call. An attribute, and so in no record or export of messages.

    >>> message = AssistantMessage({"role": "assistant"}, {"message": {"signature": "c2ln"}})
    >>> message == {"role": "assistant"}, dict(message)
    (True, {'role': 'assistant'})
    """

    def __init__(self, message: Mapping[str, Any], echo: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.echo = echo
