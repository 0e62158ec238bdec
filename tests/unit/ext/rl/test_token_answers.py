"""Calls are read from the tokens of an answer, whatever ends a turn in the model's template."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from synth.ext.exporters.rendering.chat_template import ChatTemplate
from synth.ext.exporters.rendering.presets import WITH_TOOLS, Preset, find_preset
from synth.ext.rl.token_answers import message_of

ARGUMENTS = {"name": 'Zoë "Z" O\'Hara', "ids": [1, 2], "at": {"ward": "A"}}
TOOL = {
    "type": "function",
    "function": {
        "name": "find_patients",
        "description": "Find patients.",
        "parameters": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "A name."},
                "ids": {"type": "array", "description": "Ids.", "items": {"type": "integer"}},
                "at": {"type": "object", "description": "A place.", "properties": {}},
            },
            "required": ["name"],
        },
    },
}
CALL = {
    "id": "abcdefghi",
    "type": "function",
    "function": {"name": "find_patients", "arguments": ARGUMENTS},
}
ASKED = [{"role": "user", "content": "Where is Zoë?"}]
SPECIAL = re.compile(
    r"<[|\uff5c][^<>|\uff5c\s]+[|\uff5c]>|</?s>|\[/?[A-Z_]{4,}\]|<(?:end|start)_of_turn>"
    r"|<\|\w+>|<\w+\|>"
)
"""Tokens that templates write; the tags of Hermes' calls are no special tokens."""


class Bytes:
    """A tokenizer of bytes with special tokens, under the names of Transformers."""

    def __init__(self, special: Sequence[str]) -> None:
        alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
        words = {word: number for number, word in enumerate([*special, *alphabet])}
        self._tokenizer = Tokenizer(models.BPE(vocab=words, merges=[]))
        self._tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        self._tokenizer.decoder = decoders.ByteLevel()
        self._tokenizer.add_special_tokens([AddedToken(word, special=True) for word in special])

    @property
    def added_tokens_decoder(self) -> dict[int, AddedToken]:
        return self._tokenizer.get_added_tokens_decoder()

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text).ids

    def decode(self, token_ids: Sequence[int], *, skip_special_tokens: bool = False) -> str:
        return self._tokenizer.decode(list(token_ids), skip_special_tokens=skip_special_tokens)


def said(preset: Preset, end: str) -> str:
    """A model's call: from the end of its prompt to the end of its turn."""
    template = ChatTemplate(preset)
    turn = {"role": "assistant", "content": "", "tool_calls": [CALL]}
    whole = template.render([*ASKED, turn], [TOOL])
    words = template.render([*ASKED, {"role": "assistant", "content": "\ufdd2"}], [TOOL])
    start = next(n for n, (a, b) in enumerate(zip(whole, words, strict=False)) if a != b)
    return whole[start:].rstrip().removesuffix(end) + end


def read_back(preset: Preset, end: str) -> dict[str, Any]:
    tokenizer = Bytes([*dict.fromkeys([*SPECIAL.findall(preset.source), end])])
    tokens = tokenizer.encode(said(preset, end))
    assert tokens[-1] in tokenizer.added_tokens_decoder
    return message_of(tokenizer, tokens, {"find_patients"}, 1)


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_calls_are_read_in_the_form_of_each_template(name: str):
    preset = find_preset(name)
    end = "<|call|>" if name.startswith("gpt-oss") else str(preset.eos)
    found = read_back(preset, end)
    (call,) = (entry["function"] for entry in found["tool_calls"])
    assert call["name"] == "find_patients"
    assert json.loads(call["arguments"]) == ARGUMENTS
    assert found["content"] == ""


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        (
            (
                '<|tool_call>call:find_patients{at:{ward:<|"|>A<|"|>},ids:[1, 2],name:<|"|>Zoë {b:1}<|"|>}'
                "<tool_call|><|tool_response>"
            ),
            ("<|tool_call>", "<tool_call|>", "<|tool_response>", '<|"|>'),
        ),
        (
            (
                "<|tool_call_start|>[find_patients(name='Zoë {b:1}', ids=[1, 2], at={'ward': 'A'})]"
                "<|tool_call_end|><|im_end|>"
            ),
            ("<|tool_call_start|>", "<|tool_call_end|>", "<|im_end|>"),
        ),
        (
            (
                '<atem:function_calls>\n<atem:invoke name="find_patients">\n<atem:parameter name="name">'
                'Zoë {b:1}</atem:parameter>\n<atem:parameter name="ids">[1, 2]</atem:parameter>\n'
                '<atem:parameter name="at">{"ward": "A"}</atem:parameter>\n</atem:invoke>\n'
                "</atem:function_calls><|end|>"
            ),
            ("<|end|>",),
        ),
    ],
    ids=["gemma4", "lfm2", "glimmer"],
)
def test_forms_of_templates_that_do_not_ship(text: str, ends: tuple[str, ...]):
    tokenizer = Bytes(ends)
    found = message_of(tokenizer, tokenizer.encode(text), {"find_patients"}, 1)
    (call,) = (entry["function"] for entry in found["tool_calls"])
    wanted = {"name": "Zoë {b:1}", "ids": [1, 2], "at": {"ward": "A"}}
    assert (call["name"], json.loads(call["arguments"])) == ("find_patients", wanted)


@pytest.mark.parametrize("end", ["<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"])
def test_the_end_of_a_turn_is_no_part_of_a_bare_call(end: str):
    text = '{"name": "find_patients", "parameters": {"name": "Zoë"}}'
    tokenizer = Bytes(["<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|python_tag|>"])
    for before in ("", "<|python_tag|>"):
        found = message_of(tokenizer, tokenizer.encode(before + text + end), {"find_patients"}, 2)
        (call,) = found["tool_calls"]
        assert json.loads(call["function"]["arguments"]) == {"name": "Zoë"}
        assert call["id"] == "call_2_0"


def test_words_are_read_without_special_tokens():
    tokenizer = Bytes(["<|im_end|>", "<|extra|>"])
    tokens = tokenizer.encode("She is <|extra|>here.<|im_end|><|im_end|>")
    assert message_of(tokenizer, tokens, (), 1) == {"role": "assistant", "content": "She is here."}
    assert message_of(tokenizer, [], (), 1) == {"role": "assistant", "content": ""}
