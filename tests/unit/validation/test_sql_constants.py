"""What an agent must have been told before it can write a statement: its constants, not its
words.
"""

from __future__ import annotations

import pytest

from synth.core.validation.argument_provenance import constants


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT room_id FROM rooms WHERE name = 'Aster'", ["Aster"]),
        ("INSERT INTO t (a, b) VALUES (101, '2026-04-07')", [101, "2026-04-07"]),
        ("SELECT name FROM t WHERE name LIKE '%O''Brien%' LIMIT 1", ["O'Brien"]),
        ("SELECT price FROM t WHERE price > 12.50 AND a = 0", [12.5]),
        ("SELECT \"it's\", column_22 FROM t2026 -- '99' and 77\n WHERE a = '' /* 'x' 88 */", []),
        ("SELECT count(*) FROM t GROUP BY 1 HAVING count(*) > 2", []),
    ],
)
def test_constants(sql: str, expected: list[object]):
    assert list(constants(sql)) == expected
