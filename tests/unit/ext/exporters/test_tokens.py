"""Token ids and loss masks: what is trained on, token by token."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tokenizers import Tokenizer

from synth.errors import OperatorError
from synth.ext.exporters.cli import main
from synth.ext.exporters.rendering.chat_template import ChatTemplate, generated_parts
from synth.ext.exporters.rendering.presets import MARKED, find_preset
from tests.sample_rows import TOOLS, masked, row, write_run
from tests.tokenizer_file import write_tokenizer


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_tokenizer(tmp_path / "tokenizer.json")
    write_run(tmp_path / "run", [row(0), masked(1)])
    return tmp_path


TARGET = ("run", "--to", "tokens", "--option", "tokenizer=tokenizer.json")


def test_a_mistake_costs_no_row_and_is_not_trained_on():
    assert main([*TARGET, "--template", "qwen3-training"]) == 0
    plain, recovered = pq.read_table("run.tokens.parquet").to_pylist()
    words = Tokenizer.from_file("tokenizer.json")

    def trained(example: dict[str, list[int]]) -> str:
        pairs = zip(example["input_ids"], example["assistant_masks"], strict=True)
        return words.decode([token for token, mask in pairs if mask], skip_special_tokens=False)

    assert trained(plain).count("<tool_call>") == 2
    assert trained(plain).endswith("Noted: 72 bpm for Zoë O'Brien.<|im_end|>\n")
    assert trained(recovered).count("<tool_call>") == 1
    assert '"medication_id": 12}' in trained(recovered)
    assert "__malformed__" not in trained(recovered)
    assert "__malformed__" in words.decode(recovered["input_ids"])
    for example in (plain, recovered):
        assert example["num_tokens"] == len(example["input_ids"])
        assert example["num_trained_tokens"] == sum(example["assistant_masks"])
    assert plain["trajectory_id"] == row(0)["trajectory_id"]


def test_the_length_of_the_rows_is_said(capsys: pytest.CaptureFixture[str]):
    """huggingface/trl#3927, #6025, unslothai/unsloth#2669: trainers cut long rows in silence."""
    assert main([*TARGET, "--template", "qwen3-training"]) == 0
    counts = [row["num_tokens"] for row in pq.read_table("run.tokens.parquet").to_pylist()]
    said = capsys.readouterr().err
    assert f"{max(counts):,} at most; {sum(one > 1024 for one in counts)} over 1,024, " in said
    for target, setting in (("trl-sft", "SFTConfig(max_length"), ("llamafactory", "cutoff_len")):
        assert main(["run", "--to", target]) == 0
        assert setting in capsys.readouterr().err


def test_ids_are_those_of_the_rendered_text():
    assert main([*TARGET, "--template", "qwen3-training"]) == 0
    first, _ = pq.read_table("run.tokens.parquet").to_pylist()
    text = ChatTemplate(find_preset("qwen3-training")).render(row(0)["messages"], TOOLS)
    words = Tokenizer.from_file("tokenizer.json")
    assert words.decode(first["input_ids"], skip_special_tokens=False) == text


@pytest.mark.parametrize("name", MARKED)
def test_every_training_preset_marks_each_turn(name: str):
    marked = ChatTemplate(find_preset(name)).render_marked(row(0)["messages"], TOOLS)
    text, spans = generated_parts(marked)
    assert len(spans) == 3
    assert "find_patients" in text[slice(*spans[0])]
    assert "Noted: 72 bpm" in text[slice(*spans[2])]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (TARGET, "needs a chat template and a tokenizer"),
        ((*TARGET[:3], "--template", "qwen3-training"), "needs a chat template and a tokenizer"),
        ((*TARGET, "--template", "qwen3"), "does not mark what the assistant generates"),
        (
            (*TARGET[:3], "--template", "qwen3-training", "--option", "tokenizer=run"),
            "tokenizer: run cannot be read",
        ),
    ],
)
def test_what_is_missing_is_one_message(arguments: tuple[str, ...], words: str, folder: Path):
    with pytest.raises(OperatorError) as caught:
        main([*arguments])
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not list(folder.glob("*.parquet"))


ENDED = """\
{{ bos_token }}{{ tools | tojson }}{% for message in messages %}
{% if message.role == 'assistant' %}{% generation %}{{ message.content }}
{% for call in message.tool_calls %}
<tool_call>
{{ call.function | tojson }}
</tool_call>
{% endfor %}
{{ eos_token }}{% endgeneration %}
{% else %}{{ message.content }}{% endif %}
{% endfor %}
"""


def first_text(folder: Path) -> str:
    (first, *_) = pq.read_table(folder / "run.tokens.parquet").to_pylist()
    words = Tokenizer.from_file(str(folder / "tokenizer.json"))
    return words.decode(first["input_ids"], skip_special_tokens=False)


@pytest.mark.parametrize("place", ["template", "."])
def test_special_tokens_are_those_of_the_checkpoint(place: str, folder: Path):
    """A model that never sees the end of a turn does not learn to stop."""
    (folder / "template").mkdir()
    (folder / "template/mine.jinja").write_text(ENDED)
    config = {"bos_token": None, "eos_token": {"content": "<|im_end|>", "special": True}}
    (folder / place / "tokenizer_config.json").write_text(json.dumps(config))
    assert main([*TARGET, "--template", "template/mine.jinja"]) == 0
    assert first_text(folder).count("<|im_end|>") == 3


def test_special_tokens_that_are_not_known_are_asked_for(folder: Path):
    (folder / "mine.jinja").write_text(ENDED)
    command = [*TARGET, "--template", "mine.jinja"]
    with pytest.raises(OperatorError, match="names bos_token, which is not known"):
        main(command)
    with pytest.raises(OperatorError, match=r"names eos_token.*--option eos=TOKEN"):
        main([*command, "--option", "bos=''"])
    assert main([*command, "--option", "bos=''", "--option", "eos=<|im_end|>"]) == 0
    assert first_text(folder).count("<|im_end|>") == 3


def test_a_broken_tokenizer_config_is_one_message(folder: Path):
    (folder / "mine.jinja").write_text(ENDED)
    for text in ("{", "[]", '{"bos_token": {}}'):
        (folder / "tokenizer_config.json").write_text(text)
        with pytest.raises(OperatorError, match=r"tokenizer_config\.json"):
            main([*TARGET, "--template", "mine.jinja"])
