"""A gate for many worlds: `gates: [state, {"extensions.reward:FewCalls": {most: 3}}]` in tasks.yaml."""

from dataclasses import dataclass

from synth.rewards import Verifier
from synth.verdict import Verdict


@dataclass
class Options:
    most: int = 5


class FewCalls(Verifier):
    name, options = "few_calls", Options

    def verify(self, evidence, options):
        count = len(evidence.calls)
        return Verdict(self.name, float(count <= options.most), f"{count} calls")
