"""Runtimes by the name that ``runtime=`` takes. Ray is imported only when it is asked for."""

RUNTIMES = {"ray": "synth.runtime.ray:RayRuntime", "inline": "synth.runtime.inline:InlineRuntime"}
