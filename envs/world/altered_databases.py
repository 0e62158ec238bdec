"""Changes that make another database, on which a query must be right too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from envs.sandboxes.server import altered_rows as server_rows
from envs.sandboxes.sqlite.row_subsets import row_subset
from envs.sandboxes.sqlite.shifted_columns import renamed_keys, shifted_columns
from envs.scripts import Dialect

ALTERATIONS: tuple[Callable[[Any, Dialect], None], ...] = (
    *(partial(server_rows.row_subset, part=part, parts=2) for part in range(2)),
    *(partial(server_rows.row_subset, part=part, parts=8) for part in (0, 3, 6)),
    *(partial(server_rows.exchanged_rows, step=step) for step in (1, 3)),
    *(partial(server_rows.shifted_columns, bit=bit) for bit in range(4)),
)
"""Changes to a database on a server, each of which makes another one that queries are judged on."""

COPIES: tuple[Callable[[bytes], bytes], ...] = (
    *(partial(row_subset, part=part, parts=2) for part in range(2)),
    *(partial(row_subset, part=part, parts=3) for part in range(3)),
    *(partial(row_subset, part=part, parts=8) for part in (0, 3, 6)),
    *(partial(renamed_keys, step=step) for step in (1, 3)),
    *(partial(shifted_columns, bit=bit) for bit in range(4)),
)
"""Copies of a SQLite database that queries are judged on, from images; those that keep rows whole
come first.
"""
