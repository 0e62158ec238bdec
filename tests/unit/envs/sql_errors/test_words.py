"""Messages and the category that their words give, by the table that reads them."""

from __future__ import annotations

import pytest

from envs.sql_errors.classify import OTHER_WORDS, POSTGRES_DRIVERS, SQLITE_WORDS, Words

MESSAGES: list[tuple[Words, str, list[str]]] = [
    (
        SQLITE_WORDS,
        "syntax_error",
        [
            'near "FORM": syntax error',
            'unrecognized token: "#"',
            "syntax error in the query",
            "1 values for 2 columns",
            "t has 2 columns but 1 values were supplied",
            "all VALUES must have the same number of terms",
            "SELECTs do not have the same number of",
            "sub-select returns 2 columns - expected 1",
            "row value misused",
            "LIMIT clause should come after UNION",
            "1st ORDER BY term out of range",
            "1st ORDER BY term does not match any column in the result set",
            "You can only execute one statement at a time.",
            "the query contains a null character",
            "circular reference: x",
            "multiple references to recursive table: x",
            "Incorrect number of bindings supplied",
            "no value for the parameter :a",
            'near "x": something',
        ],
    ),
    (SQLITE_WORDS, "column_not_found", ["no such column: nmae", "table t has no column named a"]),
    (
        SQLITE_WORDS,
        "table_not_found",
        ["no such table-valued function: f", "unknown database shop"],
    ),
    (
        SQLITE_WORDS,
        "join_error",
        [
            "ambiguous column name: id",
            "cannot join using column a",
            "RIGHT and FULL OUTER JOINs are not supported",
            "ON clause references tables to its right",
            "duplicate WITH table name: x",
        ],
    ),
    (
        SQLITE_WORDS,
        "aggregation_error",
        [
            "misuse of aggregate: sum()",
            "HAVING clause on a non-aggregate query",
            "misuse of window function row_number()",
            "no such window: w",
            "DISTINCT is not supported for window",
            "frame starting offset must be a number",
            "FILTER may not be used with f",
            "ORDER BY may not be used with f()",
        ],
    ),
    (
        SQLITE_WORDS,
        "type_mismatch",
        [
            "no such function: now",
            "wrong number of arguments to function f()",
            "malformed JSON",
            "n must be a positive integer",
            "type 'complex' is not supported",
            "Error binding parameter 1",
        ],
    ),
    (
        SQLITE_WORDS,
        "permission_denied",
        ["not authorized", "a may not be modified", "unsafe use of load_extension()"],
    ),
    (
        SQLITE_WORDS,
        "limit_exceeded",
        ["too many columns in result set", "at most 64 tables in a join", "parser stack overflow"],
    ),
    (SQLITE_WORDS, "timeout", ["database table is locked: t"]),
    (SQLITE_WORDS, "connection_error", ["Cannot operate on a closed database."]),
    (
        OTHER_WORDS,
        "column_not_found",
        ["[UNRESOLVED_COLUMN] A column", 'Referenced column "a" not found in FROM clause!'],
    ),
    (OTHER_WORDS, "syntax_error", ["Parser Error: syntax error at x"]),
    (OTHER_WORDS, "permission_denied", ["in read-only mode", "permission denied for table t"]),
    (OTHER_WORDS, "limit_exceeded", ["Out of Memory Error: failed"]),
    (OTHER_WORDS, "timeout", ["INTERRUPT Error: Interrupted!"]),
    (OTHER_WORDS, "join_error", ['Ambiguous reference to column name "id"']),
    (OTHER_WORDS, "aggregation_error", ['column "a" must appear in the GROUP BY clause']),
    (
        OTHER_WORDS,
        "type_mismatch",
        [
            "Catalog Error: Scalar Function with name f does not exist!",
            "Conversion Error: Could not convert string 'x' to INT32",
        ],
    ),
    (OTHER_WORDS, "table_not_found", ["Catalog Error: Table with name t does not exist!"]),
    (OTHER_WORDS, "connection_error", ["connection was closed"]),
    (
        POSTGRES_DRIVERS,
        "connection_error",
        [
            "server closed the connection unexpectedly",
            'could not translate host name "x" to address',
        ],
    ),
    (POSTGRES_DRIVERS, "type_mismatch", ["can't adapt type 'object'", "integer out of range"]),
    (POSTGRES_DRIVERS, "syntax_error", ['syntax error at or near "FORM"']),
]
NO_MATTER = [
    "a table",
    "a function",
    "x",
    "no such clause",
    "a lock",
    "modified",
    "a regular error",
]


@pytest.mark.parametrize(
    ("table", "category", "message"),
    [(table, category, message) for table, category, messages in MESSAGES for message in messages],
)
def test_a_message_has_its_category(table: Words, category: str, message: str):
    assert next(found for found, pattern in table if pattern.search(message)) == category


@pytest.mark.parametrize("table", [SQLITE_WORDS, OTHER_WORDS, POSTGRES_DRIVERS])
def test_plain_words_have_none(table: Words):
    assert not [word for word in NO_MATTER for _, pattern in table if pattern.search(word)]
