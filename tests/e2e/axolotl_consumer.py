"""Prepares exported rows by Axolotl's own code, as `axolotl preprocess` does, on a CPU, in an
environment of its own.

    python axolotl_consumer.py FOLDER

The folder holds ``configs.json`` (by name, an Axolotl config) and ``qwen3.jinja``, the template of
a tiny tokenizer. Check of the config, loading, tokenizing, labels and the filter by length are
Axolotl's. Writes ``report.json``: for each config the number of rows and, for each example that is
left, its text and the runs of text that are trained on.
"""

from __future__ import annotations

import json
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

from axolotl.utils.config import validate_config
from axolotl.utils.data.sft import prepare_datasets
from axolotl.utils.dict import DictDefault

from tests.e2e.tiny_model import tokenizer

IGNORED = -100
REQUIRED = {
    "base_model": "tiny",
    "micro_batch_size": 1,
    "gradient_accumulation_steps": 1,
    "num_epochs": 1,
    "learning_rate": 1e-4,
    "shuffle_merged_datasets": False,
    "dataset_num_proc": 1,
}


def trained(example: dict[str, Any], words: Any) -> list[str]:
    """Each run of adjacent tokens with a label."""
    runs = groupby(example["labels"], lambda label: label != IGNORED)
    return [words.decode(list(run)) for learned, run in runs if learned]


def main(folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = {}
    for name, given in json.loads((folder / "configs.json").read_text()).items():
        rows = Path(given["datasets"][0]["path"]).read_text("utf-8").splitlines()
        words = tokenizer((folder / "qwen3.jinja").read_text("utf-8"), rows)
        prepared = {"dataset_prepared_path": str(folder / f"prepared-{name}")}
        config = validate_config(DictDefault({**REQUIRED, **prepared, **given}))
        data, *_ = prepare_datasets(config, words)
        for example in data:
            labels = zip(example["labels"], example["input_ids"], strict=True)
            assert all(label in (IGNORED, token) for label, token in labels)
        report[name] = {
            "rows": len(rows),
            "texts": [words.decode(example["input_ids"]) for example in data],
            "trained": [trained(example, words) for example in data],
        }
    return report


if __name__ == "__main__":
    home = Path(sys.argv[1])
    (home / "report.json").write_text(json.dumps(main(home)))
