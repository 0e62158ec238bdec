"""Personal columns, masked while they are read: made-up values in the place of real ones."""

from __future__ import annotations

import datetime as dt
import random
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from envs.types import Column, Table
from synth.errors import OperatorError
from synth.foundation.suggestions import hint, nearest
from synth.generation.names import snake
from synth.generation.reflect import SECRET
from synth.generation.snapshot import LiveTable, Rows, Value
from synth.personal.guess import guess_columns
from synth.tasks.fake import fake_values

Make = Callable[[int], Sequence[object]]

SHIFT = 900
"""The most days by which a day of birth is moved."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision on one text column: ``masked`` as personal data of a kind, or kept."""

    column: str
    kind: str | None
    masked: bool

    @property
    def line(self) -> str:
        if self.kind is None:
            return f"{self.column}: kept"
        return f"{self.column}: {self.kind}, {'masked' if self.masked else 'kept as you asked'}"


def mask(tables: Sequence[LiveTable], rows: Rows, keep: Sequence[str], seed: int) -> list[Decision]:
    """Replace the values of personal columns in the sample; returns a decision for each column
    that holds text or is personal.

    One real value becomes one made-up value in all columns of its name, so that references hold.
    Raises OperatorError for a column to keep that does not exist.
    """
    kinds = personal_kinds(tables, rows)
    known = {f"{table.name}.{column.name}" for table in tables for column in table.columns}
    for name in keep:
        if name not in known:
            raise OperatorError(f"--keep-column {name}: no such column{hint(nearest(name, known))}")
    draw = random.Random(seed)
    out, made = list[Decision](), dict[str, dict[str, Value]]()
    for table in tables:
        for column in table.columns:
            name = f"{table.name}.{column.name}"
            kind = kinds.get((table.name, column.name))
            if kind is None and (column.type != "TEXT" or column.choices):
                continue
            masked = kind is not None and name not in keep
            out.append(Decision(name, kind, masked))
            if kind is not None and masked:
                values = made.setdefault(f"{kind} {snake(column.name)}", {})
                _mask(rows.by_table[table.name], column.name, kind, values, draw)
    return out


def personal_kinds(tables: Sequence[LiveTable], rows: Rows) -> Mapping[tuple[str, str], str]:
    """The kinds of personal data by table and column, guessed by names and contents."""
    plain = {
        table.name: Table(table.name, tuple(Column(name, "") for name in table.names))
        for table in tables
    }

    def some(table: str, column: str) -> Sequence[object]:
        return [row[column] for row in rows.by_table[table][:50]]

    secrets = {
        (table.name, column.name): "identifier"
        for table in tables
        for column in table.columns
        if column.type == "TEXT" and SECRET.search(snake(column.name))
    }
    return secrets | guess_columns(plain, some)


def _mask(
    rows: list[dict[str, Value]],
    column: str,
    kind: str,
    values: dict[str, Value],
    draw: random.Random,
) -> None:
    fresh = list(dict.fromkeys(str(row[column]) for row in rows if row[column] is not None))
    fresh = [value for value in fresh if value not in values]
    values |= zip(fresh, _made_up(kind, column, fresh, draw), strict=True)
    for row in rows:
        if row[column] is not None:
            row[column] = values[str(row[column])]


def _made_up(kind: str, column: str, real: Sequence[str], draw: random.Random) -> list[Value]:
    if kind == "birth_date":
        return [_moved(value, draw) for value in real]
    provider = _provider(kind, snake(column))
    if provider is None:
        return [_same_form(value, draw) for value in real]
    fresh = _several(provider, 2 * len(real), draw.randrange(1 << 30))
    taken = {value.casefold() for value in real}
    free = [str(value) for value in fresh if str(value).casefold() not in taken]
    return (
        [free[index % len(free)] for index in range(len(real))]
        if free
        else [_same_form(value, draw) for value in real]
    )


def _provider(kind: str, column: str) -> str | None:
    if kind == "name":
        if column.startswith(("first", "given", "fore", "middle")):
            return "first_name"
        return "last_name" if column.startswith(("last", "family", "sur", "maiden")) else "name"
    return {"email": "ascii_safe_email", "address": "street_address"}.get(kind)


def _several(provider: str, count: int, seed: int) -> list[object]:
    """So many values of a provider; where it has not got as many, they come again."""
    size = count
    while size:
        try:
            values = fake_values(provider, size, "en_US", seed)
            return [values[index % size] for index in range(count)]
        except ValueError:
            size //= 2
    return []


def _moved(value: str, draw: random.Random) -> Value:
    try:
        day = dt.date.fromisoformat(value[:10]) + dt.timedelta(draw.randint(-SHIFT, SHIFT))
    except ValueError:
        return _same_form(value, draw)
    return day.isoformat() + value[10:]


def _same_form(value: str, draw: random.Random) -> str:
    """A text of the same form: a digit for a digit, a letter for a letter."""
    out = ""
    for letter in value:
        if letter.isdigit():
            out += draw.choice(string.digits)
        elif letter.isalpha():
            out += draw.choice(
                string.ascii_uppercase if letter.isupper() else string.ascii_lowercase
            )
        else:
            out += letter
    return out
