"""Runtimes: the processes that workers run in.

:data:`synth.plugins.RUNTIMES` names them; :mod:`synth.core.runner.runtimes.base` is the contract.
"""
