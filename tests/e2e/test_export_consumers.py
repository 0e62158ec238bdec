"""TRL's trainers and older `datasets` on exported files, in environments of their own.

Run it with ``pytest -m long tests/e2e/test_export_consumers.py``; it needs `uv` and a package index.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from synth.ext.exporters.exporting import export
from synth.ext.exporters.rendering.presets import find_preset
from tests.e2e.isolated import consume, make_environment
from tests.e2e.run_with_mistakes import is_trained, play_with_mistakes, successes
from tests.integration.test_load_dataset import LOAD
from tests.sample_rows import write_run
from tests.tokenizer_file import write_tokenizer
from tests.unit.ext.exporters.test_targets import siblings

pytestmark = pytest.mark.long

Json = Any
PACKAGES = ("trl>=1.16", "torch", "transformers>=5.23", "datasets>=5.0", "jinja2>=3.1.6")


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with TRL."""
    return make_environment(tmp_path_factory.mktemp("trl") / "venv", PACKAGES)


def test_trl_trains_on_every_row_and_never_on_a_mistake(python: Path, tmp_path: Path):
    """SFT, DPO and KTO take some steps; no example is skipped, and the labels of SFT hold no call
    that a mistake made.
    """
    run = play_with_mistakes(tmp_path)
    written = {
        name: export(run, target, tmp_path / f"{name}.parquet", template="qwen3", **more).examples
        for name, target, more in (
            ("trl-sft", "trl-sft", {}),
            ("trl-turns", "trl-sft", {"unit": "turn"}),
            *((target, target, {}) for target in ("trl-dpo", "trl-kto", "trl-grpo")),
        )
    }
    tokenizer = str(write_tokenizer(tmp_path / "tokenizer.json"))
    more = {"template": "qwen3-training", "tokenizer": tokenizer}
    written["tokens"] = export(run, "tokens", tmp_path / "tokens.parquet", **more).examples
    (tmp_path / "qwen3.jinja").write_text(find_preset("qwen3").source)
    report = json.loads(consume(python, "trl_consumer.py", tmp_path, tmp_path / "qwen3.jinja"))
    for name, count in written.items():
        assert set(report[name]["examples"]) == {count}, name
        assert all(math.isfinite(loss) for loss in report[name].get("losses", [])), name
    assert len(report["trl-dpo"]["losses"]) == 3
    assert report["tokens"]["labels"] == report["tokens"]["masks"]
    assert min(report["tokens"]["masks"]) > 0
    assert not set(labels(report)) & mistakes(run)
    assert calls(run, trained=True) <= set(labels(report))


def labels(report: Json) -> list[str]:
    """The calls, as JSON, in the text that SFT trains on."""
    texts = [*report["trl-sft"]["trained"], *report["trl-turns"]["trained"]]
    return [
        part.split("\n</tool_call>")[0]
        for text in texts
        for part in text.split("<tool_call>\n")[1:]
    ]


def calls(run: Path, *, trained: bool) -> set[str]:
    """The calls of successes in turns that are trained on, or are not, without `submit`."""
    return {
        json.dumps(call["function"], ensure_ascii=False)
        for row in successes(run)
        for message in row["messages"]
        if message["role"] == "assistant" and is_trained(message) == trained
        for call in message.get("tool_calls") or ()
        if call["function"]["name"] != "submit"
    }


def mistakes(run: Path) -> set[str]:
    found = calls(run, trained=False) - calls(run, trained=True)
    assert found
    return found


@pytest.mark.parametrize("version", ["3.6.0", "4.0.0"])
def test_older_datasets_read_plain_files(version: str, tmp_path: Path):
    """`datasets` before 4.7 has no type for Arrow's JSON."""
    older = make_environment(tmp_path / "venv", (f"datasets=={version}",))
    (tmp_path / "load.py").write_text(LOAD)
    write_run(tmp_path / "run", siblings())
    for target in ("trl-sft", "trl-dpo", "trl-kto", "trl-grpo", "verl"):
        file = tmp_path / target / "rows.parquet"
        file.parent.mkdir()
        export(tmp_path / "run", target, file, plain=True)
        read = consume(older, tmp_path / "load.py", file.parent, HF_HOME=str(tmp_path / "hf"))
        assert json.loads(read) == {"train": pq.read_table(file).to_pylist()}, target
