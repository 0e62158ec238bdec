"""A small world in a folder, for tests that break one thing in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

FILES: Mapping[str, str] = {
    "schema.sql": """\
CREATE TABLE items (item_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, price REAL, due TEXT, colour TEXT, note TEXT);
""",
    "seed.sql": """\
INSERT INTO items VALUES (1, 'Lamp "XL"', 9.5, NULL, 'red', NULL), (2, 'Chair', 20, NULL, 'red', NULL),
  (3, 'Desk', 120.25, NULL, 'blue', NULL);
""",
    "policy.md": "Be careful.\n",
    "executors.py": '''\
from typing import Literal

from envs import ToolError, tool
from sqlalchemy import Connection, text


@tool(read_only=True)
def find_items(db: Connection, name: str) -> dict:
    """Find items by name.

    Args:
        name: Part of the name.
    """
    found = db.execute(text("SELECT * FROM items WHERE instr(name, :n) ORDER BY item_id"), {"n": name})
    return {"items": [dict(row) for row in found.mappings()]}


@tool(read_only=True)
def all_items(db: Connection) -> dict:
    """List all items."""
    return {"items": [dict(row) for row in db.execute(text("SELECT * FROM items")).mappings()]}


@tool
def plan_item(
    db: Connection, name: str, due: str, colour: Literal["red", "blue", "green"] = "red", note: str = ""
) -> dict:
    """Plan an item.

    Args:
        name: The item's whole name.
        due: The day.
        colour: The colour.
        note: What else there is to say.
    """
    change = text("UPDATE items SET due = :d, colour = :c, note = nullif(:o, '') WHERE name = :n")
    if not db.execute(change, {"n": name, "d": due, "c": colour, "o": note}).rowcount:
        raise ToolError(f"There is no item {name!r}.", category="not_found")
    return {"name": name, "due": due}
''',
    "tasks.yaml": """\
now: "2026-03-02T09:00:00"
families:
- id: plan
  ground: {key: item_id, sql: "SELECT item_id, name FROM items"}
  vary: {day: {date: ["2026-04-01", "2026-04-20"]}}
  user: {says: ["Plan {name} for {day}, in green."]}
  gold:
  - find_items: {name: "{name}"}
    save: {name_: "$.items[0].name"}
  - plan_item: {name: $name_, due: "{day}", colour: green}
  - say: Done.
- id: price
  ground: {key: item_id, sql: "SELECT item_id, name FROM items"}
  user: {says: ["What does {name} cost?"]}
  answer: {price: {type: number, description: The price.}}
  oracle: {price: "SELECT price FROM items WHERE item_id = :item_id"}
  gold:
  - all_items:
    save: {prices: "$.items[*].price"}
  - find_items: {name: "{name}"}
    save: {price: "$.items[0].price"}
  - submit: {price: $price}
  - say: "It costs {price}."
""",
}


def make(folder: Path, **changes: tuple[str, str]) -> Path:
    """Write the world; ``tasks=(old, new)`` changes tasks.yaml in one place, ``executors=``
    executors.py.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names = {"tasks": "tasks.yaml", "executors": "executors.py", "schema": "schema.sql"}
    edits = {names[key]: edit for key, edit in changes.items()}
    for name, text in FILES.items():
        old, new = edits.get(name, ("", ""))
        assert not old or text.count(old) == 1, f"{old!r} must stand in {name} once"
        (folder / name).write_text(text.replace(old, new) if old else text, "utf-8")
    return folder
