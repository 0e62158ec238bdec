"""``synth check --questions``: each planted mistake in a published query is found, and no other."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from synth.__main__ import main
from synth.ext.text2sql.verifier import NOTES

ROWS = """
CREATE TABLE town (name TEXT PRIMARY KEY, state TEXT, people INTEGER, area INTEGER, founded TEXT);
CREATE TABLE twin (town TEXT REFERENCES town, other TEXT, since INTEGER);
INSERT INTO town VALUES ('Ulm', 'Baden ', 126000, 118, '850'), ('Kiel', 'Holstein', 246000, 118, '1242'),
  ('Bonn', 'Rhineland', 330000, 141, '11');
INSERT INTO twin VALUES ('Ulm', 'Bonn', 1999), ('Kiel', 'Bonn', 2001);
"""
RIGHT = {
    "How many live in Ulm?": "SELECT people FROM town WHERE name = 'Ulm'",
    "People per square kilometre?": "SELECT name, people * 1.0 / area FROM town",
    "Twins of Bonn?": "SELECT T1.name FROM town T1 JOIN twin T2 ON T1.name = T2.town"
    " WHERE T2.other IN ('Bonn') ORDER BY T1.name",
    "Half of Kiel's people?": "SELECT people / 2 FROM town WHERE name = 'Kiel'",
    "How many twins since 2000?": "SELECT COUNT(*) FROM twin WHERE since > 2000",
}
PLANTED = {
    "Towns in Baden?": (
        "SELECT COUNT(*) FROM town WHERE state = 'Baden'",
        ("doubtful", "no row has 'Baden' in town.state, but some have 'Baden '"),
    ),
    "Twins of Rome?": (
        "SELECT town FROM twin AS t WHERE t.other = 'Rome'",
        ("cannot judge", "its query finds nothing"),
        ("doubtful", "no row has 'Rome' in twin.other"),
    ),
    "Share of twins since 2000?": (
        "SELECT SUM(since > 2000) / COUNT(*) FROM twin",
        ("doubtful", "a division of integers drops the fraction: (0,) instead of (0.5,)"),
    ),
    "How many live in  ulm?": (
        "SELECT area FROM town WHERE name = 'Ulm'",
        ("doubtful", "question 1 has these words and another answer"),
    ),
    "The smallest town?": (
        "SELECT name FROM town ORDER BY area LIMIT 1",
        ("doubtful", NOTES["tie"]),
    ),
    "Towns by age?": (
        "SELECT name, founded FROM town ORDER BY founded",
        ("doubtful", NOTES["text_number"]),
    ),
    "Mayor of Ulm?": (
        "SELECT mayor FROM town",
        ("cannot judge", "its query fails: no such column: mayor (column_not_found)"),
    ),
}


@pytest.mark.parametrize("rows", ["set", "gold"])
def test_each_mistake_is_found_and_no_other(
    rows: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    with sqlite3.connect(tmp_path / "towns.sqlite") as database:
        database.executescript(ROWS)
    asked = [*RIGHT.items(), *((question, sql) for question, (sql, *_) in PLANTED.items())]
    (tmp_path / "dev.json").write_text(
        json.dumps([{"question": text, "SQL": sql, "db_id": "towns"} for text, sql in asked])
    )
    assert main(["check", str(tmp_path), "--questions", rows, "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    found = {(one["question"], one["kind"], one["reason"]) for one in report["findings"]}
    assert found == {(text, *one) for text, (_, *kinds) in PLANTED.items() for one in kinds}
    assert report["totals"] == {"cannot judge": 2, "doubtful": 6}
    assert main(["check", str(tmp_path), "--questions", rows]) == 1
    assert "dev.json: 10 of 12 queries can judge answers; 6 doubtful" in capsys.readouterr().out


def test_bad_input_is_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for more, words in ([], "no file of questions"), (["--watch"], "leave it out with --questions"):
        assert main(["check", str(tmp_path), "--questions", "set", *more]) == 2
        assert words in capsys.readouterr().err
