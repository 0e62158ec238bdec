"""Answers as they stand on the wire, in forms that no completion of ours has: each with what is to
become of its rollout.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = Any

ARGUMENTS = '{"name": "Lamp"}'
FUNCTION = {"name": "find_items", "arguments": ARGUMENTS}
CALL = {"id": "c", "type": "function", "function": FUNCTION}
UNKNOWN, GOOD, BAD = ["unknown_tool"], ["ok"], ["malformed_call"]
NAMELESS: Sequence[str] = []
"""Calls of no tool at all: no answer of a model."""


@dataclass(frozen=True)
class Form:
    """``results`` are the categories of what the calls came to, ``stop`` is the rollout's end."""

    raw: bytes
    results: Sequence[str] = ()
    stop: str = "finished"
    streamed: bool = False


def entry(**changes: Json) -> dict[str, Json]:
    return {key: value for key, value in (CALL | changes).items() if value != "absent"}


def function(**changes: Json) -> dict[str, Json]:
    return entry(
        function={key: value for key, value in (FUNCTION | changes).items() if value != "absent"}
    )


MESSAGES: Mapping[str, tuple[Json, Sequence[str]]] = {
    "arguments an object": ({"tool_calls": [function(arguments={"name": "Lamp"})]}, GOOD),
    "arguments an empty object": ({"tool_calls": [function(arguments={})]}, ["invalid_arguments"]),
    "arguments a list": ({"tool_calls": [function(arguments=["Lamp"])]}, BAD),
    "arguments a number": ({"tool_calls": [function(arguments=7)]}, BAD),
    "arguments false": ({"tool_calls": [function(arguments=False)]}, BAD),
    "arguments null": ({"tool_calls": [function(arguments=None)]}, ["invalid_arguments"]),
    "arguments absent": ({"tool_calls": [function(arguments="absent")]}, ["invalid_arguments"]),
    "an object with a number of forty digits": (
        {"tool_calls": [function(arguments={"name": 10**40})]},
        ["invalid_arguments"],
    ),
    "name null": ({"tool_calls": [function(name=None)]}, NAMELESS),
    "name absent": ({"tool_calls": [function(name="absent")]}, NAMELESS),
    "name empty": ({"tool_calls": [function(name="")]}, NAMELESS),
    "name a number": ({"tool_calls": [function(name=7)]}, UNKNOWN),
    "name a list": ({"tool_calls": [function(name=["find_items"])]}, UNKNOWN),
    "function null": ({"tool_calls": [entry(function=None)]}, NAMELESS),
    "function absent": ({"tool_calls": [entry(function="absent")]}, NAMELESS),
    "function a text": ({"tool_calls": [entry(function="find_items")]}, NAMELESS),
    "function a list": ({"tool_calls": [entry(function=[FUNCTION])]}, NAMELESS),
    "function empty": ({"tool_calls": [entry(function={})]}, NAMELESS),
    "id null": ({"tool_calls": [entry(id=None)]}, GOOD),
    "id absent": ({"tool_calls": [entry(id="absent")]}, GOOD),
    "id a number": ({"tool_calls": [entry(id=7)]}, GOOD),
    "id an object": ({"tool_calls": [entry(id={})]}, GOOD),
    ("three without ids"): ({"tool_calls": [entry(id="absent", index=at) for at in range(3)]}, GOOD * 3),
    "three of one id": ({"tool_calls": [entry(index=at) for at in range(3)]}, GOOD * 3),
    "type absent": ({"tool_calls": [entry(type="absent")]}, GOOD),
    "type null": ({"tool_calls": [entry(type=None)]}, GOOD),
    "type unheard of": ({"tool_calls": [entry(type="tool_use")]}, GOOD),
    "one object in place of the list": ({"tool_calls": CALL}, GOOD),
    "no function around name and arguments": (
        {"tool_calls": [{"type": "function_call", "call_id": "c", **FUNCTION}]},
        GOOD,
    ),
    "the old form": ({"function_call": FUNCTION}, GOOD),
    "the old form beside an empty list": ({"tool_calls": [], "function_call": FUNCTION}, GOOD),
    "both forms": ({"tool_calls": [CALL], "function_call": FUNCTION}, GOOD),
    "content in parts beside a call": (
        {"content": [{"type": "text", "text": "Let me "}, {"type": "text", "text": "see."}], "tool_calls": [CALL]},
        GOOD,
    ),
    "no role": ({"role": "absent", "content": None, "tool_calls": [CALL]}, GOOD),
    "another role": ({"role": "model", "content": None, "tool_calls": [CALL]}, GOOD),
    ("keys that nobody knows"): ({"tool_calls": [entry(extra={"a": [1]})], "audio": None, "annotations": []}, GOOD),
    ("reasoning beside a call"): ({"reasoning": "Hm.", "reasoning_details": [{"text": "Hm."}], "tool_calls": [CALL]}, GOOD),
    "half a surrogate pair in the name": ({"tool_calls": [function(name="\ud83d")]}, UNKNOWN),
    "half a pair beside a call": ({"content": "\ude00", "tool_calls": [CALL]}, GOOD),
}  # fmt: skip
"""Messages by their fields, and the results of their calls: the same whole and streamed."""

