"""A tracker, trackio: `synth run 'telemetry.callbacks=[extensions.callback:Tracked]'`."""

import trackio

from synth.core.telemetry import RunCallback


class Tracked(RunCallback):
    def __init__(self, options, home):  # options: those of telemetry.options
        self.project = options.get("project", "synth")

    def run_started(self, run):
        trackio.init(self.project, run.run_id, config=dict(run.config), embed=False)

    def rollout_finished(self, rollout):
        trackio.log({"reward": rollout.reward, "turns": rollout.turns, "cost": rollout.cost_usd})

    def run_ended(self, end):
        trackio.finish()
