"""Input and report of a reseed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from envs.errors import DatabaseConfigError, WorldError
from envs.world.files import database_folder, find_script
from envs.world.seed_rows import SeedRow

MARKER = "_synth_reseed"
"""The table, on a server, that says which objects a reseed made: only those may it replace."""


class ReseedRefused(DatabaseConfigError):
    """Something is in the way that a reseed did not make; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Scripts:
    """A world's scripts for one engine in the order of execution, and ``rows`` of a seed.py."""

    world: str
    paths: tuple[Path, ...]
    rows: Iterable[SeedRow] = ()

    @classmethod
    def of(cls, folder: Path, engine: str) -> Scripts:
        """Find the scripts (:func:`envs.world.files.find_script`); a world may lack the seed."""
        found: list[Path] = []
        home = database_folder(folder)
        for stem in ("schema", "seed"):
            there = find_script(home, stem, engine)
            if there is not None:
                found.append(there)
            elif stem == "schema":
                raise WorldError(f"schema.sql not found for {engine}", home / "schema.sql")
        return cls(folder.name, tuple(found))


@dataclass(frozen=True, slots=True)
class ReseedReport:
    """``where`` is a path or a URL without its password, ``rows`` the number of rows per table that
    was made, ``open_with`` a shell command, ``replaced`` whether something of the same name was
    there before.
    """

    world: str
    engine: str
    where: str
    rows: Mapping[str, int]
    statements: int
    replaced: bool
    open_with: str
