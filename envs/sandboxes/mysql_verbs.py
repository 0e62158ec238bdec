"""Which statements may reach MariaDB from a tool call, by their first word.

The connection takes one statement at a time, so the first word of it decides its kind. What is not listed is not sent;
rights do the rest. A conditional comment (``/*! ... */``) is code to the server and not to its reader, so none may stand
before the first word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

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

_PLAIN_COMMENT = re.compile(r"/\*(?!M?!).*?(?:\*/|\Z)|/\*M?!\d*|\*/|--(?=\s|\Z)[^\n]*|#[^\n]*", re.DOTALL)
_SHOWN_USER = re.compile(r"SHOW\s+CREATE\s+USER\b", re.IGNORECASE)
_SERVER_WIDE = re.compile(
    r"\b(GET_LOCK|RELEASE_LOCK|RELEASE_ALL_LOCKS|IS_FREE_LOCK|IS_USED_LOCK|MASTER_POS_WAIT|MASTER_GTID_WAIT)\b",
    re.IGNORECASE,
)
"""Functions whose effect is the server's and not the sandbox's: a named lock is seen by all, and outlives a rollback.
Their names are refused wherever they stand; MariaDB has no right to a built-in function that one could revoke."""

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
    if word == "SHOW" and _SHOWN_USER.match(_PLAIN_COMMENT.sub(" ", sql[at:])):
        return err.OperationalError(DENIED, "SHOW command denied: it tells of the server, not of the data")
    if (named := _SERVER_WIDE.search(sql)) is not None:
        return err.OperationalError(
            DENIED, f"the function {named.group().upper()} is denied: it reaches beyond the database"
        )
    if word in _READS or word in _WRITES:
        return None
    if word in _REASONS:
        return err.OperationalError(DENIED, f"{word} command denied: {_REASONS[word]}")
    return err.ProgrammingError(SYNTAX, f"You have an error in your SQL syntax near '{found.group()[:40]}'")


@dataclass(frozen=True)
class Insertion:
    """What an INSERT or REPLACE says first: its table, the columns that it lists (None: it lists none), and the rest."""

    table: str
    columns: tuple[str, ...] | None
    rest: str

    def generates(self, column: str, place: int) -> bool:
        """Whether the words plainly leave the column, the table's ``place``-th, for the server to fill."""
        if self.columns is not None:
            names = [name.casefold() for name in self.columns]
            if column.casefold() not in names:
                return True
            place = names.index(column.casefold())
        elif _SET.match(self.rest):
            return re.search(rf"(?<![\w$]){re.escape(column)}`?\s*=", self.rest, re.IGNORECASE) is None
        return place == 0 and _NO_VALUE.match(self.rest) is not None


_LIST = re.compile(r"\s*\(\s*((?:`[^`]+`|[\w$]+)(?:\s*,\s*(?:`[^`]+`|[\w$]+))*|)\s*\)")
_SET = re.compile(r"\s*SET\b", re.IGNORECASE)
_NO_VALUE = re.compile(r"\s*VALUES?\s*\(\s*(?:(?:NULL|DEFAULT|0)\s*[,)]|\))", re.IGNORECASE)


def read_insertion(sql: str) -> Insertion | None:
    """What an INSERT or REPLACE says; None for another statement, or where its table is not plain."""
    found = _TARGET.match(sql, _start(sql))
    if found is None:
        return None
    table = (found[1] or found[2]).replace("``", "`")
    listed = _LIST.match(sql, found.end())
    if listed is None:
        return Insertion(table, None, sql[found.end() :])
    columns = tuple(each.strip(" `\t\r\n") for each in listed[1].split(",")) if listed[1] else ()
    return Insertion(table, columns, sql[listed.end() :])


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
