"""Cases that are none are refused: their words give them away, or they want the same work."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.core.validation.check import Options
from synth.core.validation.world import check_world
from tests.unit.validation import talking_world

SQL = (
    '"SELECT member_id || room AS wish, member_id, name, born, barred, room FROM members, rooms'
    ' WHERE seats < 10"'
)
OPEN = """\
    - confirm: "Shall I book the {room} on 2026-04-01 for the {name} born {born}?"
    - book: {member_id: $id, room: "{room}", day: "2026-04-01"}
    - submit: {outcome: booked}
    - say: "The {room} is booked."
"""
SAME = """\
    - submit: {outcome: refused}
    - say: "{name} is barred, so I booked nothing."
"""


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        (
            [(SQL, SQL.replace(" name,", " CASE WHEN barred THEN 'Ada' ELSE 'Ben' END AS name,"))],
            ("the cases can be told apart by their words: name is always 'Ben' in open and always 'Ada' in closed"),
        ),
        (
            [(SQL, SQL.replace(" born,", " CASE WHEN NOT barred THEN born END AS born,"))],
            ("the cases can be told apart by their words: born is NULL in each row of closed and in none of open"),
        ),
        (
            [(OPEN, SAME), (("{no_write_before: [ask, confirm]}"), ("{no_write_before: [ask]}"))],
            "the cases want the same work",
        ),
    ],
)  # fmt: skip
def test_what_is_no_case_is_refused(tmp_path: Path, edits: list[tuple[str, str]], words: str):
    folder = talking_world.make(tmp_path / "world", *edits)
    (report,) = check_world(folder, Options(("book_namesake",), 2), lambda _: None).families
    assert len(report.problems) == 1
    assert report.problems[0].startswith(
        f"{folder / 'tasks.yaml'}:6: family book_namesake: {words}"
    )
