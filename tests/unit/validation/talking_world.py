"""A small world whose families hold conversations, for tests that break one thing in it."""

from __future__ import annotations

from pathlib import Path

FILES = {
    file.name: file.read_text("utf-8") for file in Path(__file__).with_name("talking").iterdir()
} | {
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
'''
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
