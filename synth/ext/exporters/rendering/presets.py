"""Chat templates that ship: files in ``templates``, whose sources are in SOURCES.md there."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from envs.unreadable import unreadable
from synth.core.foundation.suggestions import nearest
from synth.errors import OperatorError
from synth.ext.exporters.row_policy import Calls, Ids

_THINKING: Final = re.compile(r"""\.thinking\b|["']thinking["']""")
_MARKS: Final = re.compile(r"^ *\{%- (?:end)?generation %\}\n", re.MULTILINE)
_FOLDER: Final = Path(__file__).parent / "templates"


class RenderError(Exception):
    """A template that refuses a conversation; the text is its reason."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A template and what it needs: the form of calls and ids, and the special tokens it names,
    None where they are not known.
    """

    name: str
    source: str
    bos: str | None = ""
    eos: str | None = ""
    calls: Calls | None = None
    ids: Ids | None = None

    @property
    def thinking(self) -> bool:
        """Whether the template reads reasoning under the key ``thinking`` only."""
        return "reasoning_content" not in self.source and bool(_THINKING.search(self.source))


PRESETS: Final[Mapping[str, tuple[str, str, Calls | None, Ids | None]]] = {
    "qwen2.5": ("", "<|im_end|>", None, None),
    "qwen3": ("", "<|im_end|>", None, None),
    "qwen3-2507": ("", "<|im_end|>", None, None),
    "llama3.1": ("<|begin_of_text|>", "<|eot_id|>", "one", None),
    "llama3.2": ("<|begin_of_text|>", "<|eot_id|>", "one", None),
    "mistral-v3": ("<s>", "</s>", None, "nine"),
    "gpt-oss": ("", "<|return|>", "one", None),
    "glm4.5": ("", "<|endoftext|>", None, None),
    "qwen2.5-training": ("", "<|im_end|>", None, None),
    "qwen3-training": ("", "<|im_end|>", None, None),
    "gpt-oss-training": ("", "<|return|>", "one", None),
    "glm4.5-training": ("", "<|endoftext|>", None, None),
    "smollm2": ("", "<|im_end|>", None, None),
}
"""Name, beginning-of-sequence and end-of-sequence token, calls and ids of each preset."""

WITH_TOOLS: Final = tuple(name for name in PRESETS if name != "smollm2")

MARKED: Final = tuple(name for name in PRESETS if name.endswith("-training"))
"""Presets that mark the text of the assistant, from which loss masks are made."""


def find_preset(name: str) -> Preset:
    """Return the preset of that name, or the template in a file, with the special tokens of the
    ``tokenizer_config.json`` beside it.

    Raises :class:`~synth.errors.OperatorError` for a name that is neither.
    """
    if name in PRESETS:
        bos, eos, calls, ids = PRESETS[name]
        return Preset(name, _shipped(name), bos, eos, calls, ids)
    path = Path(name)
    if path.is_file():
        tokens = special_tokens(path)
        return Preset(path.name, _read(path), tokens.get("bos_token"), tokens.get("eos_token"))
    near = nearest(name, PRESETS)
    meant = f"did you mean {near}? " if near else ""
    raise OperatorError(
        f"--template: {name!r} is neither a file nor a preset; {meant}(presets:"
        f" {', '.join(PRESETS)})"
    )


def _shipped(name: str) -> str:
    """The template of a preset; one that has no file is its training version without marks."""
    file = _FOLDER / f"{name}.jinja"
    if file.is_file():
        return _read(file)
    return _MARKS.sub("", _read(_FOLDER / f"{name}-training.jinja"))


def special_tokens(beside: Path) -> Mapping[str, str]:
    """Return ``bos_token`` and ``eos_token`` as the ``tokenizer_config.json`` beside a file has
    them; a token that is null there is empty, one that is not named there is missing.

    Raises :class:`~synth.errors.OperatorError` for a file that is not JSON.
    """
    path = beside.with_name("tokenizer_config.json")
    if not path.is_file():
        return {}
    try:
        config: dict[str, Any] = json.loads(_read(path))
        named = {key: config[key] for key in ("bos_token", "eos_token") if key in config}
        return {key: str(_content(value) or "") for key, value in named.items()}
    except (ValueError, TypeError, LookupError) as error:
        why = unreadable(error, "the tokenizer_config.json of a model")
        raise OperatorError(f"--template: {path} cannot be read: {why}") from None


def _content(token: Any) -> Any:
    return cast("dict[str, Any]", token)["content"] if isinstance(token, dict) else token


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        why = unreadable(error, "a template in Jinja")
        raise OperatorError(f"--template: {path} cannot be read: {why}") from None
