"""What SQLite itself may hold in memory in place: little, whatever a statement sorts, groups, joins
or changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import apsw
import pytest
from sqlalchemy.exc import DBAPIError

from envs.sandboxes.sqlite import sandbox as sqlite
from envs.sandboxes.sqlite.guard import SqliteGuard
from envs.sandboxes.sqlite.pages import Pages, connect
from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.sql_errors.classify import classify
from envs.types import ErrorCategory, Pins
from tests.unit.envs.sandboxes.calls import ask, call

SCRIPT = """
CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT);
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
INSERT INTO t SELECT i, printf('%0500d', i) FROM n;
"""
MOST = 48 * 2**20
"""Bytes of SQLite's heap. The statements here handle some 90 MB each."""

MANY = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) "
WIDE = "printf('%0300d', i)"
DISTINCT = f"{MANY} SELECT count(DISTINCT {WIDE}) FROM n"
LIST = f"{MANY} SELECT json_group_array({WIDE}) FROM n"
ONE_VALUE = "SELECT length(hex(zeroblob(40000000)))"
NESTED = ", ".join(f"c{at + 1} AS (SELECT x.a FROM c{at} x, c{at} y)" for at in range(18))
HUNGRY = {
    "distinct": DISTINCT,
    "groups": f"{MANY} SELECT count(*) FROM (SELECT {WIDE} AS x, count(*) FROM n GROUP BY x)",
    "a window": (
        f"{MANY} SELECT max(w) FROM (SELECT count(*) OVER (PARTITION BY i % 2 ORDER BY"
        f" {WIDE}) AS w FROM n)"
    ),
    "a list of a query": f"{MANY} SELECT count(*) FROM t WHERE b IN (SELECT {WIDE} FROM n)",
    "a long list": f"SELECT count(*) FROM t WHERE a IN ({','.join(map(str, range(150_000)))})",
    "one value": ONE_VALUE,
    "a query that doubles": f"WITH c0 AS (SELECT 1 AS a), {NESTED} SELECT count(*) FROM c18",
    "every row": "UPDATE t SET b = b || 'x'",
}


@pytest.fixture(scope="module")
def template() -> Iterator[SqliteTemplate]:
    with SqliteTemplate.build(lambda db: db.executescript(SCRIPT)) as made:
        yield made


def peak(template: SqliteTemplate, sql: str) -> int:
    """Bytes that SQLite held at most while a call ran the statement, refused or not."""
    with template.open(Pins()) as sandbox:
        before = apsw.memory_used()
        apsw.memory_high_water(True)
        with suppress(DBAPIError):
            call(sandbox, sql)
        return apsw.memory_high_water(True) - before


@pytest.mark.parametrize("name", HUNGRY)
@pytest.mark.slow
def test_it_stays_small(template: SqliteTemplate, name: str) -> None:
    assert peak(template, HUNGRY[name]) < MOST


def test_what_does_not_fit_goes_to_temporary_files(
    template: SqliteTemplate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kept in memory, as SQLite can be told to, it is more."""

    def in_memory(pages: Pages, growth: int) -> apsw.Connection:
        raw = connect(pages, growth)
        raw.execute("PRAGMA temp_store = MEMORY")
        return raw

    monkeypatch.setattr(sqlite, "connect", in_memory)
    assert peak(template, DISTINCT) > MOST


def test_a_list_that_grows_is_broken_off(
    template: SqliteTemplate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No limit of SQLite's own holds it: without the guard, it is more. The sandbox lives on."""
    monkeypatch.setattr(sqlite, "HEAP_BYTES", 8 * 2**20 - len(template.image))
    with template.open(Pins()) as sandbox:
        with pytest.raises(DBAPIError) as caught:
            call(sandbox, LIST)
        assert classify(caught.value) is ErrorCategory.LIMIT_EXCEEDED
        assert ask(sandbox, "SELECT count(*) FROM t") == [(10_000,)]
    assert peak(template, LIST) < MOST
    monkeypatch.setattr(sqlite, "HEAP_BYTES", 2**40)
    assert peak(template, LIST) > MOST


def test_a_write_that_is_broken_off_leaves_nothing(
    template: SqliteTemplate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "HEAP_BYTES", 2**20 - len(template.image))
    with template.open(Pins()) as sandbox:
        with pytest.raises(DBAPIError, match="out of memory"):
            call(sandbox, "UPDATE t SET b = b || 'x'")
        assert not sandbox.diff()
        call(sandbox, "UPDATE t SET b = 'x' WHERE a = 1")
        assert len(sandbox.diff().changes) == 1


def test_values_are_short(template: SqliteTemplate, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the limit of a value's length, one value is more."""
    install = SqliteGuard.install
    monkeypatch.setattr(
        SqliteGuard, "install", lambda self, raw, value_bytes: install(self, raw, 2**30)
    )
    assert peak(template, ONE_VALUE) > MOST