WHOLE_ONLY: Mapping[str, tuple[Json, Sequence[str]]] = {
    "calls null": ({"tool_calls": [None, CALL]}, [*UNKNOWN, *GOOD]),
    "calls of texts": ({"tool_calls": ["find_items"]}, NAMELESS),
    "calls a text": ({"tool_calls": json.dumps([CALL])}, NAMELESS),
    "calls in a list in a list": ({"tool_calls": [[CALL]]}, NAMELESS),
    "a custom tool's call": (
        {
            "tool_calls": [
                {"id": "c", "type": "custom", "custom": {"name": "find_items", "input": "Lamp"}}
            ]
        },
        BAD,
    ),
}

NO_ROW = "no row"
"""The end of a rollout whose first answers are all unusable: it is an error row."""

ENDS: Mapping[str, str] = {
    "stop": "finished",
    "length": "truncated",
    "tool_calls": "finished",
    "content_filter": "refused",
    "function_call": "finished",
    "max_tokens": "truncated",
    "end_turn": "finished",
    "SAFETY": "refused",
    "never heard of": "finished",
}
"""Reasons to end, and what the rollout's end is: its calls are executed where that is ``finished``.
"""


def message_of(fields: Json) -> dict[str, Json]:
    fields = {"role": "assistant", "content": None} | fields
    return {
        key: value
        for key, value in fields.items()
        if not isinstance(value, str) or value != "absent"
    }


def whole(message: Json, finish: Json = "tool_calls", **top: Json) -> bytes:
    choice: dict[str, Json] = {"index": 0, "message": message}
    if finish != "absent":
        choice["finish_reason"] = finish
    return json.dumps(
        {"id": "x", "object": "chat.completion", "model": "m", "choices": [choice]} | top
    ).encode()


def event(delta: Json, finish: Json = None) -> bytes:
    return (
        b"data: "
        + json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}).encode()
        + b"\n\n"
    )


def streamed(*deltas: Json, finish: Json = "tool_calls") -> bytes:
    return b"".join(map(event, deltas)) + event({}, finish) + b"data: [DONE]\n\n"


def piece(index: Json = 0, **fields: Json) -> dict[str, Json]:
    return {"tool_calls": [{"index": index, **fields}]}


OPENED = piece(id="c", type="function", function={"name": "find_items", "arguments": ""})
ENDED = event({}, "tool_calls")
BYTES = (
    event({"role": "assistant", "content": "Zo\u00eb"})
    + event(OPENED)
    + event(piece(function={"arguments": ARGUMENTS}))
)
DONE = b"data: [DONE]\n\n"

STREAMS: Mapping[str, bytes] = {
    "carriage returns": (BYTES + ENDED + DONE).replace(b"\n", b"\r\n"),
    "comments and an empty event": b": ping\n\n" + BYTES + b":\n\ndata:\n\n" + ENDED + DONE,
    "named events": b"event: message\nid: 7\nretry: 1\n" + BYTES + ENDED + b"event: done\n" + DONE,
    "no blank after the colon": (BYTES + ENDED + DONE).replace(b"data: ", b"data:"),
    "no end but the reason": BYTES + ENDED,
    "more after the end": BYTES + ENDED + DONE + b'data: {"error": {"message": "too late"}}\n\n',
    "a byte order mark": b"\xef\xbb\xbf" + BYTES + ENDED + DONE,
    ("usage in a chunk of its own"): BYTES + ENDED + (b'data: {"choices": [], "usage": {"prompt_tokens": 5}}\n\n') + DONE,
    ("usage that is none"): BYTES + ENDED + (b'data: {"choices": null, "usage": {"prompt_tokens": -5}}\n\n') + DONE,
    ("choices of another index"): (b'data: {"choices": [{"index": 1, "delta": {"content": "no"}}]}\n\n') + BYTES + ENDED + DONE,
    "a chunk that is null": BYTES + b"data: null\n\n" + ENDED + DONE,
    "a reason that comes twice": BYTES + ENDED + ENDED + DONE,
    ("a reason beside the last piece"): event(OPENED) + event(piece(function={"arguments": ARGUMENTS}), "tool_calls") + DONE,
    "the name in pieces": streamed(
        piece(id="c", function={"name": "find"}), piece(function={"name": "_items", "arguments": ARGUMENTS})
    ),
    ("arguments byte by byte"): streamed(OPENED, *(piece(function={"arguments": each}) for each in ARGUMENTS)),
    "an index that is far off": streamed(piece(9, id="c", function=FUNCTION)),
    "an index below zero": streamed(piece(-1, id="c", function=FUNCTION)),
    "no index": streamed({"tool_calls": [{"id": "c", "function": {"name": "find_items"}}]}, {"tool_calls": [{"function": {"arguments": ARGUMENTS}}]}),
    "an index in words": streamed(piece("0", id="c", function=FUNCTION)),
    "an index that is null": streamed(piece(None, id="c", function=FUNCTION)),
    ("calls of null between"): streamed(OPENED, {"tool_calls": None}, {"tool_calls": []}, {"tool_calls": [None]}, piece(function={"arguments": ARGUMENTS})),
    ("the old form in pieces"): streamed({"function_call": {"name": "find_items", "arguments": '{"name":'}}, {"function_call": {"arguments": ' "Lamp"}'}}),
    ("whole although it was to be streamed"): whole({"role": "assistant", "content": None, "tool_calls": [CALL]}),
}  # fmt: skip
"""Streams whose one good call is executed."""

