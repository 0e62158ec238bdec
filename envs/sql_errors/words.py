"""Meaning of an error's message if its code says too little, as :class:`~envs.types.ErrorCategory`.

SQLite has one code for most mistakes and its messages are English only. Of PostgreSQL's messages
only keywords are read, and the words of its drivers, whose errors have no SQLSTATE. The first
pattern that is found decides; the case of letters does not count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from envs.types import ErrorCategory as Category

Words = Sequence[tuple[Category, re.Pattern[str]]]


def _words(*rules: tuple[Category, *tuple[str, ...]]) -> Words:
    return [(kind, re.compile("|".join(patterns), re.IGNORECASE)) for kind, *patterns in rules]


_SYNTAX = Category.SYNTAX_ERROR
_JOIN = Category.JOIN_ERROR
_AGGREGATE = Category.AGGREGATION_ERROR
_TYPE = Category.TYPE_MISMATCH
_DENIED = Category.PERMISSION_DENIED
_LIMIT = Category.LIMIT_EXCEEDED
_CONNECTION = Category.CONNECTION_ERROR
_NO_TABLE = Category.TABLE_NOT_FOUND
_NO_COLUMN = Category.COLUMN_NOT_FOUND

SQLITE_WORDS = _words(
    (_SYNTAX, r"\": syntax error$|^incomplete input|^unrecognized token"),
    (_NO_COLUMN, r"^no such column|^unknown column|has no column named"),
    (_NO_TABLE, r"^no such (table|view)|^unknown database"),
    (
        _JOIN,
        r"ambiguous column|cannot join using|natural join|joins? (are|is) not|^on clause",
        r"^duplicate with table",
    ),
    (
        _AGGREGATE,
        r"aggregate|group by|having|window function|^no such window|^cannot override",
        r"^distinct is not supported|^frame |frame spec|^filter (clause )?may",
        r"order by may not be used with",
    ),
    (
        _TYPE,
        r"^no such (function|collation)|^wrong number of arguments|^malformed json|json path",
        r"^json cannot|^unknown json|must be a (positive|non-negative) integer",
        r"type .* (is )?not supported|^error binding parameter",
    ),
    (
        _DENIED,
        r"^not authorized|is prohibited$|may not be (modified|dropped|altered|indexed)",
        r"^unsafe use of",
    ),
    (
        _LIMIT,
        r"too (complex|large|big|many)|^at most \d+ |stack overflow|parser stack",
        r"^recursion limit|nested too deep",
    ),
    (Category.TIMEOUT, r"is locked"),
    (_CONNECTION, r"closed database"),
    (
        _SYNTAX,
        r"syntax error|values? for \d+ columns?|columns? but \d+ values?|^all values must",
        r"do not have the same number|sub-select returns|^row value misused|^no tables specified",
        r"^(order by|limit) clause should|term out of range|null character|^near ",
        r"does not match any column in the result|one statement .*at a time",
        r"^(circular|recursive) reference|^multiple (recursive )?references",
        r"number of (parameters|bindings)|no value for the parameter",
    ),
)

OTHER_WORDS = _words(
    (_NO_COLUMN, r"unresolved_column|no such column"),
    (_SYNTAX, r"syntax error|parse_syntax_error"),
    (_DENIED, r"permission error|read-only mode|has been locked|permission denied|not authorized"),
    (_LIMIT, r"out of memory|too large"),
    (Category.TIMEOUT, r"timed? ?out|interrupted"),
    (_JOIN, r"ambiguous"),
    (_AGGREGATE, r"group by|aggregat|missing_group_by|window function"),
    (_TYPE, r"(function|type|routine).*(does not exist|not found|cannot be resolved)"),
    (
        _NO_TABLE,
        r"(table|view|relation|schema).*(does not exist|doesn't exist|cannot be found)",
        r"table_or_view_not_found|referenced table|no such table",
    ),
    (
        _NO_COLUMN,
        r"column.*(not found|does not exist|cannot be resolved|invalid)|does not have a column",
    ),
    (_TYPE, r"conversion error|cannot (cast|compare|mix)|mismatch|no function matches"),
    (_CONNECTION, r"connection"),
)
"""For the databases of all other dialects: DuckDB's, Spark's and what most have in common."""

POSTGRES_KEYWORDS = _words((_JOIN, r"JOIN/ON|JOIN/USING"), (_AGGREGATE, r"GROUP BY"))
"""SQL's own words in messages: they tell apart what one routine raises, in every language."""

POSTGRES_DRIVERS = _words(
    (
        _CONNECTION,
        r"connection|server closed|could not (connect|translate|receive|send)|timeout expired",
        r"SSL error|EOF",
    ),
    (
        _TYPE,
        r"adapt|invalid input syntax|interval|encode|decode|out of range|is of type",
        r"cannot contain NUL|cannot dump",
    ),
    (_SYNTAX, r"syntax error|placeholders?|parameters|empty query|argument|must be '%s'"),
)
"""For errors without a SQLSTATE, which are a driver's own."""
