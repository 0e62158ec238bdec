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

    async def scored(self, evidence, score, seed, columns):
        share = min(1.0, self.options.calls / max(1, len(evidence.calls)))
        reason = f"{len(evidence.calls)} calls"
        verdicts = [*score.verdicts, Verdict("brief", share, reason, gate=False)]
        return Score(verdicts, total_reward(verdicts))
