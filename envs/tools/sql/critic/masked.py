"""A statement for a log: its words and the schema's names, and nothing that could be a value."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from envs.tools.sql.critic.critic import DIALECTS

LONGEST = 20_000
"""Characters of a statement beyond which it is not read."""

_VALUES = frozenset(
    item for item in TokenType if item.name.endswith("STRING") or item is TokenType.NUMBER
)
_OF_DRIVER = re.compile(r"%\(\w+\)s|%s")


def masked(sql: str, dialect: str, names: Collection[str]) -> str | None:
    """The statement with ``?`` for each literal, and n1, n2 ... for each name that is neither a
    keyword, a function nor in ``names`` (lower case): an alias, or what somebody wrote in the place
    of one. Comments are left out. None for what cannot be read, or is too long to.
    """
    if len(sql) > LONGEST:
        return None
    spoken = DIALECTS.get(dialect, dialect)
    known = Dialect.get_or_raise(spoken)
    fixed = _fixed(spoken)
    if spoken == "mysql":
        sql = _OF_DRIVER.sub("?", sql)
    try:
        tokens = known.tokenize(sql)
    except SqlglotError:
        return None
    out: list[str] = []
    hidden: dict[str, str] = {}
    end = -1
    for index, token in enumerate(tokens):
        word = " ".join(token.text.split())
        if token.token_type in _VALUES:
            text = "?"
        elif word.lower() in names or word.upper() in fixed or _calls(tokens, index, word):
            text = word
        else:
            text = hidden.setdefault(word.lower(), f"n{len(hidden) + 1}")
        out.append(text if token.start == end + 1 and out else f" {text}")
        end = token.end
    return "".join(out).strip()


def _calls(tokens: Sequence[Token], index: int, word: str) -> bool:
    """True if a token is the name of a known function that is called."""
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    called = following is not None and following.token_type is TokenType.L_PAREN
    return called and word.upper() in exp.FUNCTION_BY_NAME


@lru_cache(maxsize=8)
def _fixed(dialect: str) -> frozenset[str]:
    tokenizer = Dialect.get_or_raise(dialect).tokenizer_class
    return frozenset({*tokenizer.KEYWORDS, *tokenizer.SINGLE_TOKENS})
