"""Trains a tiny random model on exported files with TRL, in an environment of its own.

    python trl_consumer.py FOLDER TEMPLATE

The folder holds the exports of ``trl-sft`` (whole and one turn each), ``trl-dpo``, ``trl-kto``,
``trl-grpo`` and ``tokens``. Prints the losses of each trainer, and the turns that SFT trains on, as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from datasets import Dataset, load_dataset
from trl import DPOConfig, DPOTrainer, KTOConfig, KTOTrainer, SFTConfig, SFTTrainer

from tests.e2e.tiny_model import model, tokenizer


def load(folder: Path, name: str) -> Dataset:
    return load_dataset(
        "parquet",
        data_files=str(folder / f"{name}.parquet"),
        split="train",
        cache_dir=str(folder / "cache"),
    )


def common(folder: Path, name: str) -> dict[str, object]:
    return {
        "output_dir": str(folder / f"out-{name}"),
        "per_device_train_batch_size": 2,
        "max_steps": 3,
        "logging_steps": 1,
        "report_to": "none",
        "use_cpu": True,
        "bf16": False,
        "save_strategy": "no",
        "disable_tqdm": True,
        "max_length": None,
        "gradient_checkpointing": False,
    }


def losses(trainer: SFTTrainer | DPOTrainer | KTOTrainer) -> list[float]:
    trainer.train()
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def main(folder: Path, template: str) -> dict[str, object]:
    words = tokenizer(template, [json.dumps(row) for row in load(folder, "trl-sft")])
    report: dict[str, object] = {}
    for name in ("trl-sft", "trl-turns"):
        data = load(folder, name)
        settings = SFTConfig(**common(folder, name), assistant_only_loss=True)
        trainer = SFTTrainer(model(), settings, train_dataset=data, processing_class=words)
        prepared = trainer.train_dataset
        report[name] = {
            "examples": [len(data), len(prepared)],
            "trained": [
                words.decode([label for label in row["labels"] if label != -100])
                for row in prepared
            ],
            "losses": losses(trainer),
        }
    data = load(folder, "tokens")
    settings = SFTConfig(**common(folder, "tokens"))
    trainer = SFTTrainer(model(), settings, train_dataset=data, processing_class=words)
    prepared = trainer.train_dataset
    report["tokens"] = {
        "examples": [len(data), len(prepared)],
        "labels": [sum(label != -100 for label in row["labels"]) for row in prepared],
        "masks": data["num_trained_tokens"][:],
    }
    for name, kind, config in (
        ("trl-dpo", DPOTrainer, DPOConfig),
        ("trl-kto", KTOTrainer, KTOConfig),
    ):
        data = load(folder, name)
        trainer = kind(
            model(),
            ref_model=model(),
            args=config(**common(folder, name)),
            train_dataset=data,
            processing_class=words,
        )
        report[name] = {
            "examples": [len(data), len(trainer.train_dataset)],
            "losses": losses(trainer),
        }
    prompts = load(folder, "trl-grpo")
    report["trl-grpo"] = {
        "examples": [len(prompts)],
        "prompt": words.apply_chat_template(
            prompts[0]["prompt"], tools=prompts[0]["tools"], tokenize=False
        ),
    }
    return report


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), Path(sys.argv[2]).read_text("utf-8"))))
