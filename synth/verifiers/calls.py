"""Process gates over the calls that were made."""

from __future__ import annotations

from typing import Any

from synth.types import Verdict
from synth.verifiers.base import Evidence, Verifier

Json = Any


class RequiredCalls(Verifier):
    """Each named tool was called with success at least once."""

    name = "required_calls"

    def verify(self, evidence: Evidence, option: Json) -> Verdict:
        made = {call.name for call in evidence.calls if call.ok}
        absent = [name for name in option if name not in made]
        reason = f"never called with success: {', '.join(absent)}" if absent else "all required calls were made"
        return Verdict(self.name, 0.0 if absent else 1.0, reason)


class ForbiddenCalls(Verifier):
    """None of the named tools was called with success."""

    name = "forbidden_calls"

    def verify(self, evidence: Evidence, option: Json) -> Verdict:
        made = sorted({call.name for call in evidence.calls if call.ok and call.name in option})
        reason = f"forbidden, yet called: {', '.join(made)}" if made else "no forbidden call was made"
        return Verdict(self.name, 0.0 if made else 1.0, reason)
