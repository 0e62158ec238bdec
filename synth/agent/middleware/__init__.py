"""Middlewares: what wraps the calls of a rollout. The contract is
:mod:`synth.agent.middleware.base`.
"""
