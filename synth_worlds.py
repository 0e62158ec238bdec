"""The name by which verifiers finds synth's tasks: ``vf-eval synth-worlds``."""

from synth.errors import OperatorError

try:
    from synth.ext.rl.taskset import SynthEnv, SynthHarness, SynthTaskset
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "verifiers":
        raise
    raise OperatorError(
        'synth-worlds needs verifiers: pip install "verifiers>=0.4", then synth-worlds again'
    ) from None

__all__ = ["SynthEnv", "SynthHarness", "SynthTaskset"]
