"""A small world whose families hold conversations, for tests that break one thing in it."""

from __future__ import annotations

from pathlib import Path

FILES = {
    "schema.sql": """\
CREATE TABLE members (member_id INTEGER PRIMARY KEY, name TEXT NOT NULL, born TEXT NOT NULL, barred INTEGER NOT NULL);
CREATE TABLE rooms (room TEXT PRIMARY KEY, seats INTEGER NOT NULL, colour TEXT NOT NULL);
CREATE TABLE bookings (booking_id INTEGER PRIMARY KEY, member_id INTEGER NOT NULL REFERENCES members, room TEXT NOT NULL
  REFERENCES rooms, day TEXT NOT NULL);
""",
    "seed.sql": """\
INSERT INTO members VALUES (11, 'Ada Kern', '1980-05-03', 0), (12, 'Ada Kern', '1991-11-21', 1),
  (13, 'Ben Ohara', '1975-02-14', 1), (14, 'Ben Ohara', '1988-08-08', 0);
INSERT INTO rooms VALUES ('Attic', 4, 'red'), ('Cellar', 8, 'blue'), ('Hall', 40, 'red'), ('Loft', 6, 'red');
INSERT INTO bookings VALUES (31, 11, 'Cellar', '2026-03-09'), (32, 12, 'Cellar', '2026-03-10');
""",
    "policy.md": (
        "Ask which member it is where the name is not enough. Restate a booking before"
        " you make it.\n"
    ),
    "executors.py": '''\
from typing import Literal

from envs import ToolError, tool
from sqlalchemy import Connection, text


def rows(db: Connection, sql: str, **binds: object) -> list[dict]:
    return [dict(row) for row in db.execute(text(sql), binds).mappings()]


@tool(read_only=True)
def find_members(db: Connection, name: str, born: str | None = None) -> dict:
    """Find members.

    Args:
        name: The whole name.
        born: The day of birth.
    """
    sql = "SELECT member_id, name, barred FROM members WHERE name = :n AND (:b IS NULL OR born = :b) ORDER BY member_id"
    return {"members": rows(db, sql, n=name, b=born)}


@tool(read_only=True)
def list_rooms(db: Connection) -> dict:
    """List the rooms."""
    return {"rooms": rows(db, "SELECT * FROM rooms ORDER BY room")}


@tool(read_only=True)
def bookings_of(db: Connection, member_id: int) -> dict:
    """List a member's bookings.

    Args:
        member_id: The member's number.
    """
    return {"bookings": rows(db, "SELECT * FROM bookings WHERE member_id = :m ORDER BY booking_id", m=member_id)}


@tool
def book(db: Connection, member_id: int, room: str, day: str) -> dict:
    """Book a room.

    Args:
        member_id: The member's number.
        room: The room.
        day: The day.
    """
    if not rows(db, "SELECT 1 FROM rooms WHERE room = :r", r=room):
        raise ToolError("There is no such room.", category="not_found")
    sql = "INSERT INTO bookings (member_id, room, day) VALUES (:m, :r, :d) RETURNING booking_id"
    return rows(db, sql, m=member_id, r=room, d=day)[0]


@tool
def move_booking(db: Connection, booking_id: int, room: Literal["Attic", "Cellar", "Hall", "Loft"]) -> dict:
    """Move a booking to another room.

    Args:
        booking_id: The booking's number.
        room: The new room.
    """
    sql = "UPDATE bookings SET room = :r WHERE booking_id = :b RETURNING booking_id, room"
    found = rows(db, sql, r=room, b=booking_id)
    if not found:
        raise ToolError("There is no such booking.", category="not_found")
    return found[0]
''',
    "tasks.yaml": """\
now: "2026-03-02T09:00:00"
transient: forbid
families:
- id: book_namesake
  ground: {key: wish, sql: "SELECT member_id || room AS wish, member_id, name, born, barred, room FROM members, rooms WHERE seats < 10"}
  cases: {open: NOT barred, closed: barred}
  user:
    says: ["Book the {room} for {name} on 1 April."]
    signed_in: "The clerk at the desk is signed in. Day to book: 2026-04-01."
    knows: {born: "Born {born}."}
    agrees_if: {mentions: ["{room}", "{born}"]}
  answer: {outcome: {enum: [booked, refused], description: What came of it.}}
  gold:
  - find_members: {name: "{name}"}
  - ask: born
  - find_members: {name: "{name}", born: "{born}"}
    save: {id: "$.members[0].member_id"}
  - open:
    - confirm: "Shall I book the {room} on 2026-04-01 for the {name} born {born}?"
    - book: {member_id: $id, room: "{room}", day: "2026-04-01"}
    - submit: {outcome: booked}
    - say: "The {room} is booked."
  - closed:
      [{submit: {outcome: refused}}, {say: "{name} is barred, so I booked nothing."}]
  gates: [state, answer, {no_write_before: [ask, confirm]}]
- id: perhaps_not
  ground: {key: member_id, sql: "SELECT member_id, name, born FROM members WHERE NOT barred"}
  vary: {room: {choice: [Attic, Loft]}}
  cases: {sure: "member_id = 11", unsure: "member_id = 14"}
  user:
    says: ["I am {name}, member {member_id}. The {room} for 2026-04-02, please."]
    agrees_if: {mentions: ["{room}"], declines: {unsure: "No, leave it then."}}
  gold:
  - bookings_of: {member_id: "{member_id}"}
  - confirm: "Shall I book the {room}?"
  - sure:
    - book: {member_id: "{member_id}", room: "{room}", day: "2026-04-02"}
  - say: "All right: {room}."
  gates: [state, {no_write_before: [confirm]}]
- id: any_red_room
  ground: {key: booking_id, sql: "SELECT booking_id, member_id, name FROM bookings JOIN members USING (member_id)"}
  user: {says: "I am {name}, member {member_id}. Please move booking {booking_id} to any red room."}
  gold:
  - list_rooms:
    save: {first: "$.rooms[0].room"}
  - move_booking: {booking_id: "{booking_id}", room: $first}
  - say: Moved.
  alternatives:
    any_of:
    - bind: {room: "SELECT room FROM bookings WHERE booking_id = :booking_id"}
      must: "SELECT colour = 'red' FROM rooms WHERE room = :room"
      may_change: {bookings: {where: "booking_id = :booking_id", columns: [room], ops: [update]}}
""",
}


def make(folder: Path, *edits: tuple[str, str], file: str = "tasks.yaml") -> Path:
    """Write the world with some changes in one file, each to a text that stands in it once."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        if name == file:
            for old, new in edits:
                assert text.count(old) == 1, f"{old!r} must stand in {name} once"
                text = text.replace(old, new)  # noqa: PLW2901
        (folder / name).write_text(text, "utf-8")
    return folder
