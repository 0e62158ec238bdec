"""techouse/sqlite3-to-mysql#4, chennaione/sugar#27: DATETIME columns that hold seconds.

Nobody is told seconds, none are added up, and codes keep their zeros in front.
"""

from __future__ import annotations

from pathlib import Path

from synth.ext.authoring.source import from_files
from synth.ext.authoring.world import make_world

SCRIPT = """
CREATE TABLE shops (
  shop_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, zip_code TEXT NOT NULL, opened_at DATETIME NOT NULL
);
INSERT INTO shops VALUES (1, 'North', '01067', 1709284800), (2, 'South', '00501', 1711963200),
  (3, 'West', '90210', 1714555200), (4, 'East', '04109', 1717233600);
"""


def test_no_request_says_seconds_and_codes_keep_their_zeros(tmp_path: Path):
    file = tmp_path / "schema.sql"
    file.write_text(SCRIPT)
    made = make_world("w", from_files([file]), print, proves=False)
    assert "opened" not in made.files["tasks.yaml"]
    assert "total_" not in made.files["executors.py"].partition("# Shops")[2]
    assert '"zip_code": Form(' in made.files["seed.py"]
