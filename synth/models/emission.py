"""A completion as the record's ``completion`` event, and back: what a model emitted, to the letter.

What no reader of a dataset can hold (NUL, lone surrogates) stands under ``escaped`` too, as JSON text. The usage of each
completion stands here, token ids, log probabilities and what else the endpoint said in columns of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from envs.types import ToolCall
from synth.types import Completion, Usage

Json = Any

_UNREADABLE = re.compile("[\x00\ud800-\udfff]")
_TEXTS = ("content", "finish_reason", "reasoning_content", "refusal")
_COUNTS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")


def completion_event(completion: Completion) -> dict[str, Json]:
    """The event; what is unknown or absent has no key, but for content and calls."""
    texts = {key: getattr(completion, key) for key in _TEXTS}
    event: dict[str, Json] = {"event": "completion"} | {key: text for key, text in texts.items() if text is not None}
    event["tool_calls"] = [call_entry(each) for each in completion.tool_calls]
    if any(text is not None and _UNREADABLE.search(text) for text in texts.values()):
        event["escaped"] = json.dumps(texts)
    return event | spent(completion.usage, completion.cost_usd)


def spent(usage: Usage, cost_usd: float | None) -> dict[str, Json]:
    """What an event says of its cost: the keys of what is known."""
    out: dict[str, Json] = {}
    if counts := {key: count for key in _COUNTS if (count := getattr(usage, key)) is not None}:
        out["usage"] = counts
    if cost_usd is not None:
        out["cost_usd"] = cost_usd
    return out


def completion_of(
    event: Mapping[str, Json],
    token_ids: Sequence[int] | None = None,
    logprobs: Sequence[float] | None = None,
    provider: Mapping[str, Json] | None = None,
) -> Completion:
    """The completion that an event tells of; the rest stands in the row's columns."""
    texts: dict[str, Json] = {key: event.get(key) for key in _TEXTS}
    if "escaped" in event:
        texts = json.loads(event["escaped"])
    return Completion(
        **texts,
        tool_calls=tuple(call_of(each) for each in event["tool_calls"]),
        usage=Usage(**event.get("usage", {})),
        cost_usd=event.get("cost_usd"),
        token_ids=None if token_ids is None else tuple(token_ids),
        logprobs=None if logprobs is None else tuple(logprobs),
        provider=dict(provider or {}),
    )


def call_entry(call: ToolCall) -> dict[str, Json]:
    """A call as it came; ``escaped`` holds name, arguments and id."""
    entry: dict[str, Json] = {"id": call.id, "name": call.name, "arguments": call.arguments}
    if any(_UNREADABLE.search(text) for text in (call.id, call.name, call.arguments)):
        entry["escaped"] = json.dumps([call.name, call.arguments, call.id])
    return entry


def call_of(entry: Mapping[str, Json], call_id: str | None = None) -> ToolCall:
    """The call of an event's entry, under the id that its result has, or (None) under the one that was emitted."""
    name, arguments, emitted = (
        json.loads(entry["escaped"]) if "escaped" in entry else (entry["name"], entry["arguments"], entry["id"])
    )
    return ToolCall(emitted if call_id is None else call_id, name, arguments)
