"""Frames on the engines that worlds run on: names that are words of SQL, and values of every
type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy import text

from envs.connection import connect_args, parse_url
from envs.sandboxes.row_changes import row_change
from envs.types import Column, RowChange, Table
from synth.core.rewards.state.alternatives import meeting
from synth.core.tasks.queries import select

COLUMNS = ("select", "price", "day", "moment", "done", "seen", "from")
TYPES = {
    "sqlite": ("INTEGER", "NUMERIC(10, 2)", "DATE", "TIMESTAMP", "BOOLEAN", "BLOB", "VARCHAR(20)"),
    "postgresql": (
        "INTEGER",
        "NUMERIC(10, 2)",
        "DATE",
        "TIMESTAMP",
        "BOOLEAN",
        "BYTEA",
        "VARCHAR(20)",
    ),
    "mysql": ("INTEGER", "NUMERIC(10, 2)", "DATE", "DATETIME", "BOOLEAN", "BLOB", "VARCHAR(20)"),
}
BEFORE = {
    "select": 1,
    "price": "9.50",
    "day": "2026-03-01",
    "moment": "2026-03-01 10:00:00",
    "from": "it's: a %s",
}


class Place:
    """A table named ``order`` with one row, on one engine; ``change`` updates, inserts or deletes a
    row of it.
    """

    def __init__(self, connection: sqlalchemy.Connection, engine: str) -> None:
        self.connection, self.engine = connection, engine
        self.mark = "`" if engine == "mysql" else '"'
        pairs = zip(COLUMNS, TYPES[engine], strict=True)
        self.table = Table("order", tuple(Column(name, kind) for name, kind in pairs), ("select",))
        ddl = ", ".join(f"{self.quoted(each.name)} {each.type}" for each in self.table.columns)
        self.run(
            f"CREATE TABLE {self.quoted('order')} ({ddl}, PRIMARY KEY ({self.quoted('select')}))"
        )
        self.run(
            f"INSERT INTO {self.quoted('order')} VALUES (:select, :price, :day, :moment, :done,"
            " :seen, :from)",
            **BEFORE,
            done=True,
            seen=b"\0\xff",
        )

    def quoted(self, name: str) -> str:
        return f"{self.mark}{name}{self.mark}"

    def run(self, sql: str, /, **values: Any) -> None:
        self.connection.execute(text(sql), values)

    def row(self, key: int) -> tuple[Any, ...] | None:
        found = self.connection.execute(
            text(f"SELECT * FROM {self.quoted('order')} WHERE {self.quoted('select')} = {key}")
        ).one_or_none()
        return None if found is None else tuple(found)

    def change(self, sql: str, key: int = 1, /, **values: Any) -> RowChange:
        old = self.row(key)
        self.run(sql.replace("[", self.mark).replace("]", self.mark), **values)
        changed = row_change("order", COLUMNS, {"select": key}, old, self.row(key))
        assert changed is not None
        return changed

    def meets(self, change: RowChange, where: str, **values: Any) -> bool:
        where = where.replace("[", self.mark).replace("]", self.mark)

        def query(sql: str, values: Mapping[str, Any] | None = None, /) -> list[dict[str, Any]]:
            return select(self.connection, sql, values)

        return meeting([change], self.table, where, query, values, self.engine) == [True]


def opened(url: str, engine: str) -> Iterator[Place]:
    made = sqlalchemy.create_engine(
        url, connect_args=connect_args(parse_url(url)) if engine != "sqlite" else {}
    )
    with made.connect() as connection:
        yield Place(connection, engine)
        connection.rollback()
    made.dispose()


@pytest.fixture(params=["sqlite", "postgresql", "mysql"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    fixtures: Mapping[str, Callable[[], str]] = {
        "sqlite": lambda: "sqlite://",
        "postgresql": lambda: request.getfixturevalue("postgres_url"),
        "mysql": lambda: request.getfixturevalue("mysql_url"),
    }
    yield from opened(fixtures[request.param](), request.param)


def test_an_update_meets_what_held_before_and_after(place: Place):
    change = place.change("UPDATE [order] SET price = 10.25, day = '2026-03-05', [from] = NULL")
    assert set(change.after or {}) == {"price", "day", "from"}
    assert place.meets(change, "price BETWEEN :low AND 10.25", low=9.5)
    assert not place.meets(change, "price < 10")
    assert not place.meets(change, "price > 10")
    assert place.meets(change, "[order].day < '2026-03-06' AND moment < '2026-03-02'")
    assert place.meets(change, "[from] IS NULL OR [from] = :was", was=BEFORE["from"])
    assert not place.meets(change, "[from] IS NULL")


def test_a_delete_meets_what_held_before(place: Place):
    change = place.change("DELETE FROM [order] WHERE [select] = 1")
    assert place.meets(change, "price = 9.5 AND day = '2026-03-01' AND [from] LIKE 'it''s: a %'")
    assert place.meets(change, "done = :yes AND length(seen) = 2", yes=True)
    assert not place.meets(change, "price > 9.5")


def test_an_insert_meets_what_holds_after(place: Place):
    change = place.change(
        "INSERT INTO [order] ([select], price, done) VALUES (2, 9.75, :no)", 2, no=False
    )
    assert place.meets(change, "[select] = :id AND price > 9.7 AND seen IS NULL AND NOT done", id=2)
    assert place.meets(change, "[select] > (SELECT min(o.[select]) FROM [order] o)")
    assert not place.meets(change, "price > 9.8")


def test_a_row_that_changed_in_every_column(place: Place):
    change = place.change(
        "UPDATE [order] SET price = 1, day = NULL, moment = NULL, done ="
        " :no, seen = NULL, [from] = ''",
        no=False,
    )
    assert place.meets(change, "price IN (1, 9.5) AND (day IS NULL OR done = :yes)", yes=True)
    assert not place.meets(change, "seen IS NULL")


def test_an_insert_into_a_table_without_a_key_meets_what_holds_after(place: Place):
    whole = place.change(
        "INSERT INTO [order] ([select], price, done) VALUES (2, 9.75, :no)", 2, no=False
    )
    change = replace(whole, key={"rowid": 2})
    assert place.meets(change, "[select] = :id AND price > 9.7 AND seen IS NULL AND NOT done", id=2)
    assert not place.meets(change, "price > 9.8")
