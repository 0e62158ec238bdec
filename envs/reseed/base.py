"""What a reseed is asked for and what it reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from envs.errors import DatabaseConfigError, WorldError
from envs.seed_rows import SeedRow

MARKER = "_synth_reseed"
"""The table, on a server, that says which objects a reseed made: only those may it replace."""


class ReseedRefused(DatabaseConfigError):
    """Something is in the way that a reseed did not make; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Scripts:
    """A world's scripts for one engine, in the order in which they run; then ``rows``, those of a seed.py."""

    world: str
    paths: tuple[Path, ...]
    rows: Iterable[SeedRow] = ()

    @classmethod
    def of(cls, folder: Path, engine: str) -> Scripts:
        """``schema.<engine>.sql`` wins over ``schema.sql``, likewise for the seed, which a world may lack."""
        found: list[Path] = []
        for stem in ("schema", "seed"):
            candidates = [folder / f"{stem}.{engine}.sql", folder / f"{stem}.sql"]
            there = next((path for path in candidates if path.is_file()), None)
            if there is not None:
                found.append(there)
            elif stem == "schema":
                raise WorldError(f"there is no schema.sql for {engine}", candidates[-1])
        return cls(folder.name, tuple(found))


@dataclass(frozen=True, slots=True)
class ReseedReport:
    """``where`` is a path or a URL without its password, ``rows`` the number of rows per table that was made,
    ``open_with`` a shell command, ``replaced`` whether something of the same name was there before.
    """

    world: str
    engine: str
    where: str
    rows: Mapping[str, int]
    statements: int
    replaced: bool
    open_with: str
