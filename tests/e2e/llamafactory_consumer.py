"""Reads exported files with LLaMA-Factory's own code, in an environment of its own.

    python llamafactory_consumer.py FOLDER

The folder holds ``whole.jsonl``, ``turns.jsonl`` (one turn each), ``tagged.jsonl`` and
``qwen3.jinja``. Arguments, tokenizer, data set, template and labels are LLaMA-Factory's, and so are
some training steps of a tiny random model. Prints, as JSON, what each example has in its labels,
what is masked, and the losses.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from llamafactory.data import get_dataset, get_template_and_fix_tokenizer
from llamafactory.extras.constants import IGNORE_INDEX
from llamafactory.hparams import get_train_args
from llamafactory.model import load_tokenizer
from llamafactory.train.tuner import run_exp

from tests.e2e.tiny_model import model, tokenizer

COLUMNS = {"messages": "conversations", "system": "system", "tools": "tools"}
STEPS = 2


def arguments(folder: Path, name: str, **more: object) -> dict[str, object]:
    return {
        "stage": "sft",
        "do_train": True,
        "finetuning_type": "full",
        "model_name_or_path": str(folder / "model"),
        "cache_dir": str(folder / "cache"),
        "dataset": name,
        "dataset_dir": str(folder),
        "template": "qwen3",
        "cutoff_len": 100_000,
        "output_dir": str(folder / f"out-{name}"),
        "per_device_train_batch_size": 1,
        "max_steps": STEPS,
        "logging_steps": 1,
        "report_to": "none",
        "use_cpu": True,
        "save_strategy": "no",
        "disable_tqdm": True,
        **more,
    }


def read(options: dict[str, object]) -> list[dict[str, Any]]:
    """The decoded labels, one text for each turn that is trained on, and the masked text."""
    model_args, data_args, training_args, *_ = get_train_args(options)
    loaded = load_tokenizer(model_args)
    words = loaded["tokenizer"]
    template = get_template_and_fix_tokenizer(words, data_args)
    found = get_dataset(template, model_args, data_args, training_args, stage="sft", **loaded)
    examples: list[dict[str, Any]] = []
    for row in found["train_dataset"]:
        trained: list[list[int]] = []
        masked: list[int] = []
        before = IGNORE_INDEX
        for token, label in zip(row["input_ids"], row["labels"], strict=True):
            if label == IGNORE_INDEX:
                masked.append(token)
            elif before == IGNORE_INDEX:
                trained.append([label])
            else:
                trained[-1].append(label)
            before = label
        examples.append({"trained": words.batch_decode(trained), "masked": words.decode(masked)})
    return examples


def losses(options: dict[str, object]) -> list[float]:
    """The losses of LLaMA-Factory's trainer."""
    run_exp(options)
    state = json.loads((Path(str(options["output_dir"])) / "trainer_state.json").read_text())
    return [entry["loss"] for entry in state["log_history"] if "loss" in entry]


def main(folder: Path) -> dict[str, Any]:
    files = {name: folder / f"{name}.jsonl" for name in ("whole", "turns", "tagged")}
    information = {
        name: {"file_name": file.name, "formatting": "sharegpt", "columns": COLUMNS}
        for name, file in files.items()
    }
    (folder / "dataset_info.json").write_text(json.dumps(information))
    texts = [file.read_text() for file in files.values()]
    tokenizer((folder / "qwen3.jinja").read_text(), texts).save_pretrained(folder / "model")
    model().save_pretrained(folder / "model")
    report: dict[str, Any] = {}
    for name in files:
        options = arguments(folder, name, mask_history=name == "turns")
        report[name] = {"examples": read(options), "losses": losses(options)}
    return report


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
