"""Worlds and task families that nobody wrote by hand."""
