"""Proofs of a world from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from envs.sandboxes.base import DatabaseTarget
from envs.world.loader import load_world
from synth.core.api.episodes import place_of
from synth.core.api.threads import Interrupt, call, in_thread
from synth.core.config.database_target import Kind
from synth.core.foundation.shipped import find_world
from synth.core.validation.cache import ReportCache
from synth.core.validation.check import Options
from synth.core.validation.world import WorldReport, check_world
from synth.errors import OperatorError


def check(
    world: str | Path,
    families: Sequence[str] | None = None,
    *,
    tasks: int = 4,
    universes: int | None = None,
    database: str | Mapping[str, Any] = "sqlite",
    dsn_env_var: str | None = None,
    sandbox: Kind = "pooled",
    workers: int = 1,
    cache: bool = True,
) -> WorldReport:
    """Prove a world: gold works and is reachable, laziness and mistakes cost reward.

    ``world`` is a folder or the name of one that ships, ``families`` the ones to prove (None: all),
    ``tasks`` the number of tasks per case of a family, ``universes`` the number of universes (None:
    2 where the world has a seed.py). ``database``, ``dsn_env_var`` and ``sandbox`` are as in
    :func:`synth.open`. More than one of ``workers`` starts processes, so that a script needs
    ``if __name__ == "__main__":``. ``cache=False`` proves again what proved itself before.

    The report's ``ok`` is true if every family proved itself; ``families`` has a report for each,
    with its ``problems`` and ``surviving`` attacks.

    Raises:
        OperatorError: If there is no such world, family, engine or variable.
        WorldError: For a world that cannot be loaded.
        TaskError: For tasks that cannot be read.
    """
    target = place_of(database, dsn_env_var, sandbox)
    return call(partial(_check, world, families, tasks, universes, target, workers, cache))


acheck = in_thread(check)


def _check(
    name: str | Path,
    families: Sequence[str] | None,
    tasks: int,
    universes: int | None,
    target: tuple[str, DatabaseTarget],
    workers: int,
    cache: bool,
    interrupt: Interrupt,
) -> WorldReport:
    for key, value in {"tasks": tasks, "universes": universes or 1, "workers": workers}.items():
        if value < 1:
            raise OperatorError(f"{key} is a whole number of at least 1, not {value}")
    world = load_world(find_world(str(name)))
    if (universes or 1) > 1 and not world.universes:
        raise OperatorError(
            f"universes={universes}: {world.name} has no seed.py, hence one universe only"
        )
    options = Options(
        families=None if families is None else tuple(families),
        per_case=tasks,
        universes=universes or (2 if world.universes else 1),
        engine=target[0],
        place=target[1],
    )
    remembered = ReportCache(world, options.key) if cache else None
    return check_world(world.path, options, lambda _: interrupt.check(), workers, remembered)
