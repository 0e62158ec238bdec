"""The Python door: the functions that ``import synth`` offers, in synchronous and async forms."""
