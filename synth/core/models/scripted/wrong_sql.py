"""Queries as written without the schema at hand: they fail, and their errors name the reason."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|[A-Za-z_]\w*|\S""")
_WORD = re.compile(r"[A-Za-z_]\w*")
_BEFORE_TABLES = frozenset({"from", "join"})


def misspelt(name: str) -> str:
    """Return a similar name: singular for plural, or words run together."""
    if "_" in name.strip("_"):
        rest = name.lstrip("_")
        return name[: len(name) - len(rest)] + rest.replace("_", "", 1)
    return name[:-1] if name.endswith("s") and len(name) > 3 else f"{name}s"


def wrong_queries(sql: str) -> Iterator[str]:
    """Return the query with an unknown table, with an unknown column, and with an extra comma, as
    far as it has these.
    """
    tokens = list(_TOKEN.finditer(sql))
    words = [token[0].lower() for token in tokens]
    table = next(
        (
            index + 1
            for index, word in enumerate(words[:-1])
            if word in _BEFORE_TABLES and _is_name(words[index + 1])
        ),
        None,
    )
    if table is not None:
        yield _exchanged(sql, tokens[table], misspelt(tokens[table][0]))
    if (
        column := next((index for index in range(len(words)) if _is_column(words, index)), None)
    ) is not None:
        yield _exchanged(sql, tokens[column], misspelt(tokens[column][0]))
    if words[:1] == ["select"] and "from" in words:
        start = tokens[words.index("from")].start()
        yield f"{sql[:start].rstrip()}, {sql[start:]}"


def _is_name(word: str) -> bool:
    return _WORD.fullmatch(word) is not None and word not in {"select", "lateral"}


def _is_column(words: list[str], index: int) -> bool:
    """Tell whether a word is a column's name: of two words, and neither a table, nor a function,
    nor defined in the query.
    """
    before, after = (
        words[index - 1] if index else "",
        words[index + 1] if index + 1 < len(words) else "",
    )
    named = _WORD.fullmatch(words[index]) is not None and "_" in words[index].strip("_")
    return named and before not in {*_BEFORE_TABLES, "as", "with", ")"} and after != "("


def _exchanged(sql: str, token: re.Match[str], other: str) -> str:
    return sql[: token.start()] + other + sql[token.end() :]
