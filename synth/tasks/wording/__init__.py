"""The words in which a user's request is made, varied by a grammar that is data."""

from synth.tasks.wording.grammar import voice_names
from synth.tasks.wording.message import joints_digest, message_of
from synth.tasks.wording.reword import VariedWording, reworded

__all__ = ["VariedWording", "joints_digest", "message_of", "reworded", "voice_names"]
