"""The recorded events of a rollout: what the column ``events`` holds, in order and without times.

Each class is one kind of event, and has one JSON form: ``event`` names the kind and stands first,
and a key whose value is unknown or absent (None) is left out. :func:`event_from_json` reads the
form, :func:`recorded_schema` is its JSON Schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, Literal, cast

from pydantic import ConfigDict, Field, TypeAdapter

from synth.core.types.reply import Act


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


ASKED = "asked_model"
"""Among a completion's provider fields: the model that was asked, where another one answered."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one completion or of many; None where the endpoint did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None

    def __add__(self, other: Usage) -> Usage:
        def plus(left: int | None, right: int | None) -> int | None:
            return right if left is None else left if right is None else left + right

        return Usage(
            plus(self.input_tokens, other.input_tokens),
            plus(self.output_tokens, other.output_tokens),
            plus(self.cached_tokens, other.cached_tokens),
            plus(self.reasoning_tokens, other.reasoning_tokens),
        )


Json = Any


@dataclass(frozen=True, slots=True)
class EmittedCall:
    """A call as the model emitted it. ``escaped`` is the JSON text of name, arguments and id where
    readers of a dataset cannot hold one of them; ``form`` is the format of a call written as
    text.
    """

    id: str
    name: str
    arguments: str
    escaped: str | None = None
    form: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEvent:
    """Base of the events; ``event`` is the kind."""

    __pydantic_config__ = ConfigDict(extra="ignore")

    event: str

    def to_json(self) -> dict[str, Json]:
        """The event as the column holds it."""
        names, values = _fields(self.__class__)
        return {
            name: value if value.__class__ in _SCALARS else _plain(value)
            for name, value in zip(names, values(self), strict=True)
            if value is not None or name in _ALWAYS
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionEvent(RecordedEvent):
    """A completion, verbatim: a turn of the agent, an answer to a side question, an answer that a
    middleware discarded, or the decision of the approver about the call ``id``.

    ``escaped`` is the JSON text of the texts where readers of a dataset cannot hold one of them.
    ``text_calls`` are calls that were found in the text. Token ids, log probabilities and the
    endpoint's other fields have columns of their own. ``acts`` are the acts that it states.
    """

    event: Literal[
        "completion", "side_completion", "discarded_completion", "approver_completion"
    ] = "completion"
    content: str
    finish_reason: str | None = None
    reasoning_content: str | None = None
    refusal: str | None = None
    tool_calls: Sequence[EmittedCall] = ()
    escaped: str | None = None
    usage: Mapping[str, int] | None = None
    cost_usd: float | None = None
    text_calls: Sequence[EmittedCall] | None = None
    acts: Sequence[Act] | None = None
    id: str | None = None

    @property
    def is_turn(self) -> bool:
        """True for a turn of the agent."""
        return self.event == "completion"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultEvent(RecordedEvent):
    """The result of the call ``id``, raw; the middleware ``by`` answered it, or (None) the
    environment.

    ``notes`` are further keys of the JSON form: ``text_call`` (the form of a call written as text),
    ``repaired`` (mended arguments), and what middlewares note (``fault``, ``retried``,
    ``offloaded``).
    """

    event: Literal["tool_result"] = "tool_result"
    id: str
    name: str
    result: Json
    by: str | None = None
    notes: Mapping[str, Json] = field(default_factory=dict[str, Json])

    def to_json(self) -> dict[str, Json]:
        by = {} if self.by is None else {"by": self.by}
        own = {"event": self.event, "id": self.id, "name": self.name, "result": self.result}
        return own | by | dict(self.notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTurnEvent(RecordedEvent):
    """A turn of the user: what it called, told, agreed to, declined and corrected; see
    :class:`synth.user.UserTurn`.
    """

    event: Literal["user_turn"] = "user_turn"
    text: str
    told: Sequence[str]
    consents: bool
    declines: bool
    ends: bool
    fault: str | None
    covers: Sequence[str] | None = None
    corrects: bool | None = None
    then: int | None = None
    discarded: Sequence[Mapping[str, Json]] | None = None
    by_rule: bool | None = None
    calls: Sequence[EmittedCall] | None = None
    usage: Mapping[str, int] | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionEvent(RecordedEvent):
    """Older turns were replaced by a summary, or (``failed``) were not.

    ``turns`` counts all turns that the summary stands for, ``left_out`` those that an earlier one
    stood for already, ``kept`` those that are sent as they are.
    """

    event: Literal["compaction"] = "compaction"
    reason: str
    step: int
    turns: int
    left_out: int
    kept: int
    failed: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    summary: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotExecutedEvent(RecordedEvent):
    """Calls of a turn that something cut off."""

    event: Literal["not_executed"] = "not_executed"
    ids: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MiddlewareEvent(RecordedEvent):
    """An event of a kind that a middleware of somebody else's records; ``details`` are its keys."""

    details: Mapping[str, Json] = field(default_factory=dict[str, Json])

    def to_json(self) -> dict[str, Json]:
        return {"event": self.event, **self.details}


_ALWAYS = frozenset({"fault"})
"""Fields whose None is written: a user's turn says that it had no fault."""

_KINDS: Mapping[str, type[RecordedEvent]] = {
    "completion": CompletionEvent,
    "side_completion": CompletionEvent,
    "discarded_completion": CompletionEvent,
    "approver_completion": CompletionEvent,
    "tool_result": ToolResultEvent,
    "user_turn": UserTurnEvent,
    "compaction": CompactionEvent,
    "not_executed": NotExecutedEvent,
}


KnownEvent = Annotated[
    CompletionEvent | ToolResultEvent | UserTurnEvent | CompactionEvent | NotExecutedEvent,
    Field(discriminator="event"),
]
"""An event of a kind that ships."""


def injected_faults(events: Iterable[RecordedEvent]) -> list[dict[str, Json]]:
    """List the faults of a rollout by its events: the call's index among all calls, its id, its
    tool, and the kind.
    """
    results = [event for event in events if isinstance(event, ToolResultEvent)]
    return [
        {"call": index, "id": event.id, "name": event.name, "kind": attempt["fault"]["kind"]}
        for index, event in enumerate(results)
        for attempt in (*event.notes.get("retried", ()), event.notes)
        if "fault" in attempt
    ]


def event_from_json(raw: Mapping[str, Json]) -> RecordedEvent:
    """Read the JSON form of an event; one of an unknown kind is a :class:`MiddlewareEvent`.

    Raises ValueError (of pydantic) for what is not of its kind's form.
    """
    kind = _KINDS.get(raw["event"])
    if kind is None:
        details = {key: value for key, value in raw.items() if key != "event"}
        return MiddlewareEvent(event=raw["event"], details=details)
    if kind is ToolResultEvent:
        own = ("event", "id", "name", "result", "by")
        known = {key: raw[key] for key in own if key in raw}
        notes = {key: value for key, value in raw.items() if key not in own}
        return _adapter(kind).validate_python({**known, "notes": notes})
    return _adapter(kind).validate_python(raw)


def recorded_schema() -> dict[str, Json]:
    """The JSON Schema of one recorded event."""
    schema = TypeAdapter[Any](KnownEvent).json_schema(mode="serialization")
    definitions = cast("dict[str, dict[str, Json]]", schema["$defs"])
    result = definitions["ToolResultEvent"]
    result["properties"].pop("notes")
    result["additionalProperties"] = True
    for name, definition in definitions.items():
        if "event" in definition["properties"]:
            definition["required"] = ["event", *definition.get("required", ())]
        definition.setdefault("additionalProperties", name == "ToolResultEvent")
    schema["description"] = (
        "One event of the column `events`. Middlewares may record events of further kinds."
    )
    return schema


@cache
def _adapter(kind: type[RecordedEvent]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


_SCALARS = frozenset({str, int, float, bool, type(None)})


@cache
def _fields(kind: Any) -> tuple[Sequence[str], Callable[[object], tuple[Json, ...]]]:
    """The names of a dataclass's fields, which are several, and what gets their values."""
    names = (*kind.__dataclass_fields__,)
    return names, attrgetter(*names)


def _plain(value: Json) -> Json:
    kind = value.__class__
    if kind in _SCALARS:
        return value
    if kind is EmittedCall or kind is Act:
        names, values = _fields(kind)
        known = zip(names, values(value), strict=True)
        return {name: _plain(item) for name, item in known if item not in (None, ())}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in cast("Sequence[Json]", value)]
    return dict(cast("Mapping[str, Json]", value)) if isinstance(value, Mapping) else value
