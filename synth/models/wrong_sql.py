"""A query as somebody writes it who does not have the schema at hand: it fails, and its error says why."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|[A-Za-z_]\w*|\S""")
_WORD = re.compile(r"[A-Za-z_]\w*")
_BEFORE_TABLES = frozenset({"from", "join"})


def misspelt(name: str) -> str:
    """A name that looks like this one: one table for another's number, words run together."""
    if "_" in name.strip("_"):
        rest = name.lstrip("_")
        return name[: len(name) - len(rest)] + rest.replace("_", "", 1)
    return name[:-1] if name.endswith("s") and len(name) > 3 else f"{name}s"


def wrong_queries(sql: str) -> Iterator[str]:
    """The query with a table that is not there, with a column that is not, and with a comma too many, as far as it has these."""
    tokens = list(_TOKEN.finditer(sql))
    words = [each[0].lower() for each in tokens]
    table = next(
        (at + 1 for at, word in enumerate(words[:-1]) if word in _BEFORE_TABLES and _is_name(words[at + 1])), None
    )
    if table is not None:
        yield _exchanged(sql, tokens[table], misspelt(tokens[table][0]))
    if (column := next((at for at in range(len(words)) if _is_column(words, at)), None)) is not None:
        yield _exchanged(sql, tokens[column], misspelt(tokens[column][0]))
    if words[:1] == ["select"] and "from" in words:
        start = tokens[words.index("from")].start()
        yield f"{sql[:start].rstrip()}, {sql[start:]}"


def _is_name(word: str) -> bool:
    return _WORD.fullmatch(word) is not None and word not in {"select", "lateral"}


def _is_column(words: list[str], at: int) -> bool:
    """Whether it is a column's name: of two words, and neither a table's, nor a function's, nor one that is given here."""
    before, after = words[at - 1] if at else "", words[at + 1] if at + 1 < len(words) else ""
    named = _WORD.fullmatch(words[at]) is not None and "_" in words[at].strip("_")
    return named and before not in {*_BEFORE_TABLES, "as", "with", ")"} and after != "("


def _exchanged(sql: str, token: re.Match[str], other: str) -> str:
    return sql[: token.start()] + other + sql[token.end() :]
