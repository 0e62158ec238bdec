"""What the words of an error mean where its code says too little, as :class:`~envs.types.ErrorCategory`.

SQLite has one code for most mistakes and speaks English only. PostgreSQL's words are asked for what its SQLSTATEs
do not tell apart, and alone for what a driver raises without one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from envs.types import ErrorCategory as Category

Words = Sequence[tuple[re.Pattern[str], Category]]


def _words(*rules: tuple[str, Category]) -> Words:
    return [(re.compile(pattern, re.IGNORECASE), category) for pattern, category in rules]


SQLITE_WORDS = _words(
    (r"\": syntax error$|^incomplete input|^unrecognized token", Category.SYNTAX_ERROR),
    (r"^no such column|has no column named|^unknown column", Category.COLUMN_NOT_FOUND),
    (r"^no such table|^no such view|^unknown database|^no such table-valued function", Category.TABLE_NOT_FOUND),
    (r"ambiguous column|cannot join using|natural join|joins? (are|is) not|^on clause|^duplicate with table",
     Category.JOIN_ERROR),
    ((r"aggregate|window function|^no such window|group by|having|^distinct is not supported|^frame |frame spec"
     r"|^cannot override|^filter (clause )?may|order by may not be used with"), Category.AGGREGATION_ERROR),
    ((r"^no such function|^wrong number of arguments|^no such collation|^malformed json|json path|^json cannot"
     r"|^unknown json|^datatype mismatch|^cannot store|must be a (positive|non-negative) integer|type .* (is )?not supported"
     r"|^error binding parameter"), Category.TYPE_MISMATCH),
    (r"^not authorized|is prohibited$|may not be (modified|dropped|altered|indexed)|^unsafe use of|readonly database",
     Category.PERMISSION_DENIED),
    (r"^unique constraint failed", Category.UNIQUE_VIOLATION),
    (r"^foreign key constraint failed", Category.FK_VIOLATION),
    (r"^not null constraint failed", Category.NOT_NULL_VIOLATION),
    (r"^check constraint failed", Category.CHECK_VIOLATION),
    (r"too complex|too large|too big|too many|^at most \d+ |stack overflow|^out of memory|is full$|parser stack|^recursion limit|nested too deep",
     Category.LIMIT_EXCEEDED),
    (r"^interrupted|is locked", Category.TIMEOUT),
    (r"closed database|unable to open|not a database|disk i/o", Category.CONNECTION_ERROR),
    ((r"syntax error|values? for \d+ columns?|columns? but \d+ values?"
     r"|^all values must|do not have the same number|sub-select returns|^row value misused|^no tables specified"
     r"|^(order by|limit) clause should|term out of range|does not match any column in the result"
     r"|one statement .*at a time|null character|^circular reference|^recursive reference|^multiple (recursive )?references"
     r"|number of (parameters|bindings)|no value for the parameter|^near "), Category.SYNTAX_ERROR),
)  # fmt: skip

POSTGRES_WORDS = _words(
    (r"USING clause does not exist|JOIN/ON|JOIN/USING|common column name", Category.JOIN_ERROR),
    ((r"requires an OVER clause|is not an aggregate|aggregate function|window function|DISTINCT is not implemented"
     r"|WITHIN GROUP|GROUP BY|FILTER is not"), Category.AGGREGATION_ERROR),
    (r"^type \S+ does not exist|^collation .* does not exist", Category.TYPE_MISMATCH),
)  # fmt: skip
"""Asked before the codes, for errors whose routine is not known; the capitals are the same in every language."""

POSTGRES_ALONE = _words(
    (r"connection|server closed|could not connect|timeout expired|could not (translate|receive|send)|SSL error|EOF",
     Category.CONNECTION_ERROR),
    (r"USING clause does not exist|is ambiguous|specified more than once$", Category.JOIN_ERROR),
    (r"must appear in the GROUP BY|aggregate function|window function|requires an OVER", Category.AGGREGATION_ERROR),
    (r"^(error:\s+)?column .* does not exist", Category.COLUMN_NOT_FOUND),
    (r"^(error:\s+)?(relation|table|view|schema) .* does not exist|FROM-clause entry", Category.TABLE_NOT_FOUND),
    (r"violates unique constraint", Category.UNIQUE_VIOLATION),
    (r"violates foreign key constraint", Category.FK_VIOLATION),
    (r"violates not-null constraint", Category.NOT_NULL_VIOLATION),
    (r"violates check constraint", Category.CHECK_VIOLATION),
    (r"^(error:\s+)?(permission denied|must be owner)|read-only transaction", Category.PERMISSION_DENIED),
    (r"^(error:\s+)?canceling statement due to", Category.TIMEOUT),
    (r"deadlock detected|could not serialize", Category.DEADLOCK),
    ((r"adapt|invalid input syntax|(function|operator|type) .* does not exist|out of range|value too long"
     r"|is of type|cannot contain NUL|cannot dump|interval|encode|decode"), Category.TYPE_MISMATCH),
    (r"syntax error|placeholders?|parameters|empty query|argument|must be '%s'", Category.SYNTAX_ERROR),
)  # fmt: skip
"""For errors without a SQLSTATE: a driver's own, or what is left of a server's that was copied without its fields."""
