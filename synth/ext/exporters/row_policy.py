"""Changes to a row before its exporter sees it: one row per turn, one call per turn, short ids."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, zip_longest
from typing import Any, Final, Literal, get_args

from synth.core.tasks.yaml.words import SUBMIT
from synth.errors import OperatorError

Unit = Literal["rollout", "turn"]
"""A row for each rollout, or one for each of its turns to train on."""
Calls = Literal["parallel", "one"]
"""Several calls in a turn as they were made, or one after the other, as some templates require."""
Ids = Literal["recorded", "nine"]
"""The ids of calls as they were recorded, or nine letters and digits, as Mistral requires."""

_Message = Mapping[str, Any]
_Row = Mapping[str, Any]
_ID_LENGTH = 9
REASONING: Final = ("reasoning_content", "thinking")
"""Keys of a message's reasoning: the record's, and the key of gpt-oss's template."""


@dataclass(frozen=True, slots=True)
class RowPolicy:
    """The form in which rows reach the exporter; None leaves the choice to the target.

    ``keep_submit`` leaves the tool ``submit`` in, which no deployed agent has. ``thinking`` puts
    reasoning under the key ``thinking``. Raises :class:`~synth.errors.OperatorError` for a form
    that there is not.
    """

    unit: Unit = "rollout"
    calls: Calls | None = None
    ids: Ids | None = None
    keep_submit: bool = False
    thinking: bool = False

    def __post_init__(self) -> None:
        one_of("unit", self.unit, get_args(Unit))
        one_of("calls", self.calls, (*get_args(Calls), None))
        one_of("ids", self.ids, (*get_args(Ids), None))


def one_of(name: str, value: object, known: Sequence[str | None]) -> None:
    """Raise :class:`~synth.errors.OperatorError` for a value that is not among the known ones."""
    if value not in known:
        words = " or ".join(str(word) for word in known)
        raise OperatorError(f"{name}: {words}, not {value!r}")


def shaped(row: _Row, policy: RowPolicy, *, segments: bool) -> Iterator[_Row]:
    """Yield the rows that a row becomes; ``segments`` cuts turns out of the contexts that the model
    saw, instead of the whole conversation.
    """
    changes: list[Callable[[Sequence[_Message]], Sequence[_Message]]] = []
    if policy.calls == "one":
        changes.append(one_call_per_turn)
    if policy.ids == "nine":
        changes.append(with_short_ids)
    if policy.thinking:
        changes.append(_with_thinking)
    if not policy.keep_submit:
        row = without_submit(row)
    for change in changes:
        row = _with_conversations(row, change)
    if policy.unit == "rollout":
        yield row
        return
    seen: Sequence[Mapping[str, Any]] = row.get("segments") or []
    sources: list[Sequence[_Message]] = [part["messages"] for part in seen] if segments else []
    sources = sources or [row["messages"]]
    for messages in sources:
        for part in single_turns(messages):
            yield {**row, "messages": part, "segments": [] if segments else seen}
            seen = []


def without_submit(row: _Row) -> _Row:
    """Return the row without the tool ``submit``, its calls and results, and the paragraph or list
    item of the rules that names it.
    """
    tools = [tool for tool in row["tools"] if tool["function"]["name"] != SUBMIT]
    if len(tools) == len(row["tools"]):
        return row
    return {**_with_conversations(row, _without_submit_calls), "tools": tools}


def _without_submit_calls(messages: Sequence[_Message]) -> list[_Message]:
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    dropped = {call["id"] for call in calls if call["function"]["name"] == SUBMIT}
    kept = [_without_calls(message, dropped) for message in messages]
    kept = [message for message in kept if message.get("tool_call_id") not in dropped]
    pairs = zip_longest(kept, kept[1:])
    return [message for message, after in pairs if not _only_announces(message, after)]


def _without_calls(message: _Message, dropped: Collection[str]) -> _Message:
    """Return a message without these calls, and without the paragraphs that name ``submit``."""
    if message["role"] == "system":
        parts = _PARAGRAPH.split(message["content"])
        text = "".join(part for part in parts if f"`{SUBMIT}`" not in part)
        return {**message, "content": text.strip()}
    calls = message.get("tool_calls") or ()
    others = [call for call in calls if call["id"] not in dropped]
    if len(others) == len(calls):
        return message
    rest = {key: value for key, value in message.items() if key != "tool_calls"}
    return {**rest, **({"tool_calls": others} if others else {})}


def _only_announces(message: _Message, after: _Message | None) -> bool:
    """True for a turn that is left without its call: empty, or before another turn."""
    lone = message["role"] == "assistant" and not message.get("tool_calls")
    return lone and (not message.get("content") or (after or {}).get("role") == "assistant")


_PARAGRAPH = re.compile(r"(?m)^(?=- |\s*$)")


def single_turns(messages: Sequence[_Message]) -> Iterator[list[_Message]]:
    """Yield the conversation up to each turn to train on, in which nothing else is trained on."""
    before: list[_Message] = []
    for message in messages:
        if message["role"] == "assistant":
            if message.get("train") is not False:
                yield [*before, message]
            before.append({**message, "train": False})
        else:
            before.append(message)


def one_call_per_turn(messages: Sequence[_Message]) -> list[_Message]:
    """Return the conversation with every call in a turn of its own, its result right after it.

    Words and reasoning stay with the first call.
    """
    results = {
        message["tool_call_id"]: message for message in messages if message["role"] == "tool"
    }
    out: list[_Message] = []
    moved: set[str] = set()
    for message in messages:
        calls = message.get("tool_calls") or ()
        if len(calls) < 2:
            if message["role"] != "tool" or message["tool_call_id"] not in moved:
                out.append(message)
            continue
        for index, call in enumerate(calls):
            rest = {
                key: value
                for key, value in message.items()
                if not index or key in {"role", "train"}
            }
            out.append({"content": "", **rest, "tool_calls": [call]})
            if call["id"] in results:
                out.append(results[call["id"]])
                moved.add(call["id"])
    return out


def with_short_ids(messages: Sequence[_Message]) -> list[_Message]:
    """Return the conversation with ids of nine letters and digits, distinct within it."""
    names: dict[str, str] = {}
    for message in messages:
        for call in message.get("tool_calls") or ():
            taken = set(names.values())
            hashes = (_short(f"{call['id']}/{number}") for number in count())
            names.setdefault(call["id"], next(short for short in hashes if short not in taken))
    out: list[_Message] = []
    for message in messages:
        if message.get("tool_calls"):
            calls = [{**call, "id": names[call["id"]]} for call in message["tool_calls"]]
            out.append({**message, "tool_calls": calls})
        elif message["role"] == "tool":
            given = message["tool_call_id"]
            out.append({**message, "tool_call_id": names.get(given) or _short(given)})
        else:
            out.append(message)
    return out


def _with_thinking(messages: Sequence[_Message]) -> list[_Message]:
    """Return the conversation with reasoning under the key ``thinking``, except in a turn with both
    words and calls, which gpt-oss's template refuses with it.
    """
    recorded, thinking = REASONING
    return [
        {thinking if key == recorded else key: value for key, value in message.items()}
        if not (message.get("content") and message.get("tool_calls"))
        else message
        for message in messages
    ]


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_ID_LENGTH]


def _with_conversations(
    row: _Row, change: Callable[[Sequence[_Message]], Sequence[_Message]]
) -> _Row:
    new = dict(row)
    if "messages" in row:
        new["messages"] = change(row["messages"])
    if row.get("segments"):
        new["segments"] = [
            {**segment, "messages": change(segment["messages"])} for segment in row["segments"]
        ]
    return new
