"""The name by which verifiers finds synth's tasks: ``vf-eval synth-worlds``."""

from synth.ext.rl.taskset import SynthEnv, SynthHarness, SynthTaskset

__all__ = ["SynthEnv", "SynthHarness", "SynthTaskset"]
