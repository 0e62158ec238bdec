"""The words in which a user's request is made, varied by a grammar that is data."""

from synth.ext.variety.wording.grammar import voice_names
from synth.ext.variety.wording.message import joints_digest, message_of
from synth.ext.variety.wording.reword import VariedWording, reworded

__all__ = ["VariedWording", "joints_digest", "message_of", "reworded", "voice_names"]