PAIRS: Mapping[str, tuple[bytes, Sequence[str]]] = {
    "one index for two calls": (
        streamed(piece(id="a", function=FUNCTION), piece(id="b", function=FUNCTION)), GOOD * 2
    ),
    "two calls, interleaved": (
        streamed(
            piece(0, id="a", function={"name": "find_items", "arguments": '{"name": '}),
            piece(2, id="b", function={"name": "find_items", "arguments": "{"}),
            piece(0, function={"arguments": '"Lamp"}'}),
        ),
        [*GOOD, *BAD],
    ),
    "an escape cut in two": (
        streamed(OPENED, piece(function={"arguments": '{"name": "\\ud8'}), piece(function={"arguments": '3d\\ude00"}'})),
        GOOD,
    ),
    "a character cut between its surrogates": (
        streamed(OPENED, piece(function={"arguments": '{"name": "\ud83d'}), piece(function={"arguments": '\ude00"}'})),
        GOOD,
    ),
    "half a character at the end": (
        streamed(OPENED, piece(function={"arguments": '{"name": "\ud83d"}'})), BAD
    ),
    ("arguments that break off"): (streamed(OPENED, piece(function={"arguments": '{"name": "La'})), BAD),
}  # fmt: skip


def _form(raw: bytes, results: Sequence[str]) -> Form:
    return Form(raw, results, "finished" if results else NO_ROW)


def forms(*, stream: bool) -> dict[str, Form]:
    """All of them for one way of travelling, by name."""
    out: dict[str, Form] = {}
    for name, (fields, results) in MESSAGES.items():
        message = message_of(fields)
        nameless = stream and name in {"name a number", "name a list"}  # no piece of a name
        out[name] = _form(
            streamed(message) if stream else whole(message), NAMELESS if nameless else results
        )
    for reason, stop in ENDS.items():
        for what, fields in (("words", {"content": "Done."}), ("a call", {"tool_calls": [CALL]})):
            message = message_of(fields)
            raw = streamed(message, finish=reason) if stream else whole(message, reason)
            promised = reason in {"tool_calls", "function_call"} and what == "words"
            out[f"{reason} after {what}"] = Form(
                raw,
                GOOD if what == "a call" and stop == "finished" else (),
                NO_ROW if promised else stop,
            )
    if stream:
        out |= {name: Form(raw, GOOD) for name, raw in STREAMS.items()}
        out |= {name: Form(raw, results) for name, (raw, results) in PAIRS.items()}
        return {
            name: Form(form.raw, form.results, form.stop, streamed=True)
            for name, form in out.items()
        }
    for name, (fields, results) in WHOLE_ONLY.items():
        out[name] = _form(whole(message_of(fields)), results)
    for reason in (None, "absent", 3, ""):
        out[f"the reason {reason!r}"] = Form(
            whole(message_of({"tool_calls": [CALL]}), reason), GOOD
        )
        out[f"the reason {reason!r} after words"] = Form(
            whole(message_of({"content": "Done."}), reason)
        )
    for usage in (
        None,
        [],
        {"prompt_tokens": -3},
        {"prompt_tokens": 10**30, "completion_tokens": "7"},
        "7",
    ):
        out[f"usage {usage!r}"] = Form(whole(message_of({"tool_calls": [CALL]}), usage=usage), GOOD)
    return out
