"""Row-level diffs: exact against a comparison of whole tables, whatever the statements were."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from envs.sandboxes.row_changes import canonical_order, row_change, state_digest, to_json_value
from envs.sandboxes.sqlite.sandbox import SqliteSandbox, SqliteTemplate
from envs.types import Limits, Pins, RowChange, StateDiff
from tests.unit.envs.sandboxes.calls import call

SCRIPT = """
CREATE TABLE parent (id INTEGER PRIMARY KEY, name TEXT UNIQUE, total INT DEFAULT 0);
CREATE TABLE child (id INTEGER PRIMARY KEY AUTOINCREMENT, parent_id INT REFERENCES parent (id) ON DELETE CASCADE
  ON UPDATE CASCADE, v INT);
CREATE TABLE bare (a INT, b TEXT);
CREATE TABLE pair (b TEXT, a INT, v REAL, PRIMARY KEY (a, b));
CREATE TABLE keyless_rows (k TEXT PRIMARY KEY, v INT);
CREATE TABLE flat (k TEXT COLLATE NOCASE PRIMARY KEY, v INT) WITHOUT ROWID;
CREATE TABLE made (id INTEGER PRIMARY KEY, v INT, w AS (v + 1) VIRTUAL, x INT AS (v * 2) STORED);
CREATE TABLE made_flat (k INT PRIMARY KEY, v INT, w AS (v + 1) VIRTUAL) WITHOUT ROWID;
CREATE TABLE hidden (rowid TEXT, v INT);
CREATE TABLE log (line TEXT);
CREATE TRIGGER note AFTER UPDATE ON child BEGIN
  INSERT INTO log VALUES (old.v || '>' || new.v); UPDATE parent SET total = total + 1 WHERE id = new.parent_id; END;
