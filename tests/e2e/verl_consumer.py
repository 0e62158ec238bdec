"""Plays exported rows by verl's own worker and trains a tiny random model on them, on a CPU, in an
environment of its own.

    python verl_consumer.py FOLDER

The folder holds a run (``run``), its rows (``rows.parquet``), ``loop.yaml`` and ``qwen3.jinja``.
verl has no engine for CPUs: :class:`Engine` samples from the model in its place. As a random model
solves nothing, every other rollout of a task is the recorded one of the expert. Dataset, worker,
batches, advantages and the loss are verl's. Prints what came out of each step as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import torch
from hydra import compose, initialize_config_module
from verl import DataProto
from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage, compute_policy_loss_vanilla
from verl.utils.config import omega_conf_to_dataclass
from verl.utils.dataset.rl_dataset import collate_fn, get_dataset_class
from verl.workers.rollout.replica import TokenOutput

from synth.core.dataset.reader import Dataset
from tests.e2e.tiny_model import model, tokenizer

STEPS = 3
GROUP = 4
PROMPT, RESPONSE = 10_240, 2_048


class Engine:
    """Answers as verl's client of an inference server does."""

    def __init__(self, policy: Any, words: Any, expert: dict[str, list[dict[str, Any]]]) -> None:
        self.policy, self.words, self.expert = policy, words, expert
        self.rollouts: Counter[str] = Counter()
        self.scripts: dict[str, list[list[int]]] = {}
        self.step = 0

    async def generate(
        self, request_id: str, *, prompt_ids: list[int], sampling_params: dict[str, Any], **_: Any
    ) -> TokenOutput:
        assert sampling_params["temperature"] == 1.0
        if request_id not in self.scripts:
            self.scripts[request_id] = self.script(self.words.decode(prompt_ids))
        script = self.scripts[request_id]
        chosen = script.pop(0) if script else self.sample(prompt_ids)
        scores = logprobs(self.policy, torch.tensor([prompt_ids + chosen]))[0, -len(chosen) :]
        return TokenOutput(
            token_ids=chosen,
            log_probs=scores.tolist(),
            extra_fields={"min_global_steps": self.step, "max_global_steps": self.step},
        )

    def script(self, prompt: str) -> list[list[int]]:
        """The expert's answers for every other rollout of the task that the prompt opens."""
        request = max((text for text in self.expert if text in prompt), key=len)
        self.rollouts[request] += 1
        if self.rollouts[request] % 2:
            return []
        answers: list[list[int]] = []
        for message in self.expert[request]:
            if message["role"] == "assistant":
                calls = [
                    {"name": call["function"]["name"], "arguments": call["function"]["arguments"]}
                    for call in message.get("tool_calls") or ()
                ]
                marked = (f"<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in calls)
                text = "\n".join([message["content"] or "", *marked]) + "<|im_end|>"
                answers.append(self.words.encode(text.strip(), add_special_tokens=False))
        return answers

    def sample(self, prompt: list[int]) -> list[int]:
        with torch.no_grad():
            out = self.policy.generate(
                torch.tensor([prompt]), do_sample=True, max_new_tokens=24, top_k=0
            )
        return out[0, len(prompt) :].tolist()


def logprobs(policy: Any, tokens: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
    """Of each token but the first, given those before it."""
    positions = None if mask is None else (mask.cumsum(-1) - 1).clamp(min=0)
    logits = policy(tokens, attention_mask=mask, position_ids=positions).logits[:, :-1]
    return logits.log_softmax(-1).gather(-1, tokens[:, 1:, None])[..., 0]


def config_of(folder: Path) -> Any:
    with initialize_config_module("verl.trainer.config", version_base=None):
        return compose(
            "ppo_trainer",
            [
                f"data.train_files={folder / 'rows.parquet'}",
                f"data.max_prompt_length={PROMPT}",
                f"data.max_response_length={RESPONSE}",
                "data.return_raw_chat=true",
                f"actor_rollout_ref.model.path={folder / 'model'}",
                "actor_rollout_ref.rollout.name=vllm",
                f"actor_rollout_ref.rollout.n={GROUP}",
                "actor_rollout_ref.rollout.calculate_log_probs=true",
                f"actor_rollout_ref.rollout.agent.agent_loop_config_path={folder / 'loop.yaml'}",
                "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4",
                "algorithm.adv_estimator=grpo",
            ],
        )


def main(folder: Path) -> dict[str, Any]:
    torch.manual_seed(0)
    expert: dict[str, list[dict[str, Any]]] = {}
    with Dataset.open(folder / "run") as run:
        for row in run.rows():
            opening = next(item["content"] for item in row["messages"] if item["role"] == "user")
            expert[opening] = row["messages"]
    words = tokenizer(
        (folder / "qwen3.jinja").read_text(), [json.dumps(row) for row in expert.values()]
    )
    policy = model()
    policy.save_pretrained(folder / "model")
    words.save_pretrained(folder / "model")
    config = config_of(folder)
    engine = Engine(policy, words, expert)
    worker = AgentLoopWorker(config, engine)
    data = get_dataset_class(config.data)(
        data_files=config.data.train_files, tokenizer=words, config=config.data
    )
    batch = DataProto.from_single_dict(collate_fn([data[index] for index in range(len(data))]))
    actor = omega_conf_to_dataclass(config.actor_rollout_ref.actor)
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    steps: list[dict[str, Any]] = []
    for step in range(STEPS):
        engine.step = step
        rollouts = asyncio.run(worker.generate_sequences(batch.repeat(GROUP, interleave=True)))
        tensors, mask = rollouts.batch, rollouts.batch["response_mask"]
        advantages, _ = compute_grpo_outcome_advantage(
            tensors["rm_scores"],
            mask,
            index=[info["task_id"] for info in rollouts.non_tensor_batch["extra_info"]],
        )
        scores = logprobs(policy, tensors["input_ids"], tensors["attention_mask"])[:, PROMPT - 1 :]
        sampled = tensors["rollout_log_probs"]
        loss, _ = compute_policy_loss_vanilla(sampled, scores, advantages, mask, config=actor)
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
        rewards = tensors["rm_scores"].sum(-1)
        good = (rewards == 1.0)[:, None] * mask
        steps.append(
            {
                "rewards": rewards.tolist(),
                "solved": rollouts.non_tensor_batch["solved"].tolist(),
                "policy": rollouts.non_tensor_batch["max_global_steps"].tolist(),
                "turns": rollouts.non_tensor_batch["__num_turns__"].tolist(),
                "trained": mask.sum(-1).tolist(),
                "drift": ((scores - sampled).abs() * mask).max().item(),
                "gradient": norm.item(),
                "good": ((scores * good).sum() / good.sum()).item(),
                "text": words.decode(tensors["responses"][rewards.argmax()][:700]),
                "learned": words.decode(
                    tensors["responses"][rewards.argmax()][mask[rewards.argmax()].bool()]
                ),
            }
        )
    return {"tasks": len(data), "steps": steps}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
