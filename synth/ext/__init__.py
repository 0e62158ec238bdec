"""Capabilities: a folder can be deleted, and everything else works without it."""
