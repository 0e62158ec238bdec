"""A snapshot of a live database: its tables as SQLite knows them, and rows that refer to no other.

Only SELECT is sent. Types become SQLite's; columns that hold bytes or what has no plain form are
left out, and rules are kept as far as SQLite decides them alike. Each of them stands in an account.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import Select, TableClause, select

from envs.ledger import Ledger
from synth.ext.authoring.stored import Value

ForeignKey = tuple[tuple[str, ...], str, tuple[str, ...]]
"""Columns, the table to which they refer, the columns there."""


@dataclass(frozen=True, slots=True)
class LiveColumn:
    """A column of a live database in the terms of SQLite. ``default`` and ``computed`` are SQL;
    ``length`` is the most characters of a text, ``digits`` of a number, such as ``(8, 2)``;
    ``small`` are numbers of a byte or two and texts of a few letters; ``maintained`` tells that the
    database sets it, or others by it (``read``).
    """

    name: str
    type: str
    nullable: bool
    choices: tuple[object, ...] = ()
    comment: str | None = None
    default: str | None = None
    computed: str | None = None
    length: int | None = None
    maintained: Literal["", "set", "read"] = ""
    digits: str = ""
    small: bool = False


@dataclass(frozen=True, slots=True)
class LiveTable:
    """A table of a live database. ``links`` are its foreign keys.

    ``checks`` are conditions in SQLite's SQL, ``partials`` unique indexes of some rows: columns and
    condition. ``ledger`` is the account of its columns, keys and rules. ``source`` is the table to
    select from, ``alone``: its rows are read without its children's.
    """

    name: str
    source: TableClause
    columns: tuple[LiveColumn, ...]
    key: tuple[str, ...] = ()
    uniques: tuple[tuple[str, ...], ...] = ()
    links: tuple[ForeignKey, ...] = ()
    comment: str | None = None
    checks: tuple[str, ...] = ()
    partials: tuple[tuple[tuple[str, ...], str], ...] = ()
    ledger: Ledger = field(default_factory=Ledger)
    alone: bool = False

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def bound(self) -> set[str]:
        """The columns that refer to other rows."""
        return {column for columns, _, _ in self.links for column in columns}

    def select(self) -> Select[Any]:
        """The columns, as the database stores their values."""
        found = select(*(self.source.c[name] for name in self.names))
        return found.with_hint(self.source, "ONLY", "postgresql") if self.alone else found


@dataclass
class Rows:
    """Sampled rows by table, each as a map of columns to plain values.

    ``counts`` are the rows that the source has, ``changed`` counts the values that are not as they
    are stored, by column and reason.
    """

    by_table: dict[str, list[dict[str, Value]]] = field(
        default_factory=dict[str, list[dict[str, Value]]]
    )
    counts: dict[str, int] = field(default_factory=dict[str, int], compare=False)
    changed: Counter[tuple[str, str]] = field(
        default_factory=Counter[tuple[str, str]], compare=False
    )
