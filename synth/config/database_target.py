"""Engines by name and servers by the name of a variable, as Python and command-line options."""

from __future__ import annotations

import os
from typing import get_args

from envs.plugins import ENGINES, PluginError
from envs.sandboxes.base import DatabaseTarget, Kind
from synth.config.rules import no_server
from synth.errors import OperatorError

KINDS: tuple[Kind, ...] = get_args(Kind)


def engine_of(database: str, option: str) -> str:
    """The name of an engine, given by its name or alias in the option ``option``.

    Raises :class:`OperatorError` for an unknown engine.
    """
    try:
        return ENGINES.find(database).name
    except PluginError as error:
        raise OperatorError(f"{option}: {error}") from None


def target_of(engine: str, variable: str | None, kind: Kind, option: str) -> DatabaseTarget:
    """The server whose URL a variable holds, None for the one on this machine; ``option`` is where
    it was named.

    Raises :class:`OperatorError` naming the variable where it is not set, and for a variable where
    the engine has no server.
    """
    if variable is None:
        return DatabaseTarget(None, kind)
    if problem := no_server(engine):
        raise OperatorError(f"{option}: {problem}; use postgres or mariadb")
    url = os.environ.get(variable, "").strip()
    if not url:
        raise OperatorError(
            f"{option}: the variable {variable} is not set; export it, or name another"
        )
    return DatabaseTarget(url, kind)
