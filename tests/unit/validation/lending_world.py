"""A small library that uses all of the notation, for tests that make one mistake in it."""

from __future__ import annotations

from pathlib import Path

FILES = {
    "schema.sql": """\
CREATE TABLE members (member_id INTEGER PRIMARY KEY, name TEXT NOT NULL, born TEXT NOT NULL, barred INTEGER NOT NULL);
CREATE TABLE books (book_id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE, price REAL NOT NULL, colour TEXT NOT NULL);
CREATE TABLE loans (
  loan_id INTEGER PRIMARY KEY,
  book_id INTEGER NOT NULL REFERENCES books (book_id),
  member_id INTEGER NOT NULL REFERENCES members (member_id),
  due TEXT NOT NULL, note TEXT
);
""",
    "seed.sql": """\
INSERT INTO members VALUES (21, 'Ada Kern', '1980-05-03', 0), (22, 'Ada Kern', '1991-11-21', 1),
  (23, 'Ben O''Hara', '1975-02-14', 0), (24, 'Ben O''Hara', '1988-08-08', 1);
INSERT INTO books VALUES (31, 'Emma', 9.5, 'red'), (32, 'Faust', 12, 'red'), (33, 'Momo', 7.25, 'blue'),
  (34, 'Solaris', 8, 'red'), (35, 'Ubik', 6, 'blue'), (36, 'Walden', 15, 'blue');
INSERT INTO loans VALUES (41, 31, 21, '2026-03-09', NULL), (42, 32, 21, '2026-03-11', NULL),
  (43, 33, 23, '2026-03-20', NULL);
""",
    "policy.md": """\
You lend books. Barred members borrow nothing. Restate a loan before you make it.
""",
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
    "tools.yaml": """\
- name: renew
  description: Renew a loan.
  parameters:
    type: object
    properties:
      loan_id: {type: integer, description: The loan's number.}
      due: {type: string, description: "The new due date, YYYY-MM-DD."}
    required: [loan_id, due]
    additionalProperties: false
  executor: executors.renew
""",
    "tasks.yaml": """\
now: "2026-03-02T09:00:00"
compare: {loans.note: free_text}
transient: forbid
families:
- id: price
  about: What a book costs.
  ground: {key: book_id, sql: "SELECT book_id, title FROM books"}
  user: {says: ["What does {title} cost?", "The price of {title}?"]}
  answer:
    price: {type: number, compare: {abs: 0.01}, description: The price.}
  oracle: {price: "SELECT price FROM books WHERE book_id = :book_id"}
  gold:
  - find_book: {title: "{title}"}
    save: {price: $.price}
  - submit: {price: $price}
  - say: "It costs {price}."
  gates: [state, {answer: {price: $oracle.price}}]
- id: lend_book
  ground:
    key: pair
    sql: >-
      SELECT member_id || '-' || book_id AS pair, member_id, name, born, barred, book_id, title
      FROM members, books WHERE book_id > 33
  cases: {allow: NOT barred, refuse: barred}
  user:
    says: ["{name} would like to borrow {title}."]
    signed_in: "The desk is open."
    persona: a hurried reader
    knows:
      born: {says: ["Born {born}."], asked: ["When were you born?"], words: [born, birth]}
      mood: "Fine."
    agrees_if: {mentions: ["{title}", "{born}"], says: ["Yes."]}
  answer:
    outcome: {enum: [lent, refused], description: What came of it.}
  gold:
  - find_member: {name: "{name}"}
  - ask: born
  - find_member: {name: "{name}", born: "{born}"}
    save: {member: "$.members[0].member_id"}
  - find_book: {title: "{title}"}
    save: {book: $.book_id}
  - allow:
    - confirm: "Shall I lend {title} to {name}, born {born}?"
    - lend: {member_id: $member, book_id: $book, note: null}
    - submit: {outcome: lent}
    - say: "{title} is lent to {name}."
  - refuse:
      [{submit: {outcome: refused}}, {say: "{name} is barred, so I lent nothing."}]
  gates: [state, answer, {no_write_before: [ask, confirm]}, {required_calls: [find_book]}, {forbidden_calls: [renew]}]
- id: renew_all
  ground:
    key: member_id
    sql: SELECT DISTINCT member_id, name, born FROM members JOIN loans USING (member_id)
  vary:
    until: {date: ["2026-04-01", "2026-04-30"]}
  user: {says: "Renew all of {name}, born {born}, until {until}."}
  answer:
    renewed: {type: array, items: integer, compare: set, description: The loans.}
  oracle: {renewed: "SELECT loan_id FROM loans WHERE member_id = :member_id"}
  gold:
  - find_member: {name: "{name}", born: "{born}"}
    save: {member: "$.members[0].member_id"}
  - list_loans: {member_id: $member}
    save: {loans: "$.loans[*]", ids: "$.loans[*].loan_id"}
  - for_each: {loan: $loans, do: [{renew: {loan_id: $loan.loan_id, due: "{until}"}}]}
  - submit: {renewed: $ids}
  - say: Renewed.
- id: any_red
  ground: {key: member_id, sql: "SELECT member_id, name, born FROM members WHERE NOT barred"}
  vary: {colour: {sql: SELECT DISTINCT colour FROM books}}
  user: {says: "{name}, born {born}, takes any {colour} book."}
  gold:
  - find_member: {name: "{name}", born: "{born}"}
    save: {member: "$.members[0].member_id"}
  - list_books: {colour: "{colour}"}
    save: {book: "$.books[0].book_id"}
  - lend: {member_id: $member, book_id: $book}
  - say: Lent.
  alternatives:
    any_of:
    - bind: {new: SELECT MAX(loan_id) FROM loans WHERE member_id = :member_id}
      must: SELECT colour = :colour AND loan_id > 43 FROM loans JOIN books USING (book_id) WHERE loan_id = :new
      may_change:
        loans: {where: "loan_id = :new", columns: [loan_id, book_id, member_id, due, note], ops: [insert], at_most: 1}
""",
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
