"""Equality of values by the rules of a world's ``compare``, and the columns of generated keys.

``compare`` maps ``table.column`` or ``*.column`` to exact, ignore, free_text or ``{abs: x}`` (and a
bare table to append_only, which does not concern columns). A column without a rule is exact.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, TypeGuard, cast

from envs.types import Column, RowChange, Table

_GENERATED = re.compile("INT|SERIAL|UUID", re.IGNORECASE)
_DECIMAL = re.compile("NUMERIC|DECIMAL|NUMBER|MONEY", re.IGNORECASE)


class Columns:
    """The rules and the schema of one comparison, with the answers cached for many values."""

    def __init__(self, rules: Mapping[str, Any], tables: Mapping[str, Table]) -> None:
        self._rules, self._tables = rules, tables
        self._found: dict[tuple[str, str], Any] = {}
        self._known: dict[str, dict[str, Column]] = {}
        self._keys: dict[str, str | None] = {}
        self._roots: dict[tuple[str, str], str | None] = {}

    def rule(self, table: str, column: str) -> Any:
        """The rule of a column: a word, or ``{"abs": x}``."""
        if (table, column) not in self._found:
            self._found[table, column] = self._declared(table, column) or "exact"
        return self._found[table, column]

    def _declared(self, table: str, column: str) -> Any:
        return self._rules.get(f"{table}.{column}", self._rules.get(f"*.{column}"))

    def generated_key(self, table: str) -> str | None:
        """The column whose value the database generates: a key of one integer or UUID column that
        is not a reference.

        A world declares ``table.key: exact`` if the number has a meaning, such as a room number.
        """
        if table not in self._keys:
            known = self._tables.get(table)
            name = known.primary_key[0] if known is not None and len(known.primary_key) == 1 else ""
            column = self._column(table, name)
            generated = (
                column is not None and column.references is None and _GENERATED.search(column.type)
            )
            self._keys[table] = (
                name if generated and self._declared(table, name) != "exact" else None
            )
        return self._keys[table]

    def own_key(self, change: RowChange) -> Any:
        """The generated key of a new row, or None.

        SQLite accepts NULL, text and bytes in an integer key; these are not generated.
        """
        name = self.generated_key(change.table) if change.op == "insert" else None
        column = None if name is None else self._column(change.table, name)
        if column is None:
            return None
        value = (change.after or {}).get(column.name)
        return value if isinstance(value, str if "UUID" in column.type.upper() else int) else None

    def refers_to(self, table: str, column: str) -> str | None:
        """The table whose generated key the column holds, directly or through keys of other tables
        that are references themselves.
        """
        if (table, column) not in self._roots:
            root, seen = (table, column), set[tuple[str, str]]()
            while (
                root not in seen
                and (known := self._column(*root)) is not None
                and known.references is not None
            ):
                seen.add(root)
                root = known.references
            self._roots[table, column] = (
                root[0] if seen and self.generated_key(root[0]) == root[1] else None
            )
        return self._roots[table, column]

    def _column(self, table: str, column: str) -> Column | None:
        if table not in self._known:
            known = self._tables.get(table)
            self._known[table] = (
                {known_column.name: known_column for known_column in known.columns}
                if known is not None
                else {}
            )
        return self._known[table].get(column)

    def form(self, table: str, column: str, value: Any) -> Hashable:
        """A hashable form that is equal for equal values of an exact column. Decimals, which are
        recorded as text, are numbers here.
        """
        known = self._column(table, column)
        if isinstance(value, str) and known is not None and _DECIMAL.search(known.type):
            number = _number(value)
            return value if number is None else number
        return form(value)

    def outline(self, table: str, column: str, value: Any) -> Hashable:
        """A hashable form that is equal for values that may be equal under the column's rule; only
        a tolerance needs a further test, :meth:`near`.
        """
        rule = self.rule(table, column)
        if rule == "free_text":
            return value is None or not str(value).strip()
        known = self.form(table, column, value)
        return "number" if isinstance(rule, Mapping) and _is_number(known) else ("exact", known)

    def near(self, table: str, column: str, left: Any, right: Any) -> bool:
        """Compare two values of equal outline in a column with a tolerance."""
        bound = cast("Mapping[str, float]", self.rule(table, column))["abs"]
        return within(self.form(table, column, left), self.form(table, column, right), bound)

    def ignorable(self, change: RowChange) -> bool:
        """True for an update of ignored columns only."""
        return change.op == "update" and all(
            self.rule(change.table, column) == "ignore" for column in change.after or {}
        )


def form(value: object) -> Hashable:
    """A hashable form that is equal for equal JSON values: 25 equals 25.0, but not "25", and true
    does not equal 1.
    """
    if isinstance(value, bool):
        return "bool", value
    if isinstance(value, list):
        return "list", tuple(map(form, cast("list[object]", value)))
    if isinstance(value, Mapping):
        return "object", frozenset(
            (key, form(item)) for key, item in cast("Mapping[str, object]", value).items()
        )
    return cast("Hashable", value)


def same_value(left: object, right: object) -> bool:
    """Compare two JSON values."""
    return form(left) == form(right)


def within(left: object, right: object, bound: float) -> bool:
    """Compare two numbers with a tolerance, in decimals: 5.01 is 0.01 from 5.

    Other values, infinite numbers included, must be equal.
    """
    if not _is_number(left) or not _is_number(right):
        return same_value(left, right)
    # The last digits of a sum of floats must not exceed the bound itself.
    return abs(_decimal(left) - _decimal(right)) <= _decimal(bound) * (1 + Decimal("1e-12"))


def _is_number(value: object) -> TypeGuard[float | Decimal]:
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
