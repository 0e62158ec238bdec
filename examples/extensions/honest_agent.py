"""An honest agent: `synth check library --honest extensions.honest_agent:Recounts`."""

from synth.core.types.steps import CallStep
from synth.core.validation.honest.base import HonestAgent


class Recounts(HonestAgent):
    """Makes each of its reads twice, to be sure."""

    name = "recounts"

    async def start(self, proved):
        steps = []
        for step in proved.task.gold:
            steps.append(step)
            if isinstance(step, CallStep) and proved.tools[step.tool].read_only:
                steps.append(step)
        return proved.expert(steps)
