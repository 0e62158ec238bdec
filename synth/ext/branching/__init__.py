"""Rollouts that begin with the first turns of a recorded one."""
