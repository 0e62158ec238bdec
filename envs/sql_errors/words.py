"""Meaning of an error's message if its code says too little, as :class:`~envs.types.ErrorCategory`.

SQLite has one code for most mistakes and its messages are English only. PostgreSQL's messages are
read for what its SQLSTATEs do not tell apart, and alone for what a driver raises without one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from envs.types import ErrorCategory as Category


@dataclass(frozen=True, slots=True)
class WordRule:
    """A pattern of messages and their category, with a message that it matches and one that it does
    not (read by a test). The case of letters does not count.
    """

    category: Category
    pattern: re.Pattern[str]
    matches: str
    matches_not: str


Words = Sequence[WordRule]


def _words(*rules: tuple[Category, str, str, str]) -> Words:
    return [
        WordRule(category, re.compile(pattern, re.IGNORECASE), matches, matches_not)
        for category, pattern, matches, matches_not in rules
    ]


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
    (_SYNTAX, r"\": syntax error$", 'near "FORM": syntax error', "syntax error in JSON path"),
    (_SYNTAX, r"^incomplete input|^unrecognized token", 'unrecognized token: "#"', "no such token"),
    (_NO_COLUMN, r"^no such column|^unknown column", "no such column: nmae", "no such table: nmae"),
    (_NO_COLUMN, r"has no column named", "table t has no column named a", "t has 2 columns"),
    (_NO_TABLE, r"^no such (table|view)", "no such table-valued function: f", "no such column: f"),
    (_NO_TABLE, r"^unknown database", "unknown database shop", "no such column: database"),
    (_JOIN, r"ambiguous column", "ambiguous column name: id", "no such column: id"),
    (_JOIN, r"cannot join using|natural join", "cannot join using column a", "cannot use a"),
    (_JOIN, r"joins? (are|is) not", "RIGHT and FULL OUTER JOINs are not supported", "join"),
    (_JOIN, r"^on clause", "ON clause references tables to its right", "a clause on x"),
    (_JOIN, r"^duplicate with table", "duplicate WITH table name: x", "duplicate column name: x"),
    (_AGGREGATE, r"aggregate|group by", "misuse of aggregate: sum()", "misuse of alias x"),
    (_AGGREGATE, r"having", "HAVING clause on a non-aggregate query", "no such clause"),
    (_AGGREGATE, r"window function", "misuse of window function row_number()", "function f()"),
    (_AGGREGATE, r"^no such window|^cannot override", "no such window: w", "no such table: w"),
    (_AGGREGATE, r"^distinct is not supported", "DISTINCT is not supported for window", "DISTINCT"),
    (_AGGREGATE, r"^frame |frame spec", "frame starting offset must be a number", "a time frame"),
    (_AGGREGATE, r"^filter (clause )?may", "FILTER may not be used with f", "no filter"),
    (_AGGREGATE, r"order by may not be used with", "ORDER BY may not be used with f()", "order by"),
    (_TYPE, r"^no such (function|collation)", "no such function: now", "no such table: now"),
    (_TYPE, r"^wrong number of arguments", "wrong number of arguments to function f()", "f()"),
    (_TYPE, r"^malformed json|json path|^json cannot|^unknown json", "malformed JSON", "no JSON"),
    (_TYPE, r"must be a (positive|non-negative) integer", "n must be a positive integer", "n is 3"),
    (_TYPE, r"type .* (is )?not supported", "type 'complex' is not supported", "not supported"),
    (_TYPE, r"^error binding parameter", "Error binding parameter 1", "no such parameter"),
    (_DENIED, r"^not authorized|is prohibited$", "not authorized", "authorized"),
    (
        _DENIED,
        r"may not be (modified|dropped|altered|indexed)",
        "a may not be modified",
        "modified",
    ),
    (_DENIED, r"^unsafe use of", "unsafe use of load_extension()", "use of f()"),
    (_LIMIT, r"too (complex|large|big|many)", "too many columns in result set", "many columns"),
    (_LIMIT, r"^at most \d+ |stack overflow", "at most 64 tables in a join", "at least 2 tables"),
    (_LIMIT, r"parser stack|^recursion limit|nested too deep", "parser stack overflow", "nested"),
    (Category.TIMEOUT, r"is locked", "database table is locked: t", "a lock"),
    (_CONNECTION, r"closed database", "Cannot operate on a closed database.", "a database"),
    (_SYNTAX, r"syntax error", "syntax error in the query", "an error in the query"),
    (_SYNTAX, r"values? for \d+ columns?", "1 values for 2 columns", "2 columns"),
    (
        _SYNTAX,
        r"columns? but \d+ values?",
        "t has 2 columns but 1 values were supplied",
        "2 columns",
    ),
    (_SYNTAX, r"^all values must", "all VALUES must have the same number of terms", "VALUES"),
    (_SYNTAX, r"do not have the same number", "SELECTs do not have the same number of", "SELECTs"),
    (_SYNTAX, r"sub-select returns", "sub-select returns 2 columns - expected 1", "a sub-select"),
    (_SYNTAX, r"^row value misused|^no tables specified", "row value misused", "a row value"),
    (
        _SYNTAX,
        r"^(order by|limit) clause should",
        "LIMIT clause should come after UNION",
        "LIMIT 1",
    ),
    (_SYNTAX, r"term out of range", "1st ORDER BY term out of range", "a value out of range"),
    (
        _SYNTAX,
        r"does not match any column in the result",
        "1st ORDER BY term does not match any column in the result set",
        "ORDER BY term",
    ),
    (
        _SYNTAX,
        r"one statement .*at a time",
        "You can only execute one statement at a time.",
        "one statement",
    ),
    (_SYNTAX, r"null character", "the query contains a null character", "a NULL"),
    (_SYNTAX, r"^circular reference|^recursive reference", "circular reference: x", "x"),
    (
        _SYNTAX,
        r"^multiple (recursive )?references",
        "multiple references to recursive table: x",
        "multiple tables",
    ),
    (
        _SYNTAX,
        r"number of (parameters|bindings)",
        "Incorrect number of bindings supplied",
        "a number",
    ),
    (_SYNTAX, r"no value for the parameter", "no value for the parameter :a", "a parameter"),
    (_SYNTAX, r"^near ", 'near "x": something', "something near"),
)

OTHER_WORDS = _words(
    (_NO_COLUMN, r"unresolved_column|no such column", "[UNRESOLVED_COLUMN] A column", "a column"),
    (_SYNTAX, r"syntax error|parse_syntax_error", "Parser Error: syntax error at x", "an error"),
    (_DENIED, r"permission error|read-only mode|has been locked", "in read-only mode", "a mode"),
    (_DENIED, r"permission denied|not authorized", "permission denied for table t", "a table t"),
    (_LIMIT, r"out of memory|too large", "Out of Memory Error: failed", "a memory"),
    (Category.TIMEOUT, r"timed? ?out|interrupted", "INTERRUPT Error: Interrupted!", "an interval"),
    (_JOIN, r"ambiguous", 'Ambiguous reference to column name "id"', "a reference"),
    (
        _AGGREGATE,
        r"group by|aggregat|missing_group_by|window function",
        'column "a" must appear in the GROUP BY clause',
        'column "a" does not exist',
    ),
    (
        _TYPE,
        r"(function|type|routine).*(does not exist|not found|cannot be resolved)",
        "Catalog Error: Scalar Function with name f does not exist!",
        "Catalog Error: Table with name t does not exist!",
    ),
    (
        _NO_TABLE,
        (r"(table|view|relation|schema).*(does not exist|doesn't exist|cannot be found)"
        r"|table_or_view_not_found|referenced table|no such table"),
        "Catalog Error: Table with name t does not exist!",
        'Referenced column "a" not found in FROM clause!',
    ),
    (
        _NO_COLUMN,
        r"column.*(not found|does not exist|cannot be resolved|invalid)|does not have a column",
        'Referenced column "a" not found in FROM clause!',
        "Table with name t does not exist!",
    ),
    (_TYPE, r"conversion error|cannot (cast|compare|mix)|mismatch|no function matches",
     "Conversion Error: Could not convert string 'x' to INT32", "a conversion"),
    (_CONNECTION, r"connection|could not connect", "connection was closed", "a table"),
)  # fmt: skip
"""For the databases of all other dialects: DuckDB's, Spark's and what most have in common."""

POSTGRES_WORDS = _words(
    (
        _JOIN,
        r"USING clause does not exist|JOIN/ON|JOIN/USING|common column name",
        'column "a" specified in USING clause does not exist in left table',
        'column "a" does not exist',
    ),
    (_AGGREGATE, r"requires an OVER clause", "window f() requires an OVER clause", "an OVER"),
    (_AGGREGATE, r"is not an aggregate|FILTER is not", "f() is not an aggregate", "f() is one"),
    (
        _AGGREGATE,
        r"aggregate function|window function",
        "aggregate function calls cannot be nested",
        "function f() does not exist",
    ),
    (
        _AGGREGATE,
        r"DISTINCT is not implemented|WITHIN GROUP|GROUP BY",
        'column "t.a" must appear in the GROUP BY clause',
        'column "t.a" does not exist',
    ),
    (
        _TYPE,
        r"^type \S+ does not exist|^collation .* does not exist",
        'type "strng" does not exist',
        'relation "strng" does not exist',
    ),
)
"""Read before the codes, for errors whose routine is not known; the words in capitals are the same
in every language.
"""

POSTGRES_ALONE = _words(
    (
        _CONNECTION,
        r"connection|server closed|could not connect|timeout expired|SSL error|EOF",
        "server closed the connection unexpectedly",
        'relation "t" does not exist',
    ),
    (
        _CONNECTION,
        r"could not (translate|receive|send)",
        'could not translate host name "x" to address',
        "could not serialize access",
    ),
    (
        _TYPE,
        r"adapt|invalid input syntax|interval|encode|decode",
        "can't adapt type 'object'",
        "a syntax error",
    ),
    (
        _TYPE,
        r"out of range|is of type|cannot contain NUL|cannot dump",
        "integer out of range",
        "a range of integers",
    ),
    (
        _SYNTAX,
        r"syntax error|placeholders?|parameters|empty query|argument|must be '%s'",
        'syntax error at or near "FORM"',
        "an error at or near a table",
    ),
)
"""For errors without a SQLSTATE, which are a driver's own."""
