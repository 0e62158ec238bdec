"""Renamings: the same tools, rules and data under other names."""
