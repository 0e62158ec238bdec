"""A small library that uses all of the notation, for tests that make one mistake in it."""

from __future__ import annotations

from pathlib import Path

FILES = {
    file.name: file.read_text("utf-8") for file in Path(__file__).with_name("lending").iterdir()
} | {
    "executors.py": '''\
from envs import ToolError, ToolResult, tool
from sqlalchemy import Connection, text


def many(db: Connection, sql: str, **binds: object) -> list[dict]:
    return [dict(row) for row in db.execute(text(sql), binds).mappings()]


@tool(read_only=True)
def find_member(db: Connection, name: str, born: str | None = None) -> dict:
    """Find members.

    Args:
        name: The whole name.
        born: The day of birth.
    """
    sql = "SELECT member_id, name, barred FROM members WHERE name = :n AND (:b IS NULL OR born = :b) ORDER BY member_id"
    return {"members": many(db, sql, n=name, b=born)}


@tool(read_only=True)
def find_book(db: Connection, title: str) -> dict:
    """Find a book.

    Args:
        title: The whole title.
    """
    found = many(db, "SELECT * FROM books WHERE title = :t", t=title)
    if not found:
        raise ToolError("There is no such book.", category="not_found")
    return found[0]


@tool(read_only=True)
def list_books(db: Connection, colour: str) -> dict:
    """List the books of a colour.

    Args:
        colour: The colour.
    """
    return {"books": many(db, "SELECT * FROM books WHERE colour = :c ORDER BY book_id", c=colour)}


@tool(read_only=True)
def list_loans(db: Connection, member_id: int) -> dict:
    """List what a member has on loan.

    Args:
        member_id: The member's number.
    """
    return {"loans": many(db, "SELECT loan_id, due FROM loans WHERE member_id = :m ORDER BY loan_id", m=member_id)}


@tool
def lend(db: Connection, member_id: int, book_id: int, note: str | None = None) -> dict:
    """Lend a book for four weeks.

    Args:
        member_id: The member's number.
        book_id: The book's number.
        note: What else there is to say.
    """
    sql = "INSERT INTO loans (book_id, member_id, due, note) VALUES (:b, :m, :d, :n) RETURNING loan_id"
    return many(db, sql, b=book_id, m=member_id, d="2026-03-30", n=note)[0]


def renew(arguments: dict, db: Connection) -> ToolResult:
    sql = "UPDATE loans SET due = :due WHERE loan_id = :loan_id RETURNING loan_id, due"
    done = many(db, sql, **arguments)
    if not done:
        raise ToolError("There is no such loan.", category="not_found")
    return ToolResult(done[0])
''',
    "tasks.py": '''\
from collections.abc import Iterator

from sqlalchemy import Connection, text


def lend_two(db: Connection) -> Iterator[dict]:
    """Two at once."""
    titles = list(db.execute(text("SELECT title FROM books ORDER BY title")).scalars())
    for first, second in zip(titles, titles[1:], strict=False):
        yield {
            "slots": {"first": first, "second": second},
            "key": f"{first}, {second}",
            "user": {"says": "Ada Kern, born 1980-05-03, takes {first} and {second}."},
            "gold": [
                {"find_member": {"name": "Ada Kern", "born": "1980-05-03"}, "save": {"m": "$.members[0].member_id"}},
                {"find_book": {"title": "{first}"}, "save": {"one": "$.book_id"}},
                {"find_book": {"title": "{second}"}, "save": {"two": "$.book_id"}},
                {"lend": {"member_id": "$m", "book_id": "$one"}},
                {"lend": {"member_id": "$m", "book_id": "$two"}},
                {"say": "Both are lent."},
            ],
        }
''',
    "seed.py": """\
PEOPLE = [("Ada Kern", "1980-05-03"), ("Ada Kern", "1991-11-21"), ("Ben Toth", "1975-02-14"), ("Ben Toth", "1988-08-08")]
TITLES = ["Emma", "Faust", "Momo", "Solaris", "Ubik", "Walden"]


def rows(universe, random):
    base = 1000 * universe
    for n, (name, born) in enumerate(PEOPLE):
        yield "members", {"member_id": base + n, "name": name, "born": born, "barred": n % 2}
    for n, title in enumerate(TITLES):
        price = random.randrange(500, 2000) / 100
        yield "books", {"book_id": 100 + n, "title": title, "price": price, "colour": ["red", "blue"][n % 2]}
    for n in range(3):
        yield "loans", {"loan_id": 41 + n, "book_id": 100 + n, "member_id": base + 2 * (n % 2), "due": "2026-03-09"}
""",
}


def make(folder: Path, file: str = "", old: str = "", new: str = "") -> Path:
    """Write the world, with one change in one file, to a text that stands in it; the first of
    several is meant.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        if name == file:
            assert old in text, f"{old!r} must stand in {name}"
            text = text.replace(old, new, 1)  # noqa: PLW2901
        (folder / name).write_text(text, "utf-8")
    return folder
