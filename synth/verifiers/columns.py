"""When two values of a column count as one, and which columns hold keys that the database made up.

A world's ``compare`` maps ``table.column`` or ``*.column`` to exact, ignore, free_text or ``{abs: x}`` (a bare table
to append_only, which is no matter of columns). Where it says nothing, a column is exact.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, cast

from envs.types import Column, RowChange, Table

Json = Any

_GENERATED = re.compile("INT|SERIAL|UUID", re.IGNORECASE)
_DECIMAL = re.compile("NUMERIC|DECIMAL|NUMBER|MONEY", re.IGNORECASE)


class Columns:
    """The rules and the schema of one comparison, asked for many values."""

    def __init__(self, rules: Mapping[str, Json], tables: Mapping[str, Table]) -> None:
        self._rules, self._tables = rules, tables
        self._found: dict[tuple[str, str], Json] = {}
        self._known: dict[str, dict[str, Column]] = {}
        self._keys: dict[str, str | None] = {}
        self._roots: dict[tuple[str, str], str | None] = {}

    def rule(self, table: str, column: str) -> Json:
        place = table, column
        if place not in self._found:
            self._found[place] = self._declared(table, column) or "exact"
        return self._found[place]

    def _declared(self, table: str, column: str) -> Json:
        return self._rules.get(f"{table}.{column}", self._rules.get(f"*.{column}"))

    def generated_key(self, table: str) -> str | None:
        """The column whose value the database makes: a key of one whole number or UUID that refers to nothing.

        A world says ``table.key: exact`` where the number means something, as a room's does.
        """
        if table not in self._keys:
            known = self._tables.get(table)
            name = known.primary_key[0] if known is not None and len(known.primary_key) == 1 else ""
            column = self._column(table, name)
            generated = column is not None and column.references is None and _GENERATED.search(column.type)
            self._keys[table] = name if generated and self._declared(table, name) != "exact" else None
        return self._keys[table]

    def own_key(self, change: RowChange) -> Json:
        """The generated key of a new row, or None. SQLite takes NULL, text and bytes in a key of numbers: they name
        nothing.
        """
        name = self.generated_key(change.table) if change.op == "insert" else None
        column = None if name is None else self._column(change.table, name)
        if column is None:
            return None
        value = (change.after or {}).get(column.name)
        return value if isinstance(value, str if "UUID" in column.type.upper() else int) else None

    def refers_to(self, table: str, column: str) -> str | None:
        """The table whose generated key the column holds, by way of other tables' keys where those are references."""
        if (table, column) not in self._roots:
            at, seen = (table, column), set[tuple[str, str]]()
            while at not in seen and (known := self._column(*at)) is not None and known.references is not None:
                seen.add(at)
                at = known.references
            self._roots[table, column] = at[0] if seen and self.generated_key(at[0]) == at[1] else None
        return self._roots[table, column]

    def _column(self, table: str, column: str) -> Column | None:
        if table not in self._known:
            known = self._tables.get(table)
            self._known[table] = {each.name: each for each in known.columns} if known is not None else {}
        return self._known[table].get(column)

    def form(self, table: str, column: str, value: Json) -> Hashable:
        """Equal for values of an exact column that are the same. Decimals, which travel as text, are numbers here."""
        known = self._column(table, column)
        if isinstance(value, str) and known is not None and _DECIMAL.search(known.type):
            number = _number(value)
            return value if number is None else number
        return form(value)

    def outline(self, table: str, column: str, value: Json) -> Hashable:
        """Equal for values that may be the same under the column's rule; only a tolerance has more to say."""
        rule = self.rule(table, column)
        if rule == "free_text":
            return value is None or not str(value).strip()
        known = self.form(table, column, value)
        return "number" if isinstance(rule, Mapping) and _is_number(known) else ("exact", known)

    def near(self, table: str, column: str, left: Json, right: Json) -> bool:
        """Whether two values of equal outline are the same in a column with a tolerance."""
        bound = cast("Mapping[str, float]", self.rule(table, column))["abs"]
        return within(self.form(table, column, left), self.form(table, column, right), bound)

    def ignorable(self, change: RowChange) -> bool:
        """An update that touches ignored columns only."""
        return change.op == "update" and all(self.rule(change.table, each) == "ignore" for each in change.after or {})


def form(value: Json) -> Hashable:
    """Equal for JSON values that are the same: 25 and 25.0 are, but neither is "25", and true is not 1."""
    if isinstance(value, bool):
        return "bool", value
    if isinstance(value, list):
        return "list", tuple(map(form, cast("list[Json]", value)))
    if isinstance(value, Mapping):
        return "object", frozenset((key, form(each)) for key, each in cast("Mapping[str, Json]", value).items())
    return value


def same_value(left: Json, right: Json) -> bool:
    return form(left) == form(right)


def within(left: Json, right: Json, bound: float) -> bool:
    """Whether two numbers lie within a tolerance of each other, as they are written: 5.01 is 0.01 from 5. What is no
    finite number is near to its like only.
    """
    if not _is_number(left) or not _is_number(right):
        return same_value(left, right)
    # The last digits of a sum of floats do not count against the bound itself.
    return abs(_decimal(left) - _decimal(right)) <= _decimal(bound) * (1 + Decimal("1e-12"))


def _is_number(value: Json) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _decimal(value: float | Decimal) -> Decimal:
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def _number(text: str) -> Decimal | None:
    try:
        found = Decimal(text)
    except InvalidOperation:
        return None
    return found if found.is_finite() else None
