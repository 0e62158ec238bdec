"""A world of questions that queries answer, in a folder, for tests that change one thing in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

FILES: Mapping[str, str] = {
    "schema.sql": """\
CREATE TABLE rooms (room_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, seats INTEGER NOT NULL);
CREATE TABLE bookings (
  booking_id INTEGER PRIMARY KEY, room_id INTEGER NOT NULL REFERENCES rooms (room_id), day TEXT NOT NULL, guests INTEGER,
  UNIQUE (room_id, day)
);
""",
    "seed.sql": """\
INSERT INTO rooms VALUES (101, 'Aster', 12), (102, 'Borage', 30), (103, 'O''Clover', 45), (104, 'Dahlia', 18),
  (105, 'Erica', 18), (106, 'Fern', 60);
INSERT INTO bookings VALUES (501, 101, '2026-03-10', 4), (502, 103, '2026-03-11', NULL), (503, 101, '2026-03-12', 9),
  (504, 102, '2026-03-10', 20), (505, 104, '2026-04-01', 7), (506, 103, '2026-04-02', 40), (507, 105, '2026-04-02', 3),
  (508, 102, '2026-03-14', 25), (509, 101, '2026-04-03', 4), (510, 106, '2026-03-20', 55);
""",
    "policy.md": "You answer questions about the booking of rooms with SQL queries.\n",
    "tools.yaml": """\
- builtin: [list_tables, describe_table, run_select_query, run_mutation_query, submit_sql]
  critic: true
""",
    "tasks.yaml": """\
now: "2026-03-02T09:00:00"
families:
- id: days
  ground: {key: room_id, sql: "SELECT DISTINCT room_id, name FROM rooms JOIN bookings USING (room_id)"}
  difficulty: simple
  user: {says: ["On which days is {name} booked, and for how many guests? By day, please."]}
  sql: SELECT b.day, b.guests FROM bookings b JOIN rooms r ON r.room_id = b.room_id WHERE r.name = :name ORDER BY b.day
- id: average
  ground: {key: month, sql: "SELECT DISTINCT substr(day, 1, 7) AS month FROM bookings"}
  difficulty: moderate
  user: {says: ["Average number of guests per room in {month}, please: the room's name and the average."]}
  hint: Bookings without a number of guests do not count.
  sql: |
    SELECT r.name, AVG(b.guests) FROM bookings b JOIN rooms r ON r.room_id = b.room_id
    WHERE b.day LIKE :month || '-%' AND b.guests IS NOT NULL GROUP BY r.name
- id: guests
  ground: {key: month, sql: "SELECT DISTINCT substr(day, 1, 7) AS month FROM bookings"}
  difficulty: simple
  user: {says: ["How many guests are expected in {month}, all in all?"]}
  sql: SELECT SUM(guests) FROM bookings WHERE day LIKE :month || '-%'
""",
}


def asking_world(folder: Path, changes: Mapping[str, str] | None = None) -> Path:
    """Write the world's files, some of them others."""
    folder.mkdir(parents=True)
    for name, text in {**FILES, **(changes or {})}.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def with_tasks(old: str, new: str) -> Mapping[str, str]:
    """The change of one place in tasks.yaml."""
    assert FILES["tasks.yaml"].count(old) == 1, FILES["tasks.yaml"].count(old)
    return {"tasks.yaml": FILES["tasks.yaml"].replace(old, new)}
