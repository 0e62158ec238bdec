from collections.abc import Iterator
from itertools import pairwise

from sqlalchemy import Connection, text


def lend_unread(db: Connection) -> Iterator[dict]:
    """Lend a member two books at once."""
    free = text(
        "SELECT title FROM books LEFT JOIN loans USING (book_id)"
        " WHERE loan_id IS NULL ORDER BY title"
    )
    titles = list(db.execute(free).scalars())
    for first, second in pairwise(titles):
        yield {
            "slots": {"first": first, "second": second},
            "key": f"{first}, {second}",
            "user": {"says": "Ada Kern takes {first} and {second}."},
            "gold": [
                {"find_member": {"name": "Ada Kern"}, "save": {"member": "$.member_id"}},
                {"find_book": {"title": "{first}"}, "save": {"one": "$.book_id"}},
                {"find_book": {"title": "{second}"}, "save": {"two": "$.book_id"}},
                {"lend": {"member_id": "$member", "book_id": "$one"}},
                {"lend": {"member_id": "$member", "book_id": "$two"}},
                {"say": "Both are lent: {first} and {second}."},
            ],
        }
