"""What SQLite sandboxes cost, as a ratio to the bare statements of the same rollout.

    pytest -m long tests/bench/test_sqlite_rollouts.py -s

A rollout opens a sandbox, makes ten tool calls of three statements, reads the diff, and closes. The
bare statements run on one open database in memory, without guards or records of changes. Both take
turns in short slices; CPU time is compared. Goals: 70 percent at 20 KB and 1 MB, 60 at 100 MB.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.types import Limits, Pins

pytestmark = pytest.mark.long

SCHEMA = """
CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER NOT NULL REFERENCES author (id), title TEXT, price REAL);
CREATE INDEX book_author ON book (author_id);
"""
CALLS = 10
LIMITS = Limits()
READ = sa.text(
    "SELECT b.id, b.title, a.name FROM book b JOIN author a ON a.id = b.author_id WHERE a.id = :i"
    " ORDER BY b.id"
)
INSERT = sa.text("INSERT INTO book (author_id, title, price) VALUES (:i, :t, :p)")
BOOK = sa.table("book", sa.column("id", sa.Integer), sa.column("price", sa.Float))


def loader(authors: int, padding: int) -> Callable[[Any], object]:
    """Four books to an author, with titles of that length."""

    def load(db: Any) -> None:
        db.executescript(SCHEMA)
        db.execute("BEGIN")
        db.executemany(
            "INSERT INTO author VALUES (?, ?)", [(at, f"n{at}") for at in range(authors)]
        )
        books = [(at, at // 4, "t" * padding, 1.0) for at in range(authors * 4)]
        db.executemany("INSERT INTO book VALUES (?, ?, ?, ?)", books)
        db.execute("COMMIT")

    return load


def work(db: sa.Connection, author: int, price: float) -> None:
    """What one tool call does. Nobody reads author 0, whose books grow in number."""
    _ = [dict(row) for row in db.execute(READ, {"i": author}).mappings()]
    db.execute(sa.update(BOOK).where(BOOK.c.id == author * 4).values(price=price))
    db.execute(INSERT, {"i": 0, "t": "new", "p": price})


def turn(number: int, at: int, authors: int) -> int:
    """The author whom a rollout's call is about: another one each time, where 13 does not divide
    their number less one.
    """
    return (number * 7 + at * 13) % (authors - 1) + 1


def rollout(template: SqliteTemplate, authors: int) -> Callable[[int], None]:
    def once(number: int) -> None:
        with template.open(Pins()) as sandbox:
            for at in range(CALLS):
                with sandbox.transaction(LIMITS) as transaction:
                    work(transaction.connection, turn(number, at, authors), at + 0.5)
            assert len(sandbox.diff().changes) == CALLS * 2

    return once


@pytest.mark.parametrize("authors", [40, 41, 1_800])
def test_the_diff_holds_what_the_work_did(authors: int):
    """Every row that was updated or inserted once, with the last price, also where two calls are
    about one author.
    """
    with SqliteTemplate.build(loader(authors, 40)) as template, template.open(Pins()) as sandbox:
        for at in range(CALLS):
            with sandbox.transaction(LIMITS) as transaction:
                work(transaction.connection, turn(3, at, authors), at + 0.5)
        updated = {turn(3, at, authors) * 4: at + 0.5 for at in range(CALLS)}
        inserted = {authors * 4 + at: at + 0.5 for at in range(CALLS)}
        found = {
            (change.op, change.key["id"]): (change.after or {})["price"]
            for change in sandbox.diff().changes
        }
    assert found == {
        **{("update", key): price for key, price in updated.items()},
        **{("insert", key): price for key, price in inserted.items()},
    }
    assert (len(updated) == CALLS) == (authors != 40)


def bare(engine: sa.Engine, authors: int) -> Callable[[int], None]:
    def once(number: int) -> None:
        with engine.connect() as db:
            for at in range(CALLS):
                work(db, turn(number, at, authors), at + 0.5)
                db.commit()

    return once


def ratio(
    one: Callable[[int], None], other: Callable[[int], None], rounds: int = 60, slice_: int = 10
) -> float:
    """CPU seconds of one to those of the other: the median over rounds in which they take turns."""

    def cost(once: Callable[[int], None], start: int) -> float:
        began = time.process_time()
        for number in range(start, start + slice_):
            once(number)
        return time.process_time() - began

    gc.collect()
    found = [cost(one, at * slice_) / cost(other, at * slice_) for at in range(rounds)]
    return sorted(found)[rounds // 2]


@pytest.mark.parametrize(
    ("size", "authors", "padding", "least"),
    [("20 KB", 41, 40, 0.62), ("1 MB", 1_800, 90, 0.62), ("100 MB", 50_000, 450, 0.57)],
)
def test_rollouts(size: str, authors: int, padding: int, least: float):
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    template = SqliteTemplate.build(loader(authors, padding))
    with engine.connect() as db:
        loader(authors, padding)(db.connection.dbapi_connection)
    share = ratio(bare(engine, authors), rollout(template, authors))
    print(f"\n{size}: {share:.0%} of the rate of the bare statements")
    assert share > least
