"""The statements that may reach PostgreSQL from a tool call, by their first word.

The extended protocol takes one statement at a time, so its first word decides its kind. A word that
is not listed is not sent. Rights do the rest: the sandbox's role may read and write rows, and
nothing else.
"""

from __future__ import annotations

import re

import psycopg
from psycopg import errors

from envs.scripts.lexis import end_of_nested

_ROWS = frozenset({
    "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "VALUES", "TABLE", "EXPLAIN", "SHOW",
    "CALL",
})  # fmt: skip

_REASONS = {
    word: reason
    for reason, words in {
        "a tool call is one transaction; its statements may not begin, split or end one": (
            "RELEASE SAVEPOINT ABORT END ROLLBACK BEGIN COMMIT START PREPARE"
        ),
        "changes of the schema are not allowed": (
            "CREATE ALTER DROP TRUNCATE COMMENT REFRESH REINDEX CLUSTER IMPORT SECURITY"
        ),
        "settings of the session are fixed": "SET RESET DISCARD",
        "rights are fixed": "GRANT REVOKE REASSIGN",
        "this statement is not allowed": (
            "ANALYZE ANALYSE CHECKPOINT CLOSE COPY DEALLOCATE DECLARE DO EXECUTE FETCH "
            "LISTEN LOAD LOCK MOVE NOTIFY UNLISTEN VACUUM"
        ),
    }.items()
    for word in words.split()
}
"""Every other command of PostgreSQL 15 to 18, with the reason why it is refused."""

_BLANK = re.compile(r"(?:[ \t\n\r\f\v]|--[^\n\r]*)+")
MAX_RUN = 1_000
"""Operator characters in a row, also in comments. PostgreSQL reads the rest of such a run
again at each token, deaf to its timeout: 240,000 empty comments took it five minutes.
"""
_OPERATORS = re.compile(rf"[-+*/<>=~!@#%^&|`?]{{{MAX_RUN + 1}}}")
_XMLTABLE = re.compile(r"\bXMLTABLE\b", re.IGNORECASE)
"""A clause and no function, so that nothing can bound the time of its path, which heeds no timeout.
"""
_WORD = re.compile(r"[A-Za-z_\u0080-\U0010ffff][\w$\u0080-\U0010ffff]*")


def refusal(sql: str) -> psycopg.Error | None:
    """The error of a statement that is refused without being sent, or None."""
    if _OPERATORS.search(sql) is not None:
        return errors.StatementTooComplex(
            f"a run of operators or comments is longer than {MAX_RUN} characters"
        )
    if _XMLTABLE.search(sql) is not None:
        return errors.InsufficientPrivilege("permission denied for XMLTABLE: use xpath()")
    start = _start(sql)
    found = _WORD.match(sql, start)
    if found is None:
        near = sql[start : start + 20].split()[:1]
        return errors.SyntaxError(
            f'syntax error at or near "{near[0]}"' if near else "the statement is empty"
        )
    word = found.group().upper()
    if word in _ROWS:
        return None
    if word in _REASONS:
        return errors.InsufficientPrivilege(f"permission denied for {word}: {_REASONS[word]}")
    return errors.SyntaxError(f'syntax error at or near "{found.group()[:40]}"')


def _start(sql: str) -> int:
    """The index of the first word, behind blanks, comments (they nest) and opening parentheses."""
    position = 0
    while position < len(sql):
        blank = _BLANK.match(sql, position)
        if blank is not None:
            position = blank.end()
        elif sql.startswith("/*", position):
            position = end_of_nested(sql, position + 2)
        elif sql[position] in "(;":
            position += 1
        else:
            break
    return position
