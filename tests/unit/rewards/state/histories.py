"""Random schemas and random work on them, done on real SQLite sandboxes: what a comparison of ends
must see through.

A *story* is a schema, the rows that are there, and the work: what is inserted, updated and deleted,
with names for the new rows. It can be lived in any order that its references allow, under any
generated keys, with other values where the world's rules do not look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from sqlalchemy import Connection, text

from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.types import Limits, Pins, RowChange

VALUES: Sequence[Any] = (
    None,
    "",
    "a",
    "b",
    "A",
    "é",
    "é",
    "日本",
    25,
    25.5,
    0,
    -1,
    2**53 + 1,
    2**53,
    b"\0\xff",
)
OLD_ROWS = 3
"""Rows that are there in each table; others refer to the first only, so that the last can be
deleted.
"""


@dataclass(frozen=True)
class Shape:
    """A table: how its rows are known, and to which tables (by number) its columns r0, r1, ...
    refer.
    """

    name: str
    key: str
    refers: Sequence[int]

    @property
    def ddl(self) -> str:
        keys = {
            "generated": ["id INTEGER PRIMARY KEY AUTOINCREMENT"],
            "word": ["word TEXT PRIMARY KEY"],
            "pair": ["x INTEGER", "y TEXT"],
            "none": [],
        }[self.key]
        columns = [*keys, "value", "price REAL", "note TEXT", "seen TEXT"]
        columns += [
            f"r{at} INTEGER REFERENCES t{to} (id) DEFERRABLE INITIALLY DEFERRED"
            for at, to in enumerate(self.refers)
        ]
        columns += ["PRIMARY KEY (x, y)"] if self.key == "pair" else []
        return f"CREATE TABLE {self.name} ({', '.join(columns)})"


RULES: Mapping[str, Any] = {"*.price": {"abs": 0.5}, "*.note": "free_text", "*.seen": "ignore"}


@dataclass(frozen=True)
class Act:
    """One piece of work on one row. ``links`` maps reference columns to the rows meant: (table,
    number), new if >= 3.
    """

    op: str
    table: int
    row: int
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    links: Mapping[str, tuple[int, int] | None] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Story:
    shapes: Sequence[Shape]
    acts: Sequence[Act]

    @property
    def script(self) -> str:
        rows = [
            f"INSERT INTO {shape.name} ({', '.join(_key_of(shape, row) | {'value': 0})}) "
            f"VALUES ({', '.join(repr(each) for each in [*_key_of(shape, row).values(), 'old'])});"
            for shape in self.shapes
            for row in range(OLD_ROWS)
        ]
        return ";\n".join(each.ddl for each in self.shapes) + ";\n" + "\n".join(rows)

    def template(self) -> SqliteTemplate:
        return SqliteTemplate.build(lambda connection: connection.executescript(self.script))


def _key_of(shape: Shape, row: int) -> dict[str, Any]:
    return {
        "generated": {"id": row + 1},
        "word": {"word": f"w{row}"},
        "pair": {"x": row, "y": f"y{row}"},
        "none": {},
    }[shape.key]


def story(random: Random) -> Story:
    """Up to four tables, the first with a generated key, and up to some twenty acts. Nothing is
    deleted where a key could be used again: SQLite hands out the rowid of a deleted last row once
    more.
    """
    count = random.randint(1, 4)
    keys = [
        "generated",
        *(random.choice(["generated", "word", "pair", "none"]) for _ in range(count - 1)),
    ]
    known = [at for at, key in enumerate(keys) if key == "generated"]
    shapes = [
        Shape(f"t{at}", key, [random.choice(known) for _ in range(random.randint(0, 2))])
        for at, key in enumerate(keys)
    ]
    acts: list[Act] = []
    born: dict[int, list[int]] = {at: [] for at in known}
    for number in range(OLD_ROWS, OLD_ROWS + random.randint(0, 9)):
        table = random.randrange(count)
        acts.append(
            Act("insert", table, number, _values(random), _links(random, shapes[table], born))
        )
        if table in born:
            born[table].append(number)
    for table, shape in enumerate(shapes):
        touched = [row for row in (0, 1) if random.random() < 0.4]
        touched += [row for row in born.get(table, []) if random.random() < 0.3]
        acts += [
            Act("update", table, row, _some(random, _values(random)), _links(random, shape, born))
            for row in touched
        ]
        acts += (
            [Act("delete", table, OLD_ROWS - 1)]
            if shape.key != "none" and random.random() < 0.4
            else []
        )
    return Story(shapes, acts)


def _values(random: Random) -> dict[str, Any]:
    return {
        "value": random.choice(VALUES),
        "price": random.choice([None, 10.0, 20.0]),
        "note": random.choice([None, "n"]),
    }


def _some(random: Random, values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if random.random() < 0.5}


def _links(
    random: Random, shape: Shape, born: Mapping[int, Sequence[int]]
) -> dict[str, tuple[int, int] | None]:
    return {
        f"r{at}": random.choice([None, (to, 0), *((to, row) for row in born[to] for _ in range(2))])
        for at, to in enumerate(shape.refers)
    }


class Life:
    """A story lived on a sandbox of its own: ``changes`` is the end, ``keys`` what became of the
    new rows' names.
    """

    def __init__(self, told: Story, template: SqliteTemplate, random: Random | None = None) -> None:
        """In the order told, or in another order, under other keys and with undone work between, as
        ``random`` has it.
        """
        self._told, self._random = told, random
        self.tables = template.tables
        self.keys: dict[tuple[int, int], int] = {}
        self._sandbox = template.open(Pins())
        waiting = list(told.acts)
        while waiting:
            able = [at for at, act in enumerate(waiting) if self._able(act, waiting[:at])]
            act = waiting.pop(random.choice(able) if random is not None else able[0])
            if random is not None and random.random() < 0.3:
                self._waste(random)
            self.do(act)

    def _able(self, act: Act, before: Sequence[Act]) -> bool:
        """References to new rows need those rows, and acts on one row keep their order."""
        needed = {link for link in act.links.values() if link is not None and link[1] >= OLD_ROWS}
        return needed <= self.keys.keys() and not any(
            (each.table, each.row) == (act.table, act.row) for each in before
        )

    def _waste(self, random: Random) -> None:
        """Work that leaves nothing but a gap in the keys: a row that comes and goes, a value there
        and back.
        """
        shape = random.choice([each for each in self._told.shapes if each.key == "generated"])
        self.run(f"INSERT INTO {shape.name} (value) VALUES ('waste')")
        self.run(f"DELETE FROM {shape.name} WHERE value = 'waste'")
        held = self.run(f"SELECT value FROM {shape.name} WHERE id = 2")
        for value in ("waste", held):
            self.run(f"UPDATE {shape.name} SET value = :value WHERE id = 2", value=value)

    def do(self, act: Act) -> None:
        shape = self._told.shapes[act.table]
        cells: dict[str, Any] = dict(act.values) | {
            name: self._key(link) for name, link in act.links.items()
        }
        if self._random is not None:
            cells["seen"] = self._random.choice("xyz")
            if (price := cells.get("price")) is not None:
                cells["price"] = price + self._random.choice([-0.25, 0, 0.25])
            if cells.get("note"):
                cells["note"] = self._random.choice(["n", "other words"])
        if act.op == "insert":
            cells |= _key_of(shape, act.row) if shape.key != "generated" else {}
            names = ", ".join(cells)
            self.run(
                f"INSERT INTO {shape.name} ({names}) VALUES"
                f" ({', '.join(f':{each}' for each in cells)})",
                **cells,
            )
            if shape.key == "generated":
                self.keys[act.table, act.row] = self.run("SELECT last_insert_rowid()")
            return
        where, binds = self.where(act.table, act.row)
        if act.op == "delete":
            self.run(f"DELETE FROM {shape.name} WHERE {where}", **binds)
        elif cells:
            changes = ", ".join(f"{each} = :{each}" for each in cells)
            self.run(f"UPDATE {shape.name} SET {changes} WHERE {where}", **cells, **binds)

    def where(self, table: int, row: int) -> tuple[str, dict[str, Any]]:
        shape = self._told.shapes[table]
        if shape.key == "none":
            return "rowid = :k", {"k": row + 1}
        key = {"id": self._key((table, row))} if shape.key == "generated" else _key_of(shape, row)
        return " AND ".join(f"{name} = :k_{name}" for name in key), {
            f"k_{name}": value for name, value in key.items()
        }

    def _key(self, link: tuple[int, int] | None) -> int | None:
        return None if link is None else link[1] + 1 if link[1] < OLD_ROWS else self.keys[link]

    def run(self, sql: str, /, **values: Any) -> Any:
        with self._sandbox.transaction(Limits()) as transaction:
            connection: Connection = transaction.connection
            result = connection.execute(text(sql), values)
            return result.scalar() if result.returns_rows else None

    @property
    def changes(self) -> Sequence[RowChange]:
        return self._sandbox.diff().changes

    def close(self) -> None:
        self._sandbox.close()
