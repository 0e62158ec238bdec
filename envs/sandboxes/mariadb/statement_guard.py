"""The statements that may reach MariaDB from a tool call, by their first word.

The connection takes one statement at a time, so its first word decides its kind. A word that is not
listed is not sent; rights do the rest. A conditional comment (``/*! ... */``) is code to the server
and not to its reader, so none may stand before the first word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pymysql import err

_READS = frozenset({"SELECT", "WITH", "VALUES", "TABLE", "EXPLAIN", "DESCRIBE", "DESC", "SHOW"})
_WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "REPLACE", "CALL"})

_REASONS = {
    word: reason
    for reason, words in {
        "a tool call is one transaction; its statements may not begin, split or end one": (
            "BEGIN START COMMIT ROLLBACK SAVEPOINT RELEASE XA PREPARE LOCK UNLOCK"
        ),
        "changes of the schema are not allowed": "CREATE ALTER DROP TRUNCATE RENAME",
        "settings of the session are fixed": "SET RESET USE",
        "rights are fixed": "GRANT REVOKE",
        "this statement is not allowed": (
            "ANALYZE BACKUP BINLOG CACHE CHANGE CHECK CHECKSUM DEALLOCATE DO EXECUTE FLUSH "
            "GET HANDLER HELP INSTALL KILL LOAD OPTIMIZE PURGE REPAIR RESIGNAL SHUTDOWN "
            "SIGNAL STOP UNINSTALL"
        ),
    }.items()
    for word in words.split()
}
"""Every other command of MariaDB, with the reason why it is refused."""

_HIDDEN = frozenset(
    {"GRANTS", "PROCESSLIST", "ENGINE", "MASTER", "SLAVE", "REPLICA", "BINLOG", "BINARY"}
)
"""Words after SHOW that reveal the account, other sandboxes and the server."""

_PLAIN_COMMENT = re.compile(
    r"/\*(?!M?!).*?(?:\*/|\Z)|/\*M?!\d*|\*/|--(?=\s|\Z)[^\n]*|#[^\n]*", re.DOTALL
)
_SHOWN_USER = re.compile(r"SHOW\s+CREATE\s+USER\b", re.IGNORECASE)
_SERVER_WIDE = re.compile(
    r"\b(GET_LOCK|RELEASE_LOCK|RELEASE_ALL_LOCKS|IS_FREE_LOCK|IS_USED_LOCK"
    r"|MASTER_POS_WAIT|MASTER_GTID_WAIT)\b",
    re.IGNORECASE,
)
"""Functions whose effect is the server's and not the sandbox's: a named lock is seen by all, and
outlives a rollback. Their names are refused wherever they stand; MariaDB has no right to a built-in
function that one could revoke.
"""

DENIED, SYNTAX = 1142, 1064
"""The server's own numbers for a command that is denied, and for one that cannot be parsed."""

_BEFORE = re.compile(r"(?:[\s(;]|--(?=\s|\Z)[^\n]*|#[^\n]*|/\*(?!M?!).*?(?:\*/|\Z))*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*")

_TARGET = re.compile(
    r"(?:INSERT|REPLACE)(?:\s+(?:LOW_PRIORITY|DELAYED|HIGH_PRIORITY|IGNORE))*(?:\s+INTO)?\s+"
    r"(?:`(?:[^`]|``)+`\s*\.\s*|[\w$]+\s*\.\s*)?(?:`((?:[^`]|``)+)`|([\w$\u0080-\uffff]+))",
    re.IGNORECASE,
)


def refusal(sql: str, *, read_only: bool = False) -> err.Error | None:
    """The error of a statement that is refused without being sent, or None."""
    start = _start(sql)
    if sql.startswith(("/*!", "/*M!"), start):
        return err.OperationalError(DENIED, "a statement may not begin with a conditional comment")
    found = _WORD.match(sql, start)
    if found is None:
        near = sql[start : start + 20].split()[:1]
        return err.ProgrammingError(
            SYNTAX, f"You have an error in your SQL syntax near '{near[0] if near else ''}'"
        )
    word = found.group().upper()
    if word in _WRITES and read_only:
        return err.OperationalError(DENIED, f"{word} command denied: this tool may only read")
    if word == "SHOW" and (
        _HIDDEN & set(_WORD.findall(sql.upper()))
        or _SHOWN_USER.match(_PLAIN_COMMENT.sub(" ", sql[start:]))
    ):
        return err.OperationalError(
            DENIED, "SHOW command denied: it reveals the server, not the data"
        )
    if (named := _SERVER_WIDE.search(sql)) is not None:
        return err.OperationalError(
            DENIED,
            f"the function {named.group().upper()} is denied: it reaches beyond the database",
        )
    if word in _READS or word in _WRITES:
        return None
    if word in _REASONS:
        return err.OperationalError(DENIED, f"{word} command denied: {_REASONS[word]}")
    return err.ProgrammingError(
        SYNTAX, f"You have an error in your SQL syntax near '{found.group()[:40]}'"
    )


@dataclass(frozen=True)
class Insertion:
    """The head of an INSERT or REPLACE: table, list of columns (None: it has none), the rest."""

    table: str
    columns: tuple[str, ...] | None
    rest: str

    def generates(self, column: str, position: int) -> bool:
        """True where the statement plainly leaves the ``position``-th column to the server."""
        if self.columns is not None:
            names = [name.casefold() for name in self.columns]
            if column.casefold() not in names:
                return True
            position = names.index(column.casefold())
        elif _SET.match(self.rest):
            return (
                re.search(rf"(?<![\w$]){re.escape(column)}`?\s*=", self.rest, re.IGNORECASE) is None
            )
        return position == 0 and _NO_VALUE.match(self.rest) is not None


_LIST = re.compile(r"\s*\(\s*((?:`[^`]+`|[\w$]+)(?:\s*,\s*(?:`[^`]+`|[\w$]+))*|)\s*\)")
_SET = re.compile(r"\s*SET\b", re.IGNORECASE)
_NO_VALUE = re.compile(r"\s*VALUES?\s*\(\s*(?:(?:NULL|DEFAULT|0)\s*[,)]|\))", re.IGNORECASE)


def read_insertion(sql: str) -> Insertion | None:
    """Parse the head of an INSERT or REPLACE; None if it is another, or its table not plain."""
    sql = _plain(sql)
    found = _TARGET.match(sql, _start(sql))
    if found is None:
        return None
    table = (found[1] or found[2]).replace("``", "`")
    listed = _LIST.match(sql, found.end())
    if listed is None:
        return Insertion(table, None, sql[found.end() :])
    columns = tuple(name.strip(" `\t\r\n") for name in listed[1].split(",")) if listed[1] else ()
    return Insertion(table, columns, sql[listed.end() :])


_MARKS = re.compile(
    r"""(?P<kept>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`)"""
    r"|/\*(?!M?!).*?(?:\*/|\Z)|/\*M?!\d*|\*/|--(?=\s|\Z)[^\n]*|#[^\n]*",
    re.DOTALL,
)


def _plain(sql: str) -> str:
    """The statement without comments; what a conditional one holds is code."""
    if "/*" not in sql and "--" not in sql and "#" not in sql:
        return sql
    return _MARKS.sub(lambda found: found["kept"] or " ", sql)


def _start(sql: str) -> int:
    """The index of the first word, behind blanks, comments and opening parentheses."""
    found = _BEFORE.match(sql)
    return 0 if found is None else found.end()
