"""The personal columns of a world: those that its world.yaml declares, otherwise guessed ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from envs.errors import WorldError
from envs.types import Table
from envs.world.loader import World
from envs.world.world_file import NOT_PERSONAL, WORLD_FILE
from synth.core.foundation.suggestions import nearest
from synth.plugins import resolve

Sample = Callable[[str, str], Sequence[object]]
"""Some values of a column of a table."""


@dataclass(frozen=True, slots=True)
class PersonalColumn:
    """A column with personal data. ``kind`` is one of
    :data:`envs.world.world_file.PERSONAL_KINDS`; ``declared`` is False for a guess.
    """

    table: str
    column: str
    kind: str
    declared: bool = True

    @property
    def name(self) -> str:
        return f"{self.table}.{self.column}"


def personal_columns(
    world: World, tables: Mapping[str, Table], sample: Sample
) -> list[PersonalColumn]:
    """The declared columns; the guessed ones if none is declared as personal.

    A column that is declared as ``none`` is never guessed. A world of published databases has no
    guessed columns. Raises :class:`~envs.errors.WorldError` for a column that does not exist.
    """
    for name, traits in world.columns.items():
        table, column = name.split(".")
        known = {f"{item.name}.{cell.name}" for item in tables.values() for cell in item.columns}
        if f"{table}.{column}" not in known:
            near = nearest(name, known)
            meant = f"; did you mean {near!r}?" if near else ""
            message = f"`columns`: the database has no column {name!r}{meant}"
            raise WorldError(message, world.database / WORLD_FILE, traits.line)
    declared = [
        PersonalColumn(name.partition(".")[0], name.partition(".")[2], traits.pii)
        for name, traits in world.columns.items()
        if traits.pii != NOT_PERSONAL
    ]
    if declared or world.databases:
        return declared
    guessed: Mapping[tuple[str, str], str] = resolve("synth.core.personal.guess:guess_columns")(
        tables, sample
    )
    return [
        PersonalColumn(table, column, kind, declared=False)
        for (table, column), kind in guessed.items()
        if f"{table}.{column}" not in world.columns
    ]


def by_table(columns: Sequence[PersonalColumn]) -> dict[str, list[PersonalColumn]]:
    """The columns of each table."""
    out: dict[str, list[PersonalColumn]] = {}
    for column in columns:
        out.setdefault(column.table, []).append(column)
    return out
