"""The tools of the calendar, in the order in which a model is shown them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any

from sqlalchemy import Connection

from envs import ToolError, tool
from envs.tools.records import Row, change, first, fold, rows, words_condition

Words = Annotated[str, {"minLength": 1, "maxLength": 120}]
Day = Annotated[str, {"pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}]
Time = Annotated[str, {"pattern": "^[0-9]{2}:[0-9]{2}$"}]
Minutes = Annotated[int, {"minimum": 15, "maximum": 480}]
People = Annotated[list[int], {"minItems": 1, "maxItems": 30}]

_EVENTS = (
    "SELECT e.event_id, e.title, s.name AS organiser, e.starts_at, e.ends_at, e.minutes,"
    " r.name AS room, e.status, e.fixed FROM events e JOIN staff s ON s.staff_id = e.organiser_id"
    " LEFT JOIN rooms r ON r.room_id = e.room_id"
)


@tool(read_only=True)
def find_staff(db: Connection, query: Words) -> dict[str, Any]:
    """Find colleagues by name or e-mail address.

    Args:
        query: A whole e-mail address, or a name or a part of it.
    """
    if "@" in query:
        condition, binds = "email = :email", {"email": query.strip().lower()}
    else:
        condition, binds = words_condition("name_folded", query)
    found = rows(
        db, f"SELECT staff_id, name, email FROM staff WHERE {condition} ORDER BY staff_id", **binds
    )
    return {"count": len(found), "staff": found}


@tool(read_only=True)
def list_events(db: Connection, staff_id: int, day: Day) -> dict[str, Any]:
    """List the events of a colleague on one day, in order, cancelled ones left out.

    Args:
        staff_id: The colleague, as find_staff gives the id.
        day: The day (YYYY-MM-DD).
    """
    found = _day(db, staff_id, day)
    return {"count": len(found), "events": [_shown(each) for each in found]}


@tool(read_only=True)
def find_events(db: Connection, title: Words) -> dict[str, Any]:
    """Find events by words of the title, in order of time, with who takes part.

    Args:
        title: Words of the title, in any order and case.
    """
    words = fold(title).split()
    found = [
        _shown(each) | {"attendees": _attendees(db, each["event_id"])}
        for each in rows(db, f"{_EVENTS} ORDER BY e.starts_at, e.event_id")
        if all(word in fold(each["title"]).split() for word in words)
    ]
    return {"count": len(found), "events": found[:25]}


@tool(read_only=True)
def find_free_slots(
    db: Connection, staff_ids: People, day: Day, minutes: Minutes
) -> dict[str, Any]:
    """List the half hours of a day, from 09:00 to 17:00, at which an event could begin because all
    these colleagues are free.

    Args:
        staff_ids: The colleagues.
        day: The day (YYYY-MM-DD).
        minutes: How long the event takes.
    """
    taken = [
        (each["starts_at"], each["ends_at"])
        for staff_id in staff_ids
        for each in _day(db, staff_id, day)
    ]
    times = list[str]()
    for half in range(18, 34):
        time = f"{half // 2:02d}:{half % 2 * 30:02d}"
        begin, end = _span(day, time, minutes)
        busy = any(one < end and begin < other for one, other in taken)
        if end <= f"{day} 17:00" and not busy:
            times.append(time)
    return {"count": len(times), "day": day, "times": times}


@tool(read_only=True)
def find_free_rooms(
    db: Connection, day: Day, time: Time, minutes: Minutes, seats: Annotated[int, {"minimum": 1}]
) -> dict[str, Any]:
    """List the rooms that are free and large enough, the smallest first.

    Args:
        day: The day (YYYY-MM-DD).
        time: When the event begins (HH:MM).
        minutes: How long it takes.
        seats: How many people come.
    """
    begin, end = _span(day, time, minutes)
    found = rows(
        db,
        "SELECT r.room_id, r.name, r.seats FROM rooms r WHERE r.seats >= :seats AND NOT EXISTS"
        " (SELECT 1 FROM events e WHERE e.room_id = r.room_id AND e.status = 'confirmed'"
        " AND e.starts_at < :end AND e.ends_at > :start) ORDER BY r.seats, r.room_id",
        seats=seats,
        start=begin,
        end=end,
    )
    return {"count": len(found), "rooms": found}


@tool
def create_event(
    db: Connection,
    title: Words,
    organiser_id: int,
    staff_ids: People,
    day: Day,
    time: Time,
    minutes: Minutes,
    room_id: int | None = None,
) -> dict[str, Any]:
    """Enter an event into the calendars of its organiser and of all who take part.

    Args:
        title: The title.
        organiser_id: The colleague who organises it.
        staff_ids: The other colleagues who take part.
        day: The day (YYYY-MM-DD).
        time: When it begins (HH:MM).
        minutes: How long it takes.
        room_id: The room, if there is one.
    """
    begin, end = _span(day, time, minutes)
    people = dict.fromkeys([organiser_id, *staff_ids])
    for staff_id in people:
        _require(db, "staff", staff_id)
    made = first(
        db,
        "INSERT INTO events (title, organiser_id, room_id, starts_at, ends_at, minutes)"
        " VALUES (:title, :organiser, :room, :start, :end, :minutes) RETURNING event_id",
        title=title,
        organiser=organiser_id,
        room=room_id,
        start=begin,
        end=end,
        minutes=minutes,
    )
    event_id = (made or {})["event_id"]
    for staff_id in people:
        _attend(db, event_id, staff_id)
    return {"event_id": event_id, "title": title, "starts_at": begin, "ends_at": end}


@tool
def move_event(db: Connection, event_id: int, day: Day, time: Time) -> dict[str, Any]:
    """Move an event to another time; its length and its room stay.

    Args:
        event_id: The event, as find_events gives the id.
        day: Its new day (YYYY-MM-DD).
        time: When it begins from now on (HH:MM).
    """
    event = _require(db, "events", event_id)
    begin, end = _span(day, time, event["minutes"])
    change(
        db,
        "UPDATE events SET starts_at = :start, ends_at = :end WHERE event_id = :id",
        start=begin,
        end=end,
        id=event_id,
    )
    return {"event_id": event_id, "title": event["title"], "starts_at": begin, "ends_at": end}


@tool
def cancel_event(db: Connection, event_id: int) -> dict[str, Any]:
    """Cancel an event for all who take part.

    Args:
        event_id: The event.
    """
    event = _require(db, "events", event_id)
    change(db, "UPDATE events SET status = 'cancelled' WHERE event_id = :id", id=event_id)
    return {"event_id": event_id, "title": event["title"], "status": "cancelled"}


@tool
def invite_colleague(db: Connection, event_id: int, staff_id: int) -> dict[str, Any]:
    """Let one more colleague take part in an event.

    Args:
        event_id: The event.
        staff_id: The colleague.
    """
    event, colleague = _require(db, "events", event_id), _require(db, "staff", staff_id)
    if any(each["staff_id"] == staff_id for each in _attendees(db, event_id)):
        raise ToolError(f"{colleague['name']} takes part already.", category="conflict")
    _attend(db, event_id, staff_id)
    return {"event_id": event_id, "title": event["title"], "name": colleague["name"]}


def _require(db: Connection, table: str, key: int) -> Row:
    column = {"events": "event_id", "staff": "staff_id"}[table]
    found = first(db, f"SELECT * FROM {table} WHERE {column} = :id", id=key)
    if found is None:
        raise ToolError(f"There is no {column.removesuffix('_id')} {key}.", category="not_found")
    return found


def _day(db: Connection, staff_id: int, day: str) -> list[Row]:
    return rows(
        db,
        f"{_EVENTS} WHERE e.status = 'confirmed' AND SUBSTR(e.starts_at, 1, 10) = :day AND EXISTS"
        " (SELECT 1 FROM attendees a WHERE a.event_id = e.event_id AND a.staff_id = :id)"
        " ORDER BY e.starts_at, e.event_id",
        day=day,
        id=staff_id,
    )


def _attend(db: Connection, event_id: int, staff_id: int) -> None:
    change(
        db,
        "INSERT INTO attendees (event_id, staff_id) VALUES (:event, :staff)",
        event=event_id,
        staff=staff_id,
    )


def _attendees(db: Connection, event_id: int) -> list[Row]:
    return rows(
        db,
        "SELECT s.staff_id, s.name FROM attendees a JOIN staff s ON s.staff_id = a.staff_id"
        " WHERE a.event_id = :id ORDER BY s.staff_id",
        id=event_id,
    )


def _shown(event: Row) -> Row:
    return event | {"day": event["starts_at"][:10], "fixed": bool(event["fixed"])}


def _span(day: str, time: str, minutes: int) -> tuple[str, str]:
    """Beginning and end, as the table holds them."""
    try:
        begin = datetime.fromisoformat(f"{day} {time}")
    except ValueError:
        raise ToolError(f"There is no {time} on {day}.", category="invalid") from None
    return f"{begin:%Y-%m-%d %H:%M}", f"{begin + timedelta(minutes=minutes):%Y-%m-%d %H:%M}"
