"""The check by a statement's text sees what the driver will write for its parameters."""

from __future__ import annotations

import pytest

from envs.sandboxes.attached.access import without_marks
from envs.sandboxes.attached.one_query import refusal


@pytest.mark.parametrize(
    ("sql", "paramstyle"),
    [
        ("SELECT id FROM author WHERE name = %(name)s", "pyformat"),
        ("SELECT id FROM author WHERE name LIKE 'a%%' AND id = %s LIMIT %s", "format"),
        ("SELECT id FROM author WHERE name = :name", "named"),
        ("SELECT id %s FROM author", "qmark"),
    ],
)
def test_a_query_with_parameters_is_read(sql: str, paramstyle: str):
    assert refusal(without_marks(sql, paramstyle), "hive") is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM author WHERE name = '%(name)s'",
        "DELETE FROM author WHERE name = %(name)s",
        "SELECT id FROM author WHERE name = %(name)s; DROP TABLE author",
    ],
)
def test_a_value_within_quotes_and_a_write_are_refused(sql: str):
    assert refusal(without_marks(sql, "pyformat"), "hive") is not None


def test_a_doubled_percent_sign_is_one():
    assert without_marks("SELECT '100%%', %s", "format") == "SELECT '100%', 'x'"
