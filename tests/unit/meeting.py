"""A world on PostgreSQL whose reads can wait for each other: those that overlap meet, those in
order would wait in vain.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

PATIENCE_S = 20.0
"""How long a call waits for the others before it gives up; in vain only where the test fails."""


class Meeting:
    """Calls that come together, and leave in the reverse order of their names."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._expected: tuple[str, ...] = ()
        self._here: set[str] = set()
        self.left: list[str] = []

    def expect(self, *names: str) -> None:
        """Nobody who comes from now on leaves before all of these are there; with no names nobody
        waits.
        """
        self._expected, self._here, self.left = names, set(), []

    def attend(self, name: str) -> None:
        """Raises TimeoutError where the others do not come."""
        if name not in self._expected:
            return
        later = [each for each in self._expected if each > name]
        with self._changed:
            self._here.add(name)
            self._changed.notify_all()
            self._wait(lambda: self._here == set(self._expected))
            self._wait(lambda: self.left == sorted(later, reverse=True))
            self.left.append(name)
            self._changed.notify_all()

    def _wait(self, condition: Callable[[], bool]) -> None:
        if not self._changed.wait_for(condition, PATIENCE_S):
            raise TimeoutError("the others did not come")


MEETING = Meeting()

FILES = {
    "schema.sql": (
        "CREATE TABLE items (item_id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL"
        " UNIQUE, price INTEGER);\n"
    ),
    "seed.sql": "INSERT INTO items VALUES (1, 'a', 10), (2, 'b', 20), (3, 'c', 30);\n",
    "executors.py": '''\
from sqlalchemy import Connection, text

from envs import tool
from tests.unit.meeting import MEETING


@tool(read_only=True)
def price_of(db: Connection, name: str) -> dict:
    """Tell the price of an item, and a number drawn at random.

    Args:
        name: The item's name.
    """
    MEETING.attend(name)
    price, drawn = db.execute(text("SELECT price, random() FROM items WHERE name = :n"), {"n": name}).one()
    return {"price": price, "drawn": drawn}


@tool
def reprice(db: Connection, name: str, price: int) -> dict:
    """Set the price of an item.

    Args:
        name: The item's name.
        price: The new price.
    """
    return {"changed": db.execute(text("UPDATE items SET price = :p WHERE name = :n"), {"n": name, "p": price}).rowcount}
''',
    "tasks.yaml": """\
now: "2026-03-02T09:00:00"
families:
- id: reprice
  ground: {key: item_id, sql: "SELECT item_id, name FROM items"}
  user: {says: ["{name} is to cost 7."]}
  gold:
  - reprice: {name: "{name}", price: 7}
  - say: Done.
""",
}


def make(folder: Path) -> Path:
    """Write the world."""
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    return folder
