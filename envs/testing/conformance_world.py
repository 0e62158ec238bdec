"""The database of the contract tests."""

from __future__ import annotations

from sqlalchemy import Connection, text

STATEMENTS: tuple[str, ...] = (
    "CREATE TABLE author (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL UNIQUE)",
    (
        "CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER NOT NULL, title VARCHAR(80)"
        " NOT NULL,"
        " price NUMERIC(10, 2) CHECK (price >= 0),"
        " FOREIGN KEY (author_id) REFERENCES author (id) ON DELETE CASCADE)"
    ),
    (
        "CREATE TABLE loan (book_id INTEGER NOT NULL, due VARCHAR(10) NOT NULL, note VARCHAR(80),"
        " PRIMARY KEY (book_id, due))"
    ),
    (
        "CREATE TABLE reminder (book_id INTEGER NOT NULL, due VARCHAR(10) NOT NULL, day"
        " VARCHAR(10) NOT NULL,"
        " PRIMARY KEY (book_id, due, day), FOREIGN KEY (book_id) REFERENCES book (id),"
        " FOREIGN KEY (book_id, due) REFERENCES loan (book_id, due))"
    ),
    "CREATE TABLE visit (line VARCHAR(80))",
    "INSERT INTO author (id, name) VALUES (1, 'Ann'), (2, 'Bo'), (10, 'O''Hara')",
    (
        "INSERT INTO book (id, author_id, title, price) VALUES (1, 1, 'Sea', 10),"
        " (2, 1, 'Sky', 12), (3, 2, '100%', NULL)"
    ),
    "INSERT INTO loan (book_id, due, note) VALUES (1, '2026-01-10', NULL)",
    "INSERT INTO visit (line) VALUES ('first'), ('first')",
)
"""The world of the contract tests, in SQL that every engine reads."""

SLOW = (
    "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 100000000000)"
    " SELECT count(*) AS c FROM n"
)


def run(db: Connection, sql: str, **values: object) -> None:
    """Execute a statement whose rows do not matter."""
    db.execute(text(sql), values)
