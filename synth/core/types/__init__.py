"""Frozen, picklable data of which a task, a rollout and a verdict consist."""
