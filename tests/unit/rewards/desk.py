"""A small shop on a real SQLite sandbox, worked on by plain SQL: each statement is a call of an
agent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.types import Limits, Pins
from synth.core.tasks.queries import run_query
from synth.errors import TaskError
from synth.rewards import CallRecord, Evidence, TurnRecord
from synth.task import GoldEnd, Task
from tests.unit.rewards.rule_fields import ruled

SCRIPT = """
CREATE TABLE products (product_id INTEGER PRIMARY KEY, name TEXT, colour TEXT, price INTEGER);
CREATE TABLE orders (order_id INTEGER PRIMARY KEY, customer TEXT, status TEXT, changed TEXT, "group" TEXT);
CREATE TABLE order_items (
    item_id INTEGER PRIMARY KEY AUTOINCREMENT, order_id INTEGER REFERENCES orders, product_id INTEGER REFERENCES products);
CREATE TABLE stock (product_id INTEGER PRIMARY KEY REFERENCES products, quantity INTEGER);
CREATE TABLE payments (payment_id INTEGER PRIMARY KEY AUTOINCREMENT, order_id INTEGER REFERENCES orders, cents INTEGER);
CREATE TABLE log (text TEXT, about INTEGER);
CREATE TABLE "order" ("select" INTEGER PRIMARY KEY, "from" TEXT, seen BLOB);
CREATE TRIGGER told AFTER UPDATE OF status ON orders
    BEGIN INSERT INTO log VALUES (old.status || '>' || new.status, new.order_id); END;
INSERT INTO products VALUES (1, 'lamp', 'red', 900), (2, 'lamp', 'blue', 1000), (3, 'lamp', 'blue', 1100),
    (4, 'lamp', 'blue', 2500), (5, 'lamp', 'green', 900);
INSERT INTO orders VALUES (7, 'Ada', 'placed', NULL, 'x'), (8, 'Bo', 'placed', NULL, 'x');
INSERT INTO order_items VALUES (70, 7, 1), (71, 7, 5), (80, 8, 1);
INSERT INTO stock VALUES (1, 5), (2, 5), (3, 5), (4, 5), (5, 5);
INSERT INTO payments VALUES (700, 7, 1800);
INSERT INTO log VALUES ('opened', 7), ('opened', 8), ('closed', 9);
INSERT INTO "order" VALUES (1, 'a', x'00ff'), (2, 'b', NULL);
"""


class Desk:
    """One rollout. ``act`` is a call, ``hear`` a turn of the user; ``evidence`` is what a verifier
    sees of it.
    """

    def __init__(self, *acts: str) -> None:
        self.template = SqliteTemplate.build(lambda connection: connection.executescript(SCRIPT))
        self.sandbox = self.template.open(Pins())
        self.calls: list[CallRecord] = []
        self.turns: list[TurnRecord] = []
        for sql in acts:
            self.act(sql)

    def act(self, sql: str, name: str = "write") -> None:
        with self.sandbox.transaction(Limits()) as transaction:
            for each in sql.split(";"):
                transaction.connection.exec_driver_sql(each)
        self.calls.append(
            CallRecord(name, {"sql": sql}, True, None, read_only=False, changes=transaction.changes)
        )

    def hear(self, *told: str, **flags: Any) -> None:
        self.turns.append(TurnRecord(len(self.calls), told, **flags))

    def query(self, sql: str, values: Mapping[str, Any] | None = None, /) -> list[dict[str, Any]]:
        return run_query(
            self.sandbox, sql, values or {}, self.template, TaskError("", family="swap")
        )

    def evidence(self, due: Desk | None = None, **fields: Any) -> Evidence:
        """``due`` is another desk, at which all was done as it should be."""
        changes = [] if due is None else [each.to_json() for each in due.sandbox.diff().changes]
        known: dict[str, Any] = {"id": "t", "family": "swap", "env": "e", "prompt": "p", "gold": []}
        task = Task(**ruled({**known, "end": GoldEnd(changes), **fields}))
        found = self.sandbox.diff().changes
        return Evidence(task, found, self.calls, None, self.template.tables, self.turns, self.query)


def swap(new: int, item: int = 70, old: int = 1) -> Sequence[str]:
    """One item of an order against another product, with the stock to match."""
    return (
        f"UPDATE order_items SET product_id = {new} WHERE item_id = {item}",
        f"UPDATE stock SET quantity = quantity - 1 WHERE product_id = {new}",
        f"UPDATE stock SET quantity = quantity + 1 WHERE product_id = {old}",
        (
            "INSERT INTO payments (order_id, cents) SELECT 7, price - 900 FROM products WHERE"
            f" product_id = {new}"
        ),
    )
