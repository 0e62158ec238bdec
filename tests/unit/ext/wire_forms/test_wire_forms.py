"""Anthropic's Messages and OpenAI's Responses: the same conversations and rows as of chat completions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import synth
from synth.__main__ import main
from synth.core.models.openai.endpoint import Endpoint
from synth.errors import ModelRefusedRequest
from synth.model import Completion, Delta, Sampling
from synth.plugins import MODELS
from synth.task import Message

from .strict import CALLS, END, FORMS, KEY, THOUGHT, WORDS, served, told

OPENING: list[Message] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Lend Walden to Ada."},
]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "It finds.",
            "parameters": {"type": "object", "properties": {}},
        },
    }
    for name, _ in CALLS
]

forms = pytest.mark.parametrize("kind", FORMS)


def made(kind: str, url: str, **options: Any) -> Any:
    endpoint = Endpoint("m", url, max_retries=0, **options)
    return MODELS.load(kind)(endpoint, Sampling(temperature=0.5, max_tokens=300), KEY)


@forms
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_an_answer_is_the_same_whole_and_in_pieces(kind: str, stream: bool):
    form, deltas = FORMS[kind](), list[Delta]()
    with served(form) as url:
        model = made(kind, url)
        asked = model.start(None, TOOLS, 1)
        answer: Completion = await asked.complete(OPENING, deltas.append if stream else None)
        await model.aclose()
    assert form.refused == []
    assert (answer.content, answer.reasoning_content) == (WORDS, THOUGHT)
    assert answer.finish_reason == "tool_calls"
    assert [(one.name, json.loads(one.arguments)) for one in answer.tool_calls] == list(CALLS)
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (100, 7)
    assert answer.usage.cached_tokens == 10
    if stream:
        said = told(deltas)
        assert (said["content"], said["reasoning"]) == (WORDS, THOUGHT)
        assert "Ada Kern" in said["tool_call"]


@forms
@pytest.mark.parametrize("stream", ["false", "true"])
def test_a_rollout_is_played_and_recorded(
    kind: str, stream: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The strict endpoint wants its thoughts back, signed, and a result of each call."""
    monkeypatch.setenv("WIRE_KEY", KEY)
    form = FORMS[kind]()
    with served(form) as url:
        job = [f"model={kind}", "model.name=m", f"model.base_url={url}", "runtime=inline"]
        job += ["model.api_key_env=WIRE_KEY", f"model.stream={stream}", "tasks.count=1"]
        job += ["env=library", "tasks.families=[lend_book]", f"output.dir={tmp_path / 'o'}"]
        assert main(["run", *job]) == 0
    assert form.refused == []
    (row,) = synth.load(tmp_path / "o")
    turns = [one for one in row["messages"] if one["role"] == "assistant"]
    assert [one["content"] for one in turns] == [WORDS, END]
    assert turns[0]["reasoning_content"] == THOUGHT
    assert [one["function"]["name"] for one in turns[0]["tool_calls"]] == [
        name for name, _ in CALLS
    ]
    assert [one["role"] for one in row["messages"]][-4:-1] == ["assistant", "tool", "tool"]
    assert (row["input_tokens"], row["output_tokens"]) == (200, 14)
    assert "signature" not in json.dumps(row["messages"])
    assert "encrypted" not in json.dumps(row["messages"])


@forms
async def test_a_refusal_has_the_words_of_the_endpoint(kind: str):
    form = FORMS[kind]()
    with served(form) as url:
        model = MODELS.load(kind)(Endpoint("m", url), Sampling(extra_body={"top_k": 1}), KEY)
        with pytest.raises(ModelRefusedRequest, match="top_k"):
            await model.start(None, TOOLS, 1).complete(OPENING)
        await model.aclose()


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("anthropic", {"content": [{"type": "text"}]}),
        ("anthropic", {"type": "message"}),
        ("responses", {"output": [{"type": "message"}]}),
        ("responses", {"object": "response"}),
    ],
)
async def test_what_an_answer_lacks_is_named(kind: str, body: dict[str, Any]):
    form = FORMS[kind]()
    form.answer = lambda _: body  # pyright: ignore[reportAttributeAccessIssue]
    with served(form) as url:
        model = made(kind, url)
        with pytest.raises(Exception, match=r"lacks|without") as caught:
            await model.start(None, TOOLS, 1).complete(OPENING)
        await model.aclose()
    assert getattr(caught.value, "retryable", None) is True
