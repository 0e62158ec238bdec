"""Rewards measured on transcripts of real models whose rollouts a benchmark has judged."""
