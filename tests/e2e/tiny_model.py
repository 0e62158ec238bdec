"""A random model of some thousand parameters and a tokenizer for it, for trainers on a CPU."""

from __future__ import annotations

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def tokenizer(template: str, texts: list[str]) -> PreTrainedTokenizerFast:
    """A byte-level tokenizer of these texts, with the special tokens of Qwen."""
    bare = Tokenizer(models.BPE())
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    bare.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=2_000, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
        ),
    )
    made = PreTrainedTokenizerFast(
        tokenizer_object=bare, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    made.chat_template = template
    return made


def model() -> Qwen2ForCausalLM:
    return Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=2_048,
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=1,
        )
    )
