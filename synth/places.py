"""Where sandboxes live: engines by the names that ``database=`` has for them, servers by the name of a variable."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal, get_args

from envs.sandboxes.base import Place
from synth.errors import OperatorError
from synth.nearest import hint, nearest

DATABASES: Mapping[str, str] = {"sqlite": "sqlite", "postgres": "postgresql", "mysql": "mysql"}

Kind = Literal["pooled", "cloned"]
KINDS: tuple[Kind, ...] = get_args(Kind)


def engine_of(database: str, option: str) -> str:
    """The engine of that name. Raises :class:`OperatorError` where there is none; ``option`` is where it was named."""
    if database not in DATABASES:
        raise OperatorError(
            f"{option}: {database!r} is none of {', '.join(DATABASES)}{hint(nearest(database, DATABASES))}"
        )
    return DATABASES[database]


def place_of(variable: str | None, kind: Kind, option: str) -> Place:
    """The server whose URL a variable holds, None for the one on this machine; ``option`` is where it was named.

    Raises :class:`OperatorError` naming the variable where it is not set.
    """
    if variable is None:
        return Place(None, kind)
    url = os.environ.get(variable, "").strip()
    if not url:
        raise OperatorError(f"{option}: the variable {variable} is not set; export it, or name another")
    return Place(url, kind)
