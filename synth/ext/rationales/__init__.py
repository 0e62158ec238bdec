"""Recorded rollouts into which a teacher writes reasoning and words."""
