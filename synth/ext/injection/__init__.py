"""Hostile text in the data: instructions to the agent in rows that gold reads."""
