"""A completion as the JSON of OpenAI's chat-completions answers, whole or in the chunks of a
stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from envs.types import ToolCall
from synth.model import Completion

_CHARACTERS_PER_TOKEN = 4  # a rule of thumb, for completions that bring no usage of their own
_PIECE = 16


def whole(
    completion: Completion, completion_id: str, model: str, created: int, request_length: int
) -> object:
    """Return the answer in one piece; ``request_length`` (bytes) stands in for the tokens of the
    prompt.
    """
    message: dict[str, Any] = {
        "role": "assistant",
        "content": completion.content if completion.content or not completion.tool_calls else None,
        "refusal": completion.refusal,
    }
    if completion.reasoning_content is not None:
        message["reasoning_content"] = completion.reasoning_content
    if completion.tool_calls:
        message["tool_calls"] = [_call(call) for call in completion.tool_calls]
    choice = {
        "index": 0,
        "message": message,
        "logprobs": _logprobs(completion.logprobs),
        "finish_reason": completion.finish_reason,
    }
    if completion.token_ids is not None:
        choice["token_ids"] = list(completion.token_ids)
    return {
        "id": completion_id,
        "object": "chat.completion",
        "created": created,
        "model": model,
        "choices": [choice],
        "usage": _usage(completion, request_length),
    }


def chunks(
    completion: Completion,
    completion_id: str,
    model: str,
    created: int,
    request_length: int,
    *,
    wants_usage: bool,
) -> Iterator[object]:
    """Yield the answer as OpenAI streams it: role, text and arguments in pieces, the finish reason,
    the usage if requested.
    """

    def chunk(delta: object, finish: str | None = None) -> dict[str, Any]:
        out: dict[str, Any] = {
            "id": completion_id,
            "object": "chat.completion.chunk",
            "created": created,
            "model": model,
            "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
        }
        return out | ({"usage": None} if wants_usage else {})

    yield chunk(
        {"role": "assistant", "content": None if completion.tool_calls else "", "refusal": None}
    )
    for key in ("reasoning_content", "content", "refusal"):
        for piece in _pieces(getattr(completion, key) or ""):
            yield chunk({key: piece})
    for index, call in enumerate(completion.tool_calls):
        opening = _call(call)
        opening["function"]["arguments"] = ""
        yield chunk({"tool_calls": [{"index": index, **opening}]})
        for piece in _pieces(call.arguments):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    last = chunk({}, completion.finish_reason)
    last["choices"][0]["logprobs"] = _logprobs(completion.logprobs)
    if completion.token_ids is not None:
        last["choices"][0]["token_ids"] = list(completion.token_ids)
    yield last
    if wants_usage:
        yield {**chunk({}), "choices": [], "usage": _usage(completion, request_length)}


def _logprobs(values: Sequence[float] | None) -> object:
    """Return one entry per token; the tokens' texts are not known."""
    if values is None:
        return None
    content = [
        {"token": "", "logprob": token, "bytes": None, "top_logprobs": list[object]()}
        for token in values
    ]
    return {"content": content, "refusal": None}


def _call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))


def _usage(completion: Completion, request_length: int) -> dict[str, Any]:
    usage = completion.usage
    emitted = len(completion.content) + len(completion.reasoning_content or "")
    emitted += sum(len(call.name) + len(call.arguments) for call in completion.tool_calls)
    prompt = usage.input_tokens if usage.input_tokens is not None else _tokens(request_length)
    answer = usage.output_tokens if usage.output_tokens is not None else _tokens(emitted)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answer,
        "total_tokens": prompt + answer,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens or 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
    }


def _tokens(characters: int) -> int:
    return -(-characters // _CHARACTERS_PER_TOKEN)