INSERT INTO parent (id, name) VALUES (1, 'a'), (2, 'b'), (3, 'c');
INSERT INTO child (parent_id, v) VALUES (1, 1), (1, 2), (2, 3), (3, 4);
INSERT INTO bare VALUES (1, 'x'), (1, 'x'), (2, NULL);
INSERT INTO pair VALUES ('x', 1, 1), ('y', 1, 2), (NULL, 1, 3), (NULL, 1, 4);
INSERT INTO keyless_rows VALUES (NULL, 1), (NULL, 2), ('k', 3);
INSERT INTO flat VALUES ('a', 1), ('b', 2);
INSERT INTO made (id, v) VALUES (1, 1), (2, 2);
INSERT INTO made_flat (k, v) VALUES (1, 1), (2, 2);
INSERT INTO hidden VALUES ('r', 1);
ALTER TABLE bare ADD COLUMN late TEXT DEFAULT 'late';
"""

MOVES = [
    "INSERT INTO parent (id, name) VALUES (:i, :t)",
    "INSERT OR REPLACE INTO parent (id, name) VALUES (:i, :t)",
    "UPDATE OR REPLACE parent SET name = :t WHERE id <= :i",
    "UPDATE parent SET id = id + 10 WHERE id = :i",
    "DELETE FROM parent WHERE id = :i",
    "INSERT INTO child (parent_id, v) VALUES (:i, :j)",
    "UPDATE child SET v = :j WHERE id <= :i",
    "DELETE FROM child WHERE v = :j",
    "INSERT INTO bare (a, b) VALUES (:i, :t)",
    "UPDATE bare SET a = :j WHERE a = :i",
    "UPDATE bare SET rowid = rowid + 100 WHERE a = :i",
    "DELETE FROM bare WHERE a = :i",
    "DELETE FROM bare",
    "INSERT INTO pair VALUES (:t, :i, :j), (NULL, :i, :j)",
    "UPDATE pair SET v = :j WHERE a = :i",
    "UPDATE pair SET b = NULL WHERE a = :i",
    "DELETE FROM pair WHERE b IS NULL AND v = :j",
    "INSERT INTO keyless_rows VALUES (NULL, :i)",
    "UPDATE keyless_rows SET v = v + 1 WHERE k IS NULL",
    "UPDATE OR IGNORE keyless_rows SET k = :t WHERE v = :i",
    "DELETE FROM keyless_rows WHERE v = :i",
    "INSERT OR REPLACE INTO flat VALUES (:t, :i)",
    "UPDATE OR REPLACE flat SET k = upper(k), v = v + :i",
    "DELETE FROM flat WHERE k = :t",
    "INSERT OR REPLACE INTO made (id, v) VALUES (:i, :j)",
    "UPDATE made SET v = v + 1",
    "UPDATE OR REPLACE made SET id = id + 1 WHERE id = :i",
    "DELETE FROM made WHERE id = :i",
    "INSERT OR REPLACE INTO made_flat (k, v) VALUES (:i, :j)",
    "UPDATE OR REPLACE made_flat SET k = k + 1 WHERE k = :i",
    "DELETE FROM made_flat WHERE k = :i",
    "INSERT INTO hidden VALUES (:t, :i)",
    "DELETE FROM hidden WHERE v = :i",
    "INSERT INTO parent (id, name) VALUES (:j, :t) ON CONFLICT DO UPDATE SET total = total + 5",
    "INSERT OR FAIL INTO parent (id, name) VALUES (:i + 50, 'f' || :i), (:i, 'g')",
]

KEYS = {
    "parent": ["id"],
    "child": ["id"],
    "pair": ["a", "b"],
    "keyless_rows": ["k"],
    "flat": ["k"],
    "made": ["id"],
    "made_flat": ["k"],
}
FLAT = {"flat", "made_flat"}
COLUMNS = {
    "parent": "id, name, total",
    "child": "id, parent_id, v",
    "bare": "a, b, late",
    "pair": "b, a, v",
    "keyless_rows": "k, v",
    "flat": "k, v",
    "made": "id, v",
    "made_flat": "k, v",
    "hidden": "rowid, v",
    "log": "line",
}


def snapshot(db: Connection) -> dict[str, dict[tuple, dict[str, Any]]]:
    """Every table, whole: key -> row."""
    found: dict[str, dict[tuple, dict[str, Any]]] = {}
    for table, columns in COLUMNS.items():
        rows = found[table] = {}
        number = "0" if table in FLAT else "_rowid_"
        for rowid, *values in db.exec_driver_sql(f"SELECT {number}, {columns} FROM {table}"):
            row = dict(zip(columns.split(", "), values, strict=True))
            key = tuple((name, row[name]) for name in KEYS.get(table, []))
            if not key or any(value is None for _, value in key):
                key = (("rowid", rowid),)
            rows[key] = row
    return found


def expected(before: dict[str, dict], after: dict[str, dict]) -> dict[tuple, tuple]:
    """What differs between two snapshots: (table, operation, key) -> (before, after)."""
    changes: dict[tuple, tuple] = {}
    for table in COLUMNS:
        for key in before[table].keys() | after[table].keys():
            old, new = before[table].get(key), after[table].get(key)
            if old == new:
                continue
            if old is None or new is None:
                changes[table, "insert" if old is None else "delete", key] = (old, new)
            else:
                names = [name for name in old if old[name] != new[name]]
                changes[table, "update", key] = (
                    {n: old[n] for n in names},
                    {n: new[n] for n in names},
                )
    return changes


def told(changes: tuple[RowChange, ...]) -> dict[tuple, tuple]:
    return {
        (change.table, change.op, tuple(change.key.items())): (
            None if change.before is None else dict(change.before),
            None if change.after is None else dict(change.after),
        )
        for change in changes
    }


@pytest.fixture(scope="module")
def template() -> SqliteTemplate:
    return SqliteTemplate.build(lambda connection: connection.executescript(SCRIPT))


class TestAgainstWholeTables:
    """The oracle is a comparison of every row of every table."""

    @pytest.mark.parametrize("seed", range(40))
    def test_random_statements(self, template: SqliteTemplate, seed: int) -> None:
        """Calls of random statements, some of which fail, roll back, or sit in a nested block that
        does.
        """
        dice = random.Random(seed)
        with template.open(Pins()) as sandbox:
            start = self.look(sandbox)
            for _ in range(8):
                before = self.look(sandbox)
                with sandbox.transaction(Limits()) as transaction:
                    for _ in range(dice.randrange(1, 8)):
                        self.move(transaction.connection, dice)
                    undone = dice.random() < 0.15
                    if undone:
                        transaction.rollback()
                after = self.look(sandbox)
                assert told(transaction.changes) == ({} if undone else expected(before, after))
                assert told(sandbox.diff().changes) == expected(start, after)
                if dice.random() < 0.2:
                    with sandbox.fork() as fork:
                        assert fork.diff() == sandbox.diff()
                        self.play(fork, dice)
                        assert told(fork.diff().changes) == expected(start, self.look(fork))

    def look(self, sandbox: SqliteSandbox) -> dict[str, dict]:
        with sandbox.transaction(Limits(read_only=True)) as transaction:
            return snapshot(transaction.connection)

    def play(self, sandbox: SqliteSandbox, dice: random.Random) -> None:
        with sandbox.transaction(Limits()) as transaction:
            for _ in range(5):
                self.move(transaction.connection, dice)

    def move(self, db: Connection, dice: random.Random) -> None:
        values = {"i": dice.randrange(1, 5), "j": dice.randrange(1, 5), "t": dice.choice("abcABkx")}
        sql = text(dice.choice(MOVES))
        try:
            if dice.random() < 0.3:
                with db.begin_nested() as block:
                    db.execute(sql, values)
                    if dice.random() < 0.5:
                        block.rollback()
            else:
                db.execute(sql, values)
        except DBAPIError as error:
            if "constraint failed" not in str(error.orig):
                raise

    def test_every_table_changes_somewhere(self, template: SqliteTemplate) -> None:
        """The random statements reach what they are meant to reach."""
        touched: set[tuple[str, str]] = set()
        for seed in range(40):
            with template.open(Pins()) as sandbox:
                for _ in range(4):
                    self.play(sandbox, random.Random(seed))
                touched |= {(change.table, change.op) for change in sandbox.diff().changes}
        assert {table for table, _ in touched} == set(COLUMNS)
        assert {op for _, op in touched} == {"insert", "update", "delete"}

    def test_generated_columns_are_left_out(self, template: SqliteTemplate) -> None:
        """They follow from the others."""
        with template.open(Pins()) as sandbox:
            call(
                sandbox,
                "INSERT INTO made (id, v) VALUES (7, 1)",
                "UPDATE made SET v = 9 WHERE id = 1",
            )
            inserted, updated = sorted(sandbox.diff().changes, key=lambda change: change.op)
            assert inserted.after == {"id": 7, "v": 1}
            assert updated.after == {"v": 9}

    def test_counters_are_no_rows(self, template: SqliteTemplate) -> None:
        """AUTOINCREMENT's own table is not the world's."""
        with template.open(Pins()) as sandbox:
            call(sandbox, "INSERT INTO child (parent_id, v) VALUES (1, 9)")
            call(sandbox, "DELETE FROM child WHERE v = 9")
            assert not sandbox.diff()


class TestValues:
    @pytest.mark.parametrize(
        ("value", "json"),
        [
            (None, None),
            (True, True),
            (2**63 - 1, 2**63 - 1),
            (-(2**63), -(2**63)),
            (2**63, "9223372036854775808"),
            (1.5, 1.5),
            (float("inf"), {"$float": "Infinity"}),
            (float("-inf"), {"$float": "-Infinity"}),
            (float("nan"), {"$float": "NaN"}),
            (b"\x00\xff", {"$bytes": "AP8="}),
            (memoryview(b"x"), {"$bytes": "eA=="}),
            (Decimal("1.10"), "1.10"),
            (date(2026, 1, 2), "2026-01-02"),
            (datetime(2026, 1, 2, 3, 4, tzinfo=UTC), "2026-01-02T03:04:00+00:00"),
            (timedelta(seconds=90), 90.0),
            (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
            ([1, b"x"], [1, {"$bytes": "eA=="}]),
            ({"a": Decimal(1)}, {"a": "1"}),
        ],
    )
    def test_json(self, value: object, json: object) -> None:
        """Every value that a driver gives has one JSON form, and loses nothing in it."""
        assert to_json_value(value) == json

    def test_no_json(self) -> None:
        with pytest.raises(TypeError, match="object"):
            to_json_value(object())


class TestChanges:
    def test_numbers_compare_by_value(self) -> None:
        """25 and 25.0 are one number, NaN equals itself; text and number differ."""
        nan = float("nan")
        assert row_change("t", ["a", "b"], {"k": 1}, (25, nan), (25.0, float("nan"))) is None
        assert row_change("t", ["a", "b"], {"k": b"x"}, (25, 1), ("25", 1)) == RowChange(
            "t", "update", {"k": {"$bytes": "eA=="}}, {"a": 25}, {"a": "25"}
        )
        assert row_change("t", ["a"], {"k": 1}, None, None) is None

    def test_order(self) -> None:
        """Tables by name, keys by value: null, numbers, text; big integers are told apart."""
        keys = [None, -1, 9, 10, 2**53, 2**53 + 1, "10", "9", {"$bytes": "AA=="}]
        changes = [RowChange("t", "delete", {"k": key}) for key in keys]
        shuffled = random.Random(1).sample(changes, len(changes))
        assert [change.key["k"] for change in canonical_order(shuffled)] == keys
        assert (
            canonical_order(
                [RowChange("b", "delete", {"k": 1}), RowChange("a", "delete", {"k": 2})]
            )[0].table
            == "a"
        )

    def test_digest(self) -> None:
        """Of the template and the changes."""
        diff = StateDiff((RowChange("t", "delete", {"k": 1}, before={"k": 1}),))
        assert state_digest("x", diff) == state_digest("x", StateDiff.from_json(diff.to_json()))
        assert (
            len({state_digest("x", diff), state_digest("y", diff), state_digest("x", StateDiff())})
            == 3
        )
