from sqlalchemy import Connection, text

from envs import ToolError, ToolResult, tool


def one(db: Connection, sql: str, **binds: object) -> dict:
    row = db.execute(text(sql), binds).mappings().first()
    if row is None:
        raise ToolError("There is no such entry.", category="not_found")
    return dict(row)


@tool(read_only=True)
def find_member(db: Connection, name: str) -> dict:
    """Find a member.

    Args:
        name: The whole name.
    """
    return one(db, "SELECT member_id, name FROM members WHERE name = :name", name=name)


@tool(read_only=True)
def find_book(db: Connection, title: str) -> dict:
    """Find a book.

    Args:
        title: The whole title.
    """
    return one(db, "SELECT book_id, title FROM books WHERE title = :title", title=title)


@tool(read_only=True)
def list_loans(db: Connection, member_id: int) -> dict:
    """List what a member has on loan.

    Args:
        member_id: The member's number.
    """
    found = db.execute(
        text("SELECT loan_id, due FROM loans WHERE member_id = :m ORDER BY loan_id"),
        {"m": member_id},
    )
    return {"loans": [dict(row) for row in found.mappings()]}


@tool
def lend(db: Connection, member_id: int, book_id: int) -> dict:
    """Lend a book for four weeks.

    Args:
        member_id: The member's number.
        book_id: The book's number.
    """
    if db.execute(text("SELECT 1 FROM loans WHERE book_id = :b"), {"b": book_id}).first():
        raise ToolError("This book is on loan.", category="conflict")
    sql = (
        "INSERT INTO loans (book_id, member_id, due)"
        " VALUES (:b, :m, date('now', '+28 days')) RETURNING loan_id, due"
    )
    return one(db, sql, b=book_id, m=member_id)


def renew(arguments: dict, db: Connection) -> ToolResult:  # named in tools.yaml
    sql = "UPDATE loans SET due = :due WHERE loan_id = :loan_id RETURNING loan_id, due"
    return ToolResult(one(db, sql, **arguments))
