"""Environments of RL trainers that play in process."""
