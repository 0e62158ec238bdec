"""Texts that no server takes as a statement, and names as servers quote them."""

from __future__ import annotations


def unsendable(sql: str) -> str | None:
    """The reason why a text cannot be sent as it is, or None.

    A null character would end the statement early, without an error.
    """
    if "\0" in sql:
        return "a statement cannot hold a null character"
    if not sql.isascii():
        try:
            sql.encode()
        except UnicodeEncodeError:
            return "a statement must not hold a lone surrogate"
    return None
