"""Rollouts that somebody outside plays or supervises while they run."""
