"""Input and report of a reseed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from envs.errors import DatabaseConfigError, WorldError
from envs.reseed.objects import Touch
from envs.sandboxes.load_bounds import bounded_load
from envs.scripts import Dialect, run_script
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


class ServerReseed(ABC):
    """One reseed on an open connection of a driver. ``connect`` opens another session of the same
    user (a SQLAlchemy pool's connection), ``elsewhere`` asks one value in one.
    """

    dialect: ClassVar[Dialect]

    def __init__(
        self,
        connection: Any,
        scripts: Scripts,
        digest: str,
        *,
        force: bool,
        connect: Callable[[], Any],
        elsewhere: Callable[[str], Any],
    ) -> None:
        self._connection = connection
        self._scripts = scripts
        self._digest = digest
        self._force = force
        self._connect = connect
        self._elsewhere = elsewhere
        self.replaced = False

    @abstractmethod
    def run(self) -> tuple[int, dict[str, int]]:
        """Number of statements, and of rows per table. Raises ReseedRefused and ScriptError."""

    def _run_scripts(self, size: str, kill: str) -> int:
        """The number of statements of the scripts. ``size`` asks for the bytes of the database,
        ``kill`` ends what this connection does.
        """
        before = self._elsewhere(size)
        with bounded_load(lambda: self._elsewhere(size) - before, lambda: self._elsewhere(kill)):
            return sum(
                run_script(path, self._connection, self.dialect) for path in self._scripts.paths
            )

    def _refuse_change(self, item: Touch) -> None:
        raise ReseedRefused(
            f"{item.file}:{item.line}: {item.shown} is there already and is not created by this"
            " world: a reseed changes nothing that it does not make"
        )

    def _check_force(self, taken: Iterable[str]) -> None:
        """Refuse what stands where the world's own is to be, unless it may be replaced."""
        if (shown := ", ".join(sorted(taken))) and not self._force:
            raise ReseedRefused(
                f"synth did not make {shown}; use another database, or --force to replace"
            )

    def _rows(self, statement: str, *parameters: Any) -> Sequence[tuple[Any, ...]]:
        return rows_of(self._connection, statement, *parameters)

    def _count_rows(self, table: str) -> int:
        return int(self._rows(f"SELECT count(*) FROM {table}")[0][0])


def rows_of(connection: Any, statement: str, *parameters: Any) -> Sequence[tuple[Any, ...]]:
    """The rows of a statement; none for one that returns no rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters or None)
        return cursor.fetchall() if cursor.description else ()
