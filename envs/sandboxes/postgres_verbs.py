"""Which statements may reach PostgreSQL from a tool call, by their first word.

PostgreSQL takes one statement at a time from us (the extended protocol), and the first word of a statement decides its
kind: there is no other place to look. What is not listed is not sent. Rights do the rest: the sandbox's role may read
and write rows, and nothing else.
"""

from __future__ import annotations

import re

import psycopg
from psycopg import errors

_ROWS = frozenset(
    {"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "VALUES", "TABLE", "EXPLAIN", "SHOW", "CALL"}
)

_TRANSACTIONS = frozenset({"BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "PREPARE"})

_REASONS = {
    **dict.fromkeys(_TRANSACTIONS, "a tool call is one transaction; its statements may not begin, split or end one"),
    **dict.fromkeys(
        ("CREATE", "ALTER", "DROP", "TRUNCATE", "COMMENT", "REFRESH", "REINDEX", "CLUSTER", "IMPORT", "SECURITY"),
        "changes of the schema are not allowed",
    ),
    **dict.fromkeys(("SET", "RESET", "DISCARD"), "settings of the session are fixed"),
    **dict.fromkeys(("GRANT", "REVOKE", "REASSIGN"), "rights are fixed"),
    **dict.fromkeys(
        ("ANALYZE", "ANALYSE", "CHECKPOINT", "CLOSE", "COPY", "DEALLOCATE", "DECLARE", "DO", "EXECUTE", "FETCH",
         "LISTEN", "LOAD", "LOCK", "MOVE", "NOTIFY", "UNLISTEN", "VACUUM"), "this statement is not allowed",
    ),
}  # fmt: skip
"""Every other command of PostgreSQL 15 to 18, with the reason why it is refused."""

_BLANK = re.compile(r"(?:[ \t\n\r\f\v]|--[^\n\r]*)+")
MAX_RUN = 1_000
"""Operator characters in a row, those of comments too. PostgreSQL reads the rest of such a run again at each token, deaf to
its timeout: 240,000 empty comments took it five minutes."""
_OPERATORS = re.compile(rf"[-+*/<>=~!@#%^&|`?]{{{MAX_RUN + 1}}}")
_COMMENT_MARK = re.compile(r"/\*|\*/")
_WORD = re.compile(r"[A-Za-z_\u0080-\U0010ffff][\w$\u0080-\U0010ffff]*")


def refusal(sql: str) -> psycopg.Error | None:
    """The error with which a statement is refused unseen, or None for one that may be sent."""
    if _OPERATORS.search(sql) is not None:
        return errors.StatementTooComplex(f"a run of operators or comments is longer than {MAX_RUN} characters")
    at = _start(sql)
    found = _WORD.match(sql, at)
    if found is None:
        near = sql[at : at + 20].split()[:1]
        return errors.SyntaxError(f'syntax error at or near "{near[0]}"' if near else "the statement is empty")
    word = found.group().upper()
    if word in _ROWS:
        return None
    if word in _REASONS:
        return errors.InsufficientPrivilege(f"permission denied for {word}: {_REASONS[word]}")
    return errors.SyntaxError(f'syntax error at or near "{found.group()[:40]}"')


def _start(sql: str) -> int:
    """Where the first word stands: behind blanks, comments (they nest) and opening parentheses."""
    at = 0
    while at < len(sql):
        blank = _BLANK.match(sql, at)
        if blank is not None:
            at = blank.end()
        elif sql.startswith("/*", at):
            at = _comment_end(sql, at)
        elif sql[at] in "(;":
            at += 1
        else:
            break
    return at


def _comment_end(sql: str, at: int) -> int:
    depth = 0
    for mark in _COMMENT_MARK.finditer(sql, at):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(sql)
