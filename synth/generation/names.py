"""Names of tables and columns as words: snake case, singular and plural, identifiers."""

from __future__ import annotations

import builtins
import keyword
import re
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import inflect
from sqlalchemy.dialects.mysql.reserved_words import RESERVED_WORDS_MARIADB, RESERVED_WORDS_MYSQL
from sqlalchemy.dialects.postgresql.base import RESERVED_WORDS

_ENGINE = cast("Any", inflect.engine())  # its annotations want its own word type

_TAKEN = frozenset({"db", "limit", "offset", "order_by", "descending", "records", "sql", "found"})
"""Names that tools use themselves."""

_RESERVED = (
    RESERVED_WORDS
    | RESERVED_WORDS_MARIADB
    | RESERVED_WORDS_MYSQL
    | frozenset(
        """all alter and as asc between by case check collate column commit constraint create cross
    current_date current_time current_timestamp default deferrable delete desc distinct do drop else
    end except exists false for foreign from full grant group having if in index inner insert
    intersect into is isnull join key left like limit natural not notnull null offset on or order
    outer over primary references returning right rollback row rows select session_user set some
    table then to transaction trigger true union unique update user using values view when where
    window with""".split()  # noqa: SIM905
    )
)


@dataclass(frozen=True, slots=True)
class Noun:
    """A thing in one and in many: ``track`` and ``tracks``, in snake case."""

    one: str
    many: str

    @property
    def words(self) -> str:
        return self.one.replace("_", " ")

    @property
    def plural_words(self) -> str:
        return self.many.replace("_", " ")


@cache
def snake(name: str) -> str:
    """A name in snake case: ``AlbumId`` becomes ``album_id``."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^0-9A-Za-z]+", "_", name)
    return spaced.strip("_").lower() or "value"


@cache
def noun_of(table: str) -> Noun:
    """The noun of a table, whichever number its name has."""
    head, _, last = re.sub(r"^(?:tbl|t)_", "", snake(table)).rpartition("_")
    singular = _ENGINE.singular_noun(last)
    one = str(singular) if singular and not last.endswith(("ss", "us", "is")) else last
    many = last if one != last else str(_ENGINE.plural_noun(last))
    prefix = f"{head}_" if head else ""
    return Noun(prefix + one, prefix + many)


def a(words: str) -> str:
    """Words with their indefinite article."""
    return str(_ENGINE.a(words))


def parameter(column: str) -> str:
    """The name of a column as a parameter in Python."""
    name = snake(column)
    clashes = keyword.iskeyword(name) or name in _TAKEN or not name[:1].isalpha()
    return f"{name}_value" if clashes or (name in vars(builtins) and name != "id") else name


def slot(words: str) -> str:
    """A name for a slot, which is a column of SQL too."""
    name = snake(words)
    return f"{name}_named" if name in _RESERVED or not name[:1].isalpha() else name


def quoted(name: str) -> str:
    """An identifier in SQL, in quotes only where it needs them."""
    plain = re.fullmatch(r"[a-z_][a-z0-9_]*", name) and name not in _RESERVED
    return name if plain else '"' + name.replace('"', '""') + '"'
