"""Which changed rows meet a condition on their table, as they were and as they are.

The condition is an author's SQL about the table's columns. It is asked of the images of the changed rows, which stand
in the place of the table, under its name and with its types, so that it reads as it would in a query on the table.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

from envs.state import ROWID
from envs.types import RowChange, Table
from synth.verifiers.base import Query

Json = Any

BATCH = 50
"""Changes in one query: databases limit the terms of a UNION (SQLite: 500) and the values bound in a statement."""


def meeting(
    changes: Sequence[RowChange], table: Table, where: str, query: Query, values: Mapping[str, Json], engine: str
) -> list[bool]:
    """For each change of rows of one table whether the row meets the condition, before (if it was there) and after (if
    it still is). ``values`` are what the condition may bind. Raises what ``query`` raises.
    """
    out: list[bool] = []
    for start in range(0, len(changes), BATCH):
        images = _Images(table, engine)
        for change in changes[start : start + BATCH]:
            images.add(change)
        found = Counter(next(iter(row.values())) for row in query(images.sql(where), {**values, **images.values}))
        out += [found[at] == due for at, due in enumerate(images.due)]
    return out


class _Images:
    """A relation that holds the images of some changed rows, each with the place of its change in ``synth_row``."""

    def __init__(self, table: Table, engine: str) -> None:
        self._table, self._engine = table, engine
        self.values: dict[str, Json] = {}
        self.due: list[int] = []
        self._name = self._quoted(table.name)
        self._terms = [f"SELECT {self._name}.*, 0 AS synth_row FROM {self._name} WHERE 1 = 0"]

    def sql(self, where: str) -> str:
        images = "\nUNION ALL ".join(self._terms)
        return f"SELECT synth_row FROM (\n{images}\n) AS {self._name} WHERE (\n{where}\n)"

    def add(self, change: RowChange) -> None:
        at, columns = len(self.due), self._table.columns
        self.due.append(1 + (change.op == "update"))
        if change.op == "delete" or (change.op == "insert" and ROWID in change.key and self._engine != "sqlite"):
            row = change.before or change.after or {}  # only SQLite can be asked for the row of that number
            cells = [self._bound(row[each.name], each.type) if each.name in row else "NULL" for each in columns]
            self._terms.append(f"SELECT {', '.join(cells)}, {at}")
            return
        row = {} if change.op == "insert" else change.before or {}
        types = {each.name: each.type for each in columns}
        for image in [row, {}] if row else [row]:
            cells = [
                self._bound(image[each.name], each.type) if each.name in image else self._quoted(each.name)
                for each in columns
            ]
            keys = [
                f"{self._quoted(name) if name in types else ROWID} = {self._bound(value, types.get(name))}"
                for name, value in change.key.items()
            ]
            self._terms.append(f"SELECT {', '.join(cells)}, {at} FROM {self._name} WHERE {' AND '.join(keys)}")

    def _bound(self, value: Json, kind: str | None) -> str:
        """PostgreSQL alone does not take a text for the decimal or day that it stands for."""
        name = f"synth_value_{len(self.values)}"
        self.values[name] = _native(value)
        return f"CAST(:{name} AS {kind})" if self._engine == "postgresql" and kind else f":{name}"

    def _quoted(self, name: str) -> str:
        mark = "`" if self._engine in {"mysql", "mariadb"} else '"'
        return f"{mark}{name.replace(mark, 2 * mark)}{mark}"


def _native(value: Json) -> Any:
    """A change's JSON value as a driver takes it."""
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    if not isinstance(value, Mapping):
        return value
    items = cast("Mapping[str, Json]", value)
    if set(items) == {"$bytes"}:
        return base64.b64decode(items["$bytes"])
    return float(items["$float"]) if set(items) == {"$float"} else json.dumps(items, ensure_ascii=False)
