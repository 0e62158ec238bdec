"""A score for short rollouts:
`synth run env=library 'extensions.wrappers=[extensions.rollout_wrapper:Brief]'`.
"""

from dataclasses import make_dataclass

from synth.episode import Score
from synth.rewards import total_reward
from synth.verdict import Verdict
from synth.wrapper import RolloutWrapper


class Brief(RolloutWrapper):
    Options = make_dataclass("Options", [("calls", int, 4)])
    verifier = "brief"

    async def scored(self, evidence, score, seed, columns):
        share = min(1.0, self.options.calls / max(1, len(evidence.calls)))
        own = Verdict("brief", share, f"{len(evidence.calls)} calls", gate=False)
        return Score(verdicts := [*score.verdicts, own], total_reward(verdicts))
