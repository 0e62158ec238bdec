"""Models: sources of continuations of a conversation. The contract is :mod:`synth.model`."""
