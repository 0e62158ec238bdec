"""Which statements may reach MariaDB from a tool call, by their first word.

The connection takes one statement at a time, so the first word of it decides its kind. What is not listed is not sent;
rights do the rest. A conditional comment (``/*! ... */``) is code to the server and not to its reader, so none may stand
before the first word.
"""

from __future__ import annotations

import re

from pymysql import err

_READS = frozenset({"SELECT", "WITH", "VALUES", "TABLE", "EXPLAIN", "DESCRIBE", "DESC", "SHOW"})
_WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "REPLACE", "CALL"})

_TRANSACTIONS = ("BEGIN", "START", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "XA", "PREPARE", "LOCK", "UNLOCK")
_REASONS = {
    **dict.fromkeys(_TRANSACTIONS, "a tool call is one transaction; its statements may not begin, split or end one"),
    **dict.fromkeys(("CREATE", "ALTER", "DROP", "TRUNCATE", "RENAME"), "changes of the schema are not allowed"),
    **dict.fromkeys(("SET", "RESET", "USE"), "settings of the session are fixed"),
    **dict.fromkeys(("GRANT", "REVOKE"), "rights are fixed"),
    **dict.fromkeys(
        ("ANALYZE", "BACKUP", "BINLOG", "CACHE", "CHANGE", "CHECK", "CHECKSUM", "DEALLOCATE", "DO", "EXECUTE", "FLUSH",
         "GET", "HANDLER", "HELP", "INSTALL", "KILL", "LOAD", "OPTIMIZE", "PURGE", "REPAIR", "RESIGNAL", "SHUTDOWN",
         "SIGNAL", "STOP", "UNINSTALL"), "this statement is not allowed",
    ),
}  # fmt: skip
"""Every other command of MariaDB, with the reason why it is refused."""

_HIDDEN = frozenset({"GRANTS", "PROCESSLIST", "ENGINE", "MASTER", "SLAVE", "REPLICA", "BINLOG", "BINARY"})
"""What SHOW would tell of the account, of other sandboxes and of the server."""

DENIED, SYNTAX = 1142, 1064
"""The server's own numbers for a command that is denied, and for one that cannot be parsed."""

_BLANK = re.compile(r"(?:\s|--(?=\s|\Z)[^\n]*|#[^\n]*|/\*(?!M?!).*?(?:\*/|\Z))+", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*")

_TARGET = re.compile(
    r"(?:INSERT|REPLACE)(?:\s+(?:LOW_PRIORITY|DELAYED|HIGH_PRIORITY|IGNORE))*(?:\s+INTO)?\s+"
    r"(?:`(?:[^`]|``)+`\s*\.\s*|[\w$]+\s*\.\s*)?(?:`((?:[^`]|``)+)`|([\w$\u0080-\uffff]+))",
    re.IGNORECASE,
)


def refusal(sql: str, *, read_only: bool = False) -> err.Error | None:
    """The error with which a statement is refused unseen, or None for one that may be sent."""
    at = _start(sql)
    if sql.startswith(("/*!", "/*M!"), at):
        return err.OperationalError(DENIED, "a statement may not begin with a conditional comment")
    found = _WORD.match(sql, at)
    if found is None:
        near = sql[at : at + 20].split()[:1]
        return err.ProgrammingError(SYNTAX, f"You have an error in your SQL syntax near '{near[0] if near else ''}'")
    word = found.group().upper()
    if word in _WRITES and read_only:
        return err.OperationalError(DENIED, f"{word} command denied: this tool may only read")
    if word == "SHOW" and _HIDDEN & set(_WORD.findall(sql.upper())):
        return err.OperationalError(DENIED, "SHOW command denied: it tells of the server, not of the data")
    if word in _READS or word in _WRITES:
        return None
    if word in _REASONS:
        return err.OperationalError(DENIED, f"{word} command denied: {_REASONS[word]}")
    return err.ProgrammingError(SYNTAX, f"You have an error in your SQL syntax near '{found.group()[:40]}'")


def insert_target(sql: str) -> str | None:
    """The table that an INSERT or REPLACE names; None for another statement, or where that is not plain."""
    found = _TARGET.match(sql, _start(sql))
    return None if found is None else (found[1] or found[2]).replace("``", "`")


def _start(sql: str) -> int:
    """Where the first word stands: behind blanks, comments and opening parentheses."""
    at = 0
    while at < len(sql):
        blank = _BLANK.match(sql, at)
        if blank is not None and blank.end() > at:
            at = blank.end()
        elif sql[at] in "(;":
            at += 1
        else:
            break
    return at
