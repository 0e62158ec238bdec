"""Reads the rows of ``verl-sft`` by verl's own multi-turn SFT dataset, in an environment of its own.

    python verl_sft_consumer.py FOLDER

The folder holds ``rows.parquet`` and ``template.jinja``. Prints the text of each example, and the
part of it that is trained on, as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd
from omegaconf import OmegaConf
from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset

from tests.e2e.tiny_model import tokenizer


def main(folder: Path) -> list[dict[str, Any]]:
    file = folder / "rows.parquet"
    messages = pd.read_parquet(file)["messages"]
    texts = [message["content"] for row in messages for message in row]
    words = tokenizer((folder / "template.jinja").read_text(), texts)
    config = OmegaConf.create({"max_length": 32_768, "pad_mode": "no_padding"})
    data = MultiTurnSFTDataset(str(file), words, config)
    examples: list[dict[str, Any]] = []
    for index in range(len(data)):
        example = data[index]
        tokens, mask = example["input_ids"], example["loss_mask"].bool()
        examples.append({"text": words.decode(tokens), "trained": words.decode(tokens[mask])})
    return examples


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
