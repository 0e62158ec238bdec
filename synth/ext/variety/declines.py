"""The gate ``declines``: the user hears that the request cannot be met."""

from __future__ import annotations

from synth.core.rewards.reply.sentences import sentences, visible
from synth.evidence import Evidence, Verifier
from synth.verdict import Verdict


class Declines(Verifier):
    """Passes if the assistant's last words deny something ("I can't do that", "no tool for it").
    The gate ``reply`` beside it refuses a claim that it was done.
    """

    name = "declines"

    def verify(self, evidence: Evidence, options: object) -> Verdict:
        last = evidence.spoken[-1].text if evidence.spoken else ""
        said = any(one.denies and not one.asks for one in sentences(visible(last)))
        reason = "the user is told" if said else "nothing says"
        detail = {"apart": ["no tool for it"]}
        return Verdict(self.name, float(said), f"{reason} that it cannot be done", detail=detail)
