"""Runtimes: the processes that workers run in.

:data:`synth.plugins.RUNTIMES` names them; :mod:`synth.runner.runtimes.base` is the contract.
"""
