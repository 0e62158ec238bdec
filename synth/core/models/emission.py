"""Conversion of a completion to the record's ``completion`` event and back: the model's emission,
verbatim.

Text that readers of a dataset cannot hold (NUL, lone surrogates) is repeated under ``escaped``, as
JSON text. The usage of each completion is stored here; token ids, log probabilities and the
endpoint's other fields have columns of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from envs.types import ToolCall
from synth.core.types.events import (
    CompletionEvent,
    EmittedCall,
    RecordedEvent,
    Usage,
    UserTurnEvent,
    event_from_json,
)
from synth.errors import DatasetError
from synth.model import Completion
from synth.user import UserTurn

_UNREADABLE = re.compile("[\x00\ud800-\udfff]")
_TEXTS = ("content", "finish_reason", "reasoning_content", "refusal")
_COUNTS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
_texts_of, _counts_of = attrgetter(*_TEXTS), attrgetter(*_COUNTS)


def completion_event(completion: Completion) -> CompletionEvent:
    """Return the event of a turn; unknown or absent values are None, except content and calls."""
    texts = dict(zip(_TEXTS, _texts_of(completion), strict=True))
    unreadable = _UNREADABLE.search("".join(filter(None, texts.values())))
    return CompletionEvent(
        **texts,
        tool_calls=tuple(emitted_call(call) for call in completion.tool_calls),
        escaped=json.dumps(texts) if unreadable else None,
        usage=known_usage(completion.usage),
        cost_usd=completion.cost_usd,
        acts=tuple(completion.acts) or None,
    )


def known_usage(usage: Usage) -> dict[str, int] | None:
    """Return the counts that are known; None if none is."""
    known = zip(_COUNTS, _counts_of(usage), strict=True)
    return {key: count for key, count in known if count is not None} or None


def completion_of(
    event: CompletionEvent,
    token_ids: Sequence[int] | None = None,
    logprobs: Sequence[float] | None = None,
    provider: Mapping[str, object] | None = None,
    *,
    train: bool = True,
) -> Completion:
    """Return the completion of an event; the rest of it is in the row's columns, and ``train`` in
    its message.
    """
    texts: dict[str, Any] = {key: getattr(event, key) for key in _TEXTS}
    if event.escaped is not None:
        texts = json.loads(event.escaped)
    return Completion(
        **texts,
        tool_calls=tuple(call_of(call) for call in event.tool_calls),
        usage=Usage(**event.usage or {}),
        cost_usd=event.cost_usd,
        token_ids=None if token_ids is None else tuple(token_ids),
        logprobs=None if logprobs is None else tuple(logprobs),
        provider=dict(provider or {}),
        train=train,
        acts=tuple(event.acts or ()),
    )


def user_turn_of(event: UserTurnEvent) -> UserTurn:
    """Return the recorded turn of the user."""
    return UserTurn(
        text=event.text,
        ends=event.ends,
        told=event.told,
        consents=event.consents,
        declines=event.declines,
        fault=event.fault,
        covers=event.covers or (),
        corrects=bool(event.corrects),
        then=event.then,
        discarded=event.discarded or (),
        by_rule=bool(event.by_rule),
        calls=tuple(map(call_of, event.calls or ())),
        usage=Usage(**event.usage or {}),
        cost_usd=event.cost_usd,
    )


def read_events(raw: Sequence[Mapping[str, Any]]) -> list[RecordedEvent]:
    """Read the column ``events`` of a row. Raises :class:`~synth.errors.DatasetError`."""
    try:
        return [event_from_json(event) for event in raw]
    except (ValueError, KeyError) as error:
        raise DatasetError(f"an event cannot be read: {error}") from error


def emitted_call(call: ToolCall, form: str | None = None) -> EmittedCall:
    """Return the record of a call; ``form`` names the format of a call written as text."""
    unreadable = _UNREADABLE.search(call.id + call.name + call.arguments)
    escaped = json.dumps([call.name, call.arguments, call.id]) if unreadable else None
    return EmittedCall(call.id, call.name, call.arguments, escaped, form)


def call_of(emitted: EmittedCall, call_id: str | None = None) -> ToolCall:
    """Return the recorded call, under the id of its result, or (None) under the emitted one."""
    name, arguments, own = emitted.name, emitted.arguments, emitted.id
    if emitted.escaped is not None:
        name, arguments, own = json.loads(emitted.escaped)
    return ToolCall(own if call_id is None else call_id, name, arguments)
