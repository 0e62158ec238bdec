"""Trains a tiny random model with TRL's GRPOTrainer on a world, in an environment of its own.

    python grpo_consumer.py WORLD TEMPLATE FOLDER

Prints the steps' losses and rewards, and how many rollouts were judged, as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from synth.ext.rl.trl import TrlTasks
from tests.e2e.tiny_model import model, tokenizer


def main(world: str, template: Path, folder: Path) -> None:
    judged: list[float | None] = []
    with TrlTasks(world, count=8) as tasks:
        rows = tasks.rows()

        def reward(completions: list[Any], environments: list[Any], **more: object) -> list[float]:
            found = tasks.reward(completions, environments)
            judged.extend(found)
            # A random model solves nothing: a part that depends on its words moves it.
            words = [len(str(completion)) % 7 / 100 for completion in completions]
            return [(one or 0.0) + part for one, part in zip(found, words, strict=True)]

        texts = [message["content"] for row in rows for message in row["prompt"]]
        trainer = GRPOTrainer(
            model=model(),
            processing_class=tokenizer(template.read_text(), texts),
            args=GRPOConfig(
                output_dir=str(folder / "grpo"),
                per_device_train_batch_size=4,
                num_generations=4,
                max_completion_length=24,
                max_steps=3,
                logging_steps=1,
                report_to="none",
                use_cpu=True,
                save_strategy="no",
                max_tool_calling_iterations=2,
            ),
            train_dataset=Dataset.from_list(rows),
            environment_factory=tasks.environment,
            reward_funcs=[reward],
        )
        trainer.train()
    steps = [entry for entry in trainer.state.log_history if "loss" in entry]
    print(
        json.dumps(
            {
                "losses": [entry["loss"] for entry in steps],
                "gradients": [entry["grad_norm"] for entry in steps],
                "rewards": [entry["reward"] for entry in steps],
                "judged": judged,
                "tools": sorted(tool.__name__ for tool in trainer.tools),
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
