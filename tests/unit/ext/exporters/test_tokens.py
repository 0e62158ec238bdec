"""Token ids and loss masks: what is trained on, token by token."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tokenizers import Tokenizer

from synth.errors import OperatorError
from synth.ext.exporters import lengths
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


TARGET = ("run", "--to", "tokens", "--tokenizer", "tokenizer.json")


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


def test_lengths_are_those_of_exported_rows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """The other row has a turn that must not be trained on, and this target has no masks."""
    monkeypatch.setattr(lengths, "BOUNDS", (1,))
    assert main(["run", "--to", "trl-sft"]) == 0
    said = capsys.readouterr().err
    assert "rows: 1 of 2 used" in said
    assert "; 1 over 1 " in said


def test_the_length_of_the_rows_is_said(capsys: pytest.CaptureFixture[str]):
    """huggingface/trl#3927, #6025, unslothai/unsloth#2669: trainers cut long rows in silence."""
    assert main([*TARGET, "--template", "qwen3-training"]) == 0
    counts = [row["num_tokens"] for row in pq.read_table("run.tokens.parquet").to_pylist()]
    said = capsys.readouterr().err
    assert f"{max(counts):,} at most; {sum(one > 1024 for one in counts)} over 1,024, " in said
    for target, setting in (("trl-sft", "SFTConfig(max_length"), ("llamafactory", "cutoff_len")):
        assert main(["run", "--to", target]) == 0
        assert setting in capsys.readouterr().err


RENDERED = ("--template", "qwen3", "--tokenizer", "tokenizer.json")


def test_what_is_too_long_is_left_out_by_name_or_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    """huggingface/trl#3927, #6025: the prompt filled max_length, and nothing was trained on."""
    long = row(1)["messages"]
    long[1] = {**long[1], "content": "Please. " * 2_000}
    write_run(folder / "two", [row(0), row(1, messages=long)])
    for target in ("trl-sft", "axolotl", "openai-jsonl"):
        assert main(["two", "--to", target, *RENDERED, "--max-tokens", "9000"]) == 0
        said = capsys.readouterr()
        assert "left out a177c0ffee5eed01: longer than 9000 tokens" in said.err
        assert "1 example from 2 rows" in said.out
        assert "tokens: " in said.err
    refuse = ["two", "--to", "trl-sft", *RENDERED, "--max-tokens", "9000", "--long", "refuse"]
    with pytest.raises(OperatorError, match="more than --max-tokens 9000: --long drop"):
        main([*refuse, "--out", "none.parquet"])
    assert not (folder / "none.parquet").exists()


def test_a_long_row_goes_turn_by_turn(folder: Path, capsys: pytest.CaptureFixture[str]):
    counts = ["--to", "trl-sft", *RENDERED, "--max-tokens"]
    text = ChatTemplate(find_preset("qwen3")).render(row(0)["messages"], TOOLS)
    most = len(Tokenizer.from_file("tokenizer.json").encode(text).ids)
    write_run(folder / "one", [row(0)])
    assert main(["one", *counts, str(most)]) == 0
    with pytest.raises(OperatorError, match="all are left out"):
        main(["one", *counts, str(most - 1), "--force"])
    assert main(["one", *counts, str(most - 1), "--unit", "turn", "--force"]) == 0
    assert "2 examples from 1 rows" in capsys.readouterr().out


def test_without_a_tokenizer_the_length_is_a_guess(capsys: pytest.CaptureFixture[str]):
    assert main(["run", "--to", "trl-sft"]) == 0
    said = capsys.readouterr().err
    assert "tokens: about " in said
    assert "(by characters; --tokenizer FILE counts)" in said


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
        (TARGET, "--tokenizer counts what a chat template renders"),
        ((*TARGET[:3], "--max-tokens", "9"), "--max-tokens counts tokens: give --tokenizer"),
        ((*TARGET[:3], "--template", "qwen3-training"), "needs a chat template and a tokenizer"),
        ((*TARGET, "--template", "qwen3"), "does not mark what the assistant generates"),
        (
            (*TARGET[:3], "--template", "qwen3-training", "--tokenizer", "run"),
            "--tokenizer run cannot be read",
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
