"""The pinned time of an attached database: a statement's words for the present are replaced.

MariaDB has a variable of the session for it. Elsewhere ``CURRENT_DATE``, ``now()`` and their like
become literals, outside of quotes and comments. The server's time stays in its own functions, views
and texts that become dates as they are compared.
"""

from __future__ import annotations

import datetime as dt
import re

_SKIPPED = (
    r"""(?P<skipped>\b[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`"""
    r"""|--[^\n\r]*|/\*.*?\*/|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)"""
)
_SERVER = re.compile(
    r"'(?P<text>now|today|yesterday|tomorrow)'(?=\s*::\s*(?:date|timestamp))"
    r"|(?<![\w.])(?P<type>date|timestamp|timestamptz)\s+'(?P<named>now|today|yesterday|tomorrow)'"
    rf"|{_SKIPPED}"
    r"|(?<![\w.])(?:pg_catalog\.)?(?P<call>now|transaction_timestamp|statement_timestamp"
    r"|clock_timestamp|get_current_timestamp|today)\s*\(\s*\)"
    r"|(?<![\w.])(?P<word>current_timestamp|localtimestamp|current_date|current_time|localtime)\b"
    r"(?:\s*\(\s*\d?\s*\))?"
    r"|(?<![\w.])(?P<age>age)\s*\(",
    re.DOTALL | re.IGNORECASE,
)
_SQLITE = re.compile(
    r"(?<![\w.])(?P<function>(?:date|time|datetime|julianday|unixepoch)\s*\(\s*"
    r"|strftime\s*\(\s*'[^']*'\s*,\s*)'now'"
    r"|(?<![\w.])(?P<bare>date|time|datetime|julianday|unixepoch)\s*\(\s*\)"
    rf"|{_SKIPPED}"
    r"|(?<![\w.])(?P<word>current_timestamp|current_date|current_time)\b",
    re.DOTALL | re.IGNORECASE,
)
_TYPES = {
    "current_timestamp": "timestamptz",
    "localtimestamp": "timestamp",
    "current_date": "date",
    "current_time": "timetz",
    "localtime": "time",
    "today": "date",
}
_DAYS = {"yesterday": -1, "tomorrow": 1}


def pinned(sql: str, moment: dt.datetime, dialect: str) -> str:
    """The statement at a moment, in UTC.

    >>> pinned("SELECT CURRENT_DATE", dt.datetime(2026, 3, 2, 9), "postgresql")
    "SELECT '2026-03-02'::date"
    """
    if dialect in {"postgresql", "duckdb"}:
        pattern, replace = _SERVER, _on_server
    elif dialect == "sqlite":
        pattern, replace = _SQLITE, _on_sqlite
    else:
        return sql
    written = moment.replace(tzinfo=None, microsecond=0)
    return pattern.sub(lambda found: replace(found, written), sql)


def _on_server(found: re.Match[str], moment: dt.datetime) -> str:
    if found["skipped"] is not None:
        return found[0]
    if word := found["text"] or found["named"]:
        day = moment.date() + dt.timedelta(_DAYS.get(word.lower(), 0))
        text = f"'{moment}+00'" if word.lower() == "now" else f"'{day}'"
        return f"{found['type']} {text}" if found["type"] else text
    if found["age"]:
        return f"{found[0]}'{moment.date()}', " if _has_one_argument(found) else found[0]
    kind = _TYPES.get((found["word"] or found["call"]).lower(), "timestamptz")
    text = {"date": str(moment.date()), "timestamp": str(moment)}.get(kind)
    text = text or (f"{moment}+00" if kind == "timestamptz" else f"{moment.time()}")
    return f"'{text}{'+00' if kind == 'timetz' else ''}'::{kind}"


def _has_one_argument(found: re.Match[str]) -> bool:
    depth, text = 1, found.string
    for part in re.finditer(r"'(?:[^']|'')*'|\"[^\"]*\"|[(),]", text[found.end() :]):
        depth += {"(": 1, ")": -1}.get(part[0], 0)
        if depth == 0:
            return text[found.end() : found.end() + part.start()].strip() != ""
        if depth == 1 and part[0] == ",":
            return False
    return False


def _on_sqlite(found: re.Match[str], moment: dt.datetime) -> str:
    if found["skipped"] is not None:
        return found[0]
    if found["function"]:
        return f"{found['function']}'{moment}'"
    if found["bare"]:
        return f"{found['bare']}('{moment}')"
    word = found["word"].lower()
    texts = {"current_date": moment.date(), "current_time": moment.time()}
    return f"'{texts.get(word, moment)}'"
