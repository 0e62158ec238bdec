"""Construction of ``model=scripted``: the expert, or one that errs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from synth.core.foundation.perturbations import MistakeKind
from synth.core.models.scripted.expert import RETRIES, ScriptedModel
from synth.core.models.scripted.styles import NO_STYLES, StyledModel
from synth.model import Sampling
from synth.plugins import extension, resolve


@dataclass(frozen=True, slots=True)
class ScriptedOptions:
    """Options of ``model=scripted``, from the config's model section."""

    name: str = "scripted"
    mistakes: Sequence[MistakeKind] = ()
    mistake_rate: float = 0.3
    tool_retries: int = RETRIES
    style: Mapping[str, float] | None = None


@extension(ScriptedOptions, asks_endpoint=False, ignores=("name",))
def make(options: ScriptedOptions, sampling: Sampling, api_key: str | None) -> ScriptedModel:
    """Build the model that ``model=scripted`` names; it errs only if ``mistakes`` are listed."""
    styles, retries = options.style or NO_STYLES, options.tool_retries
    if not options.mistakes:
        return StyledModel(styles, options.name, retries)
    fallible: Callable[..., ScriptedModel] = resolve(
        "synth.core.models.scripted.fallible:FallibleModel"
    )
    return fallible(options.mistakes, options.mistake_rate, options.name, retries, styles)
