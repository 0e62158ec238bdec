"""Inline, with a line per worker: `synth run runtime.kind=extensions.runtime:Announced`."""

import sys

from synth.core.runner.runtimes.inline import InlineRuntime


class Announced(InlineRuntime):
    name = "announced"

    async def spawn(self):
        print("a worker starts", file=sys.stderr)
        return await super().spawn()
