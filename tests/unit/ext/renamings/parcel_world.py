"""A world of parcels whose states are words of an enumeration, in results and in replies."""

from __future__ import annotations

from pathlib import Path

FILES = {
    "schema.sql": """\
CREATE TABLE parcels (
  parcel_id INTEGER PRIMARY KEY, number TEXT NOT NULL UNIQUE, status TEXT NOT NULL, note TEXT
);
""",
    "seed.sql": """\
INSERT INTO parcels VALUES (1, 'P-11', 'shipped', 'shipped twice'), (2, 'P-12', 'delivered', NULL),
  (3, 'P-13', 'in_transit', NULL), (4, 'P-14', 'shipped', NULL), (5, 'P-15', 'in_transit', NULL);
""",
    "policy.md": """\
Look parcels up by `find_parcel`. You must not mark a parcel as `delivered` that is `shipped`.
A `kind` of refusal is an answer too. An order that is shipped is never `cancelled`.
""",
    "executors.py": '''\
from typing import Literal

from envs import ToolError, tool
from sqlalchemy import Connection, text

State = Literal["shipped", "in_transit", "delivered", "cancelled"]


@tool(read_only=True)
def find_parcel(db: Connection, number: str) -> dict:
    """Find a parcel by its number; list_parcels gives several.

    Args:
        number: The parcel's number.
    """
    row = db.execute(text("SELECT * FROM parcels WHERE number = :n"), {"n": number}).first()
    if row is None:
        raise ToolError(f"There is no parcel {number}; list_parcels has them.", category="not_found")
    return {"parcel": dict(row._mapping)}


@tool(read_only=True)
def list_parcels(db: Connection, status: State) -> dict:
    """List the parcels of one state.

    Args:
        status: The state.
    """
    found = db.execute(text("SELECT * FROM parcels WHERE status = :s"), {"s": status})
    rows = [dict(row) for row in found.mappings()]
    return {"count": len(rows), "parcels": rows}


@tool
def mark_parcel(db: Connection, number: str, status: State) -> dict:
    """Mark a parcel.

    Args:
        number: The parcel's number.
        status: Its new state.
    """
    change = text("UPDATE parcels SET status = :s WHERE number = :n")
    db.execute(change, {"s": status, "n": number})
    return {"number": number, "status": status}


@tool
def add_note(db: Connection, number: str, words: str) -> dict:
    """Add a note to a parcel.

    Args:
        number: The parcel's number.
        words: The note.
    """
    db.execute(text("UPDATE parcels SET note = :w WHERE number = :n"), {"w": words, "n": number})
    return {"number": number}


@tool(read_only=True)
def count_parcels(db: Connection) -> dict:
    """Count all parcels."""
    return {"count": db.execute(text("SELECT count(*) FROM parcels")).scalar()}
''',
    "tasks.yaml": """\
now: "2026-03-02T09:00:00"
families:
- id: state_of
  ground: {key: parcel_id, sql: "SELECT parcel_id, number FROM parcels"}
  user: {says: ["What is the state of {number}?"]}
  answer:
    state: {type: string, enum: [shipped, in_transit, delivered, cancelled], description: The state.}
  oracle: {state: "SELECT status FROM parcels WHERE parcel_id = :parcel_id"}
  gold:
  - find_parcel: {number: "{number}"}
    save: {state: "$.parcel.status"}
  - submit: {state: $state}
  - say: "Parcel {number} is {state}."
- id: arrived
  ground: {key: parcel_id, sql: "SELECT parcel_id, number FROM parcels WHERE status = 'in_transit'"}
  user: {says: ["{number} has just arrived, please mark it as delivered."]}
  answer: {outcome: {type: string, enum: [marked, refused], description: What was done.}}
  gold:
  - find_parcel: {number: "{number}"}
    save: {found: "$.parcel.number"}
  - mark_parcel: {number: $found, status: delivered}
  - submit: {outcome: marked}
  - say: Done.
""",
}


def make(folder: Path) -> Path:
    """Write the world into a folder."""
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    return folder
