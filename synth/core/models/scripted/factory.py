"""Construction of ``model=scripted``: the expert, or one that errs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from synth.core.foundation.perturbations import MISTAKE_KINDS, USUAL_RATE, MistakeKind
from synth.core.models.scripted.expert import RETRIES, ScriptedModel
from synth.core.models.scripted.styles import NO_STYLES, StyledModel
from synth.model import Sampling
from synth.plugins import extension, resolve


@dataclass(frozen=True, slots=True)
class ScriptedOptions:
    """Options of ``model=scripted``, from the config's model section."""

    name: str = "scripted"
    mistakes: Sequence[MistakeKind] = ()
    mistake_rate: float | None = None
    tool_retries: int = RETRIES
    style: Mapping[str, float] | None = None


@extension(ScriptedOptions, asks_endpoint=False, ignores=("name",))
def make(options: ScriptedOptions, sampling: Sampling, api_key: str | None) -> ScriptedModel:
    """Build the model that ``model=scripted`` names; it errs if ``mistakes`` or their rate are
    given: without kinds it makes any of :data:`~synth.core.foundation.perturbations.MISTAKE_KINDS`,
    without a rate in 30 percent of the rollouts.
    """
    styles, retries = options.style or NO_STYLES, options.tool_retries
    kinds = options.mistakes or (MISTAKE_KINDS if options.mistake_rate else ())
    if not kinds or options.mistake_rate == 0:
        return StyledModel(styles, options.name, retries)
    fallible: Callable[..., ScriptedModel] = resolve(
        "synth.core.models.scripted.fallible:FallibleModel"
    )
    rate = USUAL_RATE if options.mistake_rate is None else options.mistake_rate
    return fallible(kinds, rate, options.name, retries, styles)
