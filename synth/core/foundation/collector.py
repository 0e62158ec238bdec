"""How often Python's garbage collector runs in processes of synth's own."""

from __future__ import annotations

THRESHOLDS = (50_000, 20, 10)
"""Thresholds for ``gc.set_threshold``.

Python's defaults traverse all that was imported, or all rollouts in flight, so often that a command
needs a quarter more CPU to start and a call of a thousand in flight half as much again. What only
the collector can find is little: a rollout leaves almost nothing.
"""
