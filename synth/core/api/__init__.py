"""The Python API: the functions that ``import synth`` offers, in synchronous and async forms."""
