"""Other forms of a fact: what names a row beside its id, among the rows that it was read with.

A payment method is named by its kind or its last digits ("your gift card", "the Visa that ends in
7447"), an item by its product.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

Row = Mapping[str, object]


def forms_of(name: str, value: Any, results: Sequence[object]) -> Sequence[str]:
    """The forms of an argument's value beside the value itself, by what was read.

    Example: "credit_card_442" is also "442", "credit card", and "ending in 7447" if its row says
    so.
    """
    words = str(value)
    if isinstance(value, int | float):
        return [f"${value:g}"] if _is_sum(name) else []
    kind, _, digits = words.removeprefix("#").rpartition("_")
    out = [digits] if digits != words else []
    if kind and digits.isdigit():
        out.append(kind.replace("_", " "))
    return list(dict.fromkeys([*out, *_row_forms(words, results)]))


def _row_forms(key: str, results: Sequence[object]) -> list[str]:
    """The texts of the row with this id that none of its neighbours has."""
    for rows in (rows for result in results for rows in _groups(result)):
        own = next((row for other, row in rows if other == key), None)
        if own is not None:
            others = {form for other, row in rows if other != key for form in _texts(row)}
            return [form for form in _texts(own) if form not in others]
    return []


def _is_sum(name: str) -> bool:
    return any(word in name for word in ("amount", "price", "cost", "sum", "total_paid"))


def _groups(value: object) -> Iterator[list[tuple[str, Row]]]:
    """The groups of rows in a result, each row with its id."""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value)
        yield [(key, cast("Row", row)) for key, row in items.items() if isinstance(row, Mapping)]
        inner: Sequence[object] = list(items.values())
    elif isinstance(value, Sequence) and not isinstance(value, str):
        inner = cast("Sequence[object]", value)
        rows = [cast("Row", row) for row in inner if isinstance(row, Mapping)]
        yield [(str(row[key]), row) for row in rows for key in row if _names_row(key)]
    else:
        return
    for item in inner:
        yield from _groups(item)


def _names_row(key: str) -> bool:
    return key == "id" or key.endswith("_id")


def _texts(row: Row) -> list[str]:
    """The forms that a row gives: its kind, its last digits, its name."""
    texts = {name: text for name, text in row.items() if isinstance(text, str) and len(text) < 40}
    return [
        f"ending in {text}" if name.startswith("last") else text.replace("_", " ")
        for name, text in texts.items()
        if not _names_row(name) and (name.startswith("last") or not text.isdigit())
    ]
