"""The judgement of what the assistant says, in all of its turns and beside its calls."""

from __future__ import annotations

from synth.core.rewards.reply.says import SaysVerifier, mentions
from synth.core.rewards.reply.verifier import ReplyVerifier

__all__ = ["ReplyVerifier", "SaysVerifier", "mentions"]
