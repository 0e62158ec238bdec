"""Reinforcement learning on a toy family: a tiny model from scratch, TRL's GRPOTrainer, verifiers.

    python grpo.py OUT [--warm-steps N] [--steps N] [--seed S] [--threads T]

The family is `hotel`'s change of a room's state in one database. A model of half a million
parameters first imitates the scripted expert for a few steps, until it does some tasks right; then
nothing but the verifiers' rewards of its own rollouts trains it. Prints, and writes to OUT/grpo.json,
how many of 128 sampled rollouts the verifiers passed before and after, and the reward of each step.
Needs `requirements.txt` and synth in one environment.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

import torch
from datasets import Dataset, load_dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

import synth
from synth.core.report.rates import wilson
from synth.ext.rl.trl import TrlTasks

HERE = Path(__file__).parent
WORLD = HERE / "hotel"
FAMILIES = ["mark_clean", "mark_dirty", "block_room"]
TASKS = 10
UNIVERSE = 0
MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>"]
RESPONSE = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "tool_calls": {
            "open": "<tool_call>",
            "close_pattern": r"</tool_call>\s*",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close_pattern": r"<\|im_end\|>\s*", "content": "text"},
    },
}
"""How TRL reads the calls that template.jinja writes."""

GROUP = 8
BATCH = 32
MEASURED = 128


def main() -> None:
    options = make_parser().parse_args()
    torch.set_num_threads(options.threads)
    set_seed(options.seed)
    options.out.mkdir(parents=True, exist_ok=True)
    rows = expert_rows(options.out)
    words = make_tokenizer([json.dumps(row) for row in rows])
    model = make_model(len(words))
    warm = options.out / f"warm-{options.warm_steps}.pt"
    if warm.exists():
        model.load_state_dict(torch.load(warm))
    else:
        imitate(model, words, rows, options)
        torch.save(model.state_dict(), warm)
    with TrlTasks(WORLD, FAMILIES, count=TASKS, universe=UNIVERSE) as tasks:
        before = measure(model, words, tasks, options)
        rewards = reinforce(model, words, tasks, options)
        after = measure(model, words, tasks, options)
    report = {"before": before, "after": after, "rewards": rewards}
    (options.out / "grpo.json").write_text(json.dumps(report))
    for name, passed in (("before", before), ("after", after)):
        low, high = (100 * end for end in wilson(passed, MEASURED))
        rate = 100 * passed / MEASURED
        print(
            f"{name}: {passed} of {MEASURED} rollouts passed, {rate:.1f}% ({low:.1f}% to {high:.1f}%)"
        )


def expert_rows(out: Path) -> Dataset:
    """Rows of the scripted expert on the family, in the form of TRL."""
    file = out / "rows.parquet"
    if not file.exists():
        run = synth.run(
            f"env.path={WORLD}",
            f"tasks.families=[{','.join(FAMILIES)}]",
            f"tasks.universes=[{UNIVERSE}]",
            f"tasks.count={TASKS}",
            "runtime=inline",
            f"output.dir={out / 'run'}",
        )
        synth.export(run.directory, "trl-sft", file, template=str(HERE / "template.jinja"))
    return load_dataset("parquet", data_files=str(file), split="train")


def make_tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    """A tokenizer of these texts, in which nearly each word is one token."""
    bare = Tokenizer(models.BPE())
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=1_000, special_tokens=MARKS, initial_alphabet=alphabet, show_progress=False
    )
    bare.train_from_iterator(texts, trainer)
    made = PreTrainedTokenizerFast(tokenizer_object=bare)
    made.pad_token, _, made.eos_token, *_ = MARKS
    made.chat_template = (HERE / "template.jinja").read_text()
    made.response_template = RESPONSE
    return made


def make_model(vocabulary: int) -> LlamaForCausalLM:
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=vocabulary,
            hidden_size=96,
            intermediate_size=256,
            num_hidden_layers=3,
            num_attention_heads=4,
            max_position_embeddings=1024,
            bos_token_id=None,
            eos_token_id=2,
            pad_token_id=0,
        )
    )


def imitate(
    model: LlamaForCausalLM,
    words: PreTrainedTokenizerFast,
    rows: Dataset,
    options: argparse.Namespace,
) -> None:
    settings = SFTConfig(
        output_dir=str(options.out / "sft"),
        assistant_only_loss=True,
        per_device_train_batch_size=TASKS,
        max_steps=options.warm_steps,
        learning_rate=3e-3,
        lr_scheduler_type="constant_with_warmup",
        warmup_steps=5,
        max_length=None,
        gradient_checkpointing=False,
        **common(options),
    )
    SFTTrainer(model, settings, train_dataset=rows, processing_class=words).train()


def reinforce(
    model: LlamaForCausalLM,
    words: PreTrainedTokenizerFast,
    tasks: TrlTasks,
    options: argparse.Namespace,
) -> list[float]:
    """Train on the verifiers' rewards. Returns the mean reward of each step."""
    trainer = make_trainer(model, words, tasks, options, options.steps)
    trainer.train()
    return [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]


def measure(
    model: LlamaForCausalLM,
    words: PreTrainedTokenizerFast,
    tasks: TrlTasks,
    options: argparse.Namespace,
) -> int:
    """How many of ``MEASURED`` sampled rollouts the verifiers pass; the model stays as it is."""
    trainer = make_trainer(model, words, tasks, options, 1, learning_rate=0.0, batch=MEASURED)
    trainer.train()
    rewards = [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]
    return round(rewards[0] * MEASURED)


def make_trainer(
    model: LlamaForCausalLM,
    words: PreTrainedTokenizerFast,
    tasks: TrlTasks,
    options: argparse.Namespace,
    steps: int,
    learning_rate: float = 1e-4,
    batch: int = BATCH,
) -> GRPOTrainer:
    settings = GRPOConfig(
        output_dir=str(options.out / "grpo"),
        per_device_train_batch_size=batch,
        num_generations=GROUP,
        max_completion_length=96,
        max_tool_calling_iterations=2,
        max_steps=steps,
        learning_rate=learning_rate,
        lr_scheduler_type="constant",
        **common(options),
    )
    return GRPOTrainer(
        model=model,
        processing_class=words,
        args=settings,
        train_dataset=Dataset.from_list(tasks.rows() * GROUP),  # a batch may ask a task again
        environment_factory=tasks.environment,
        reward_funcs=[tasks.reward],
    )


def common(options: argparse.Namespace) -> dict[str, object]:
    return {
        "logging_steps": 1,
        "report_to": "none",
        "save_strategy": "no",
        "use_cpu": True,
        "bf16": False,
        "seed": options.seed,
        "disable_tqdm": True,
    }


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--warm-steps", type=int, default=110, help="of imitation")
    parser.add_argument("--steps", type=int, default=40, help="of GRPO")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    return parser


if __name__ == "__main__":
    main()
