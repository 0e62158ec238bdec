"""The words in which a user's request is made, varied by a grammar that is data."""

from synth.tasks.wording.grammar import grammar_digest, voice_names
from synth.tasks.wording.reword import reworded

__all__ = ["grammar_digest", "reworded", "voice_names"]
