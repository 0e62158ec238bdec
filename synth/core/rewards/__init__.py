"""Verifiers: end state, answer, calls, reply; and how their verdicts become a reward."""
