"""Endpoints on loopback that speak one wire form and refuse what its service refuses.

Each answers the first turn with a thought, words and two calls, and the second with words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.loopback import Handler, loopback

KEY = "a-key-of-this-test"
THOUGHT, WORDS, END = "Who is Ada?", "I look.", "That is all."
CALLS = (("find_member", {"name": "Ada Kern"}), ("find_book", {"title": "Walden"}))
THINKING = {"type": "thinking", "thinking": THOUGHT, "signature": "c2lnbmVk"}
REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": THOUGHT}],
    "encrypted_content": "b3BhcXVl",
}


@dataclass
class Form:
    """A wire form: its path, what it refuses, and how it answers; ``refused`` are its refusals."""

    path: str
    refused: list[str] = field(default_factory=list[str])
    bodies: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def problem(self, body: dict[str, Any], headers: dict[str, str]) -> str | None:
        raise NotImplementedError

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def events(self, answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
        raise NotImplementedError


class Anthropic(Form):
    known = frozenset(
        ["model", "messages", "system", "tools", "max_tokens", "stream", "temperature"]
    )

    def problem(self, body: dict[str, Any], headers: dict[str, str]) -> str | None:
        if headers.get("x-api-key") != KEY or "anthropic-version" not in headers:
            return "x-api-key and anthropic-version are wanted"
        if unknown := body.keys() - self.known:
            return f"{unknown}: Extra inputs are not permitted"
        if "max_tokens" not in body:
            return "max_tokens: Field required"
        roles = [one["role"] for one in body["messages"]]
        if roles != [("user", "assistant")[at % 2] for at in range(len(roles))]:
            return f"roles must alternate: {roles}"
        if any(tool.keys() != {"name", "description", "input_schema"} for tool in body["tools"]):
            return "tools: wrong keys"
        for before, after in zip(body["messages"], [*body["messages"][1:], None], strict=True):
            blocks = before["content"]
            if any(one["type"] == "text" and not one["text"].strip() for one in blocks):
                return "text content blocks must be non-empty"
            asked = [one["id"] for one in blocks if one["type"] == "tool_use"]
            if asked and blocks[0] != THINKING:
                return "a turn with tool_use must begin with its thinking block"
            given = [one.get("tool_use_id") for one in after["content"]] if after else []
            if asked != given[: len(asked)]:
                return "tool_use ids without tool_result blocks immediately after"
        return None

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        usage = {"input_tokens": 90, "cache_read_input_tokens": 10, "output_tokens": 7}
        head = {"id": "msg", "type": "message", "role": "assistant", "model": "m", "usage": usage}
        if any(one["role"] == "assistant" for one in body["messages"]):
            return {**head, "stop_reason": "end_turn", "content": [{"type": "text", "text": END}]}
        calls = [
            {"type": "tool_use", "id": f"toolu_{at}", "name": name, "input": arguments}
            for at, (name, arguments) in enumerate(CALLS)
        ]
        content = [THINKING, {"type": "text", "text": WORDS}, *calls]
        return {**head, "stop_reason": "tool_use", "content": content}

    def events(self, answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
        usage = answer["usage"]
        start = {
            **answer,
            "content": [],
            "stop_reason": None,
            "usage": usage | {"output_tokens": 1},
        }
        yield {"type": "message_start", "message": start}
        yield {"type": "ping"}
        empty = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}}
        for index, block in enumerate(answer["content"]):
            kind = block["type"]
            opened = {**block, **empty.get(kind, {"input": {}})}
            yield {"type": "content_block_start", "index": index, "content_block": opened}
            text = json.dumps(block["input"]) if kind == "tool_use" else block[kind]
            name, key = {
                "text": ("text_delta", "text"),
                "thinking": ("thinking_delta", "thinking"),
                "tool_use": ("input_json_delta", "partial_json"),
            }[kind]
            deltas = [{"type": name, key: part} for part in (text[:4], text[4:])]
            if kind == "thinking":
                deltas.append({"type": "signature_delta", "signature": block["signature"]})
            for delta in deltas:
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        end = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
        tokens = {"output_tokens": usage["output_tokens"]}
        yield {"type": "message_delta", "delta": end, "usage": tokens}
        yield {"type": "message_stop"}


class Responses(Form):
    known = frozenset(
        [
            "model",
            "input",
            "tools",
            "max_output_tokens",
            "stream",
            "temperature",
            "store",
            "include",
        ]
    )

    def problem(self, body: dict[str, Any], headers: dict[str, str]) -> str | None:
        if headers.get("authorization") != f"Bearer {KEY}":
            return "no key"
        if unknown := body.keys() - self.known:
            return f"Unknown parameter: {unknown}"
        if body.get("store") is not False or "reasoning.encrypted_content" not in body["include"]:
            return "a client that stores nothing takes its reasoning along"
        if any("function" in tool or tool["type"] != "function" for tool in body["tools"]):
            return "tools: the flat form is wanted"
        kinds = [one.get("type", "message") for one in body["input"]]
        asked = [one["call_id"] for one in body["input"] if one.get("type") == "function_call"]
        given = [
            one["call_id"] for one in body["input"] if one.get("type") == "function_call_output"
        ]
        if asked != given:
            return "No tool output found for function call"
        if asked and REASONING not in body["input"][: kinds.index("function_call")]:
            return "function_call was provided without its required 'reasoning' item"
        return None

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        usage = {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 10},
            "output_tokens": 7,
            "output_tokens_details": {"reasoning_tokens": 3},
        }
        head = {"id": "resp", "object": "response", "model": "m", "usage": usage, "error": None}
        head |= {"status": "completed", "incomplete_details": None}
        if any(one.get("type") == "function_call" for one in body["input"]):
            return {**head, "output": [message(END)]}
        calls = [
            {
                "type": "function_call",
                "id": f"fc_{at}",
                "call_id": f"call_{at}",
                "name": name,
                "arguments": json.dumps(arguments),
                "status": "completed",
            }
            for at, (name, arguments) in enumerate(CALLS)
        ]
        return {**head, "output": [REASONING, message(WORDS), *calls]}

    def events(self, answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
        begun = {**answer, "output": [], "status": "in_progress"}
        yield {"type": "response.created", "response": begun}
        for at, item in enumerate(answer["output"]):
            yield {"type": "response.output_item.added", "output_index": at, "item": item}
            name, text = {
                "reasoning": ("response.reasoning_summary_text.delta", THOUGHT),
                "message": (
                    "response.output_text.delta",
                    item["content"][0]["text"] if item["type"] == "message" else "",
                ),
                "function_call": (
                    "response.function_call_arguments.delta",
                    item.get("arguments", ""),
                ),
            }[item["type"]]
            for part in (text[:4], text[4:]):
                yield {"type": name, "output_index": at, "delta": part}
            yield {"type": "response.output_item.done", "output_index": at, "item": item}
        yield {"type": "response.completed", "response": answer}


def message(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    head = {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant"}
    return {**head, "content": [part]}


FORMS = {
    "anthropic": lambda: Anthropic("/v1/messages"),
    "responses": lambda: Responses("/v1/responses"),
}


@contextmanager
def served(form: Form) -> Iterator[str]:
    """Serve a form; yields the base URL."""

    class Strict(Handler):
        def do_GET(self) -> None:
            self.send_json(200, {"data": [{"id": "m"}]})

        def do_POST(self) -> None:
            body = json.loads(self.body())
            form.bodies.append(body)
            headers = {key.lower(): value for key, value in self.headers.items()}
            wrong = self.path != form.path and f"no {self.path} here"
            if problem := wrong or form.problem(body, headers):
                form.refused.append(problem)
                error = {"type": "invalid_request_error", "message": problem}
                return self.send_json(400, {"type": "error", "error": error})
            answer = form.answer(body)
            if not body.get("stream"):
                return self.send_json(200, answer)
            lines = [f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in form.events(answer)]  # fmt: skip
            return self.send(200, "".join(lines).encode(), "text/event-stream")

    with loopback(Strict) as url:
        yield f"{url}/v1"


def told(deltas: Sequence[Any]) -> dict[str, str]:
    """The texts of deltas by kind."""
    out: dict[str, str] = {}
    for delta in deltas:
        out[delta.kind] = out.get(delta.kind, "") + delta.text
    return out
