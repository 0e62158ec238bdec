"""Users: partners who answer the agent. The contract is :mod:`synth.user`."""
