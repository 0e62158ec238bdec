"""Patterns of task families, a file for each kind of work."""
