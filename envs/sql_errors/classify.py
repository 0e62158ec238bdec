"""A driver's error as a model may read it: a category, the database's own words, advice from the
schema.

No SQL text, parameters, URLs or driver noise pass through here: what an executor lets escape ends
in training data.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from envs.sql_errors.advice import advice_for
from envs.sql_errors.codes import (
    MYSQL_CODES,
    POSTGRES_CLASSES,
    POSTGRES_CODES,
    POSTGRES_ROUTINES,
    SQLITE_CODES,
)
from envs.sql_errors.details import details_of
from envs.sql_errors.facts import Facts, family_of, read_facts
from envs.sql_errors.names import missing_column, quoted
from envs.types import ErrorCategory, Table, ToolResult
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


_log = logging.getLogger(__name__)

MAX_MESSAGE = 300
"""Characters of a message that a model is shown."""

_SANDBOX = re.compile(r"\benvs_[0-9a-f]{12}\w*(?:'@'[^']*)?")
"""The name of a sandbox's database or account, which is another one in every run."""


def classify(error: BaseException, dialect: str = "sqlite") -> ErrorCategory:
    """The category of an error of a driver of SQLite, PostgreSQL, MySQL or MariaDB, wrapped or not.

    ``dialect`` is SQLAlchemy's name.
    """
    return _classify(read_facts(error, dialect), family_of(dialect))


def to_result(
    error: BaseException, dialect: str, tables: Mapping[str, Table] | None = None
) -> ToolResult:
    """The error result for the model; ``tables`` lets advice name what the schema really has."""
    family = family_of(dialect)
    facts = read_facts(error, dialect)
    category = _classify(facts, family)
    message = _message(facts, category, family)
    if category is ErrorCategory.UNKNOWN:
        _log_unknown(dialect, facts.state, message)
    return ToolResult.failure(
        message,
        category=category,
        error=facts.kind,
        sql_state=facts.state,
        advice=advice_for(facts, category, tables or {}),
        error_details=details_of(facts, category, error),
    )


@lru_cache(maxsize=1_000)
def _log_unknown(dialect: str, state: str | None, message: str) -> None:
    """Log an error that no rule knows, once in a process."""
    _log.warning("%s: an error of unknown kind (%s): %s", dialect, state or "no code", message)


def _classify(facts: Facts, family: str) -> ErrorCategory:
    if facts.category is not None:
        return facts.category
    match family:
        case "sqlite":
            found = _sqlite(facts)
        case "postgresql":
            found = _postgres(facts)
        case "mysql":
            found = _mysql(facts)
        case _:
            found = _by_words(facts, OTHER_WORDS)
    if (
        family != "postgresql"
        and found is ErrorCategory.COLUMN_NOT_FOUND
        and _qualifier_is_missing(facts)
    ):
        return ErrorCategory.TABLE_NOT_FOUND
    if found is None and facts.kind in {
        "InterfaceError",
        "ConnectionError",
        "ConnectionRefusedError",
        "TimeoutError",
    }:
        return ErrorCategory.CONNECTION_ERROR
    return found or ErrorCategory.UNKNOWN


def _by_words(facts: Facts, rules: Words) -> ErrorCategory | None:
    return next((category for category, pattern in rules if pattern.search(facts.words)), None)


def _sqlite(facts: Facts) -> ErrorCategory | None:
    name = facts.state or ""
    primary = "_".join(name.split("_")[:2])
    for code in (name, primary):
        if code in SQLITE_CODES:
            return SQLITE_CODES[code]
    if primary == "SQLITE_CONSTRAINT":
        return None  # from a virtual table, a function or a hook: the words are their author's
    return _by_words(facts, SQLITE_WORDS)


def _postgres(facts: Facts) -> ErrorCategory | None:
    """By the SQLSTATE, unless the routine that raised it says more."""
    state = facts.state
    if state is None:  # raised by the driver itself
        by_words = _by_words(facts, POSTGRES_DRIVERS)
        return (
            ErrorCategory.CONNECTION_ERROR
            if by_words is None and facts.kind == "OperationalError"
            else by_words
        )
    for code, pattern, category in POSTGRES_ROUTINES:
        if state == code and pattern.fullmatch(facts.routine):
            return category
    if state[:2] == "42" and (by_keyword := _by_words(facts, POSTGRES_KEYWORDS)):
        return by_keyword
    return POSTGRES_CODES.get(state) or POSTGRES_CLASSES.get(state[:2])


def _mysql(facts: Facts) -> ErrorCategory | None:
    number = facts.number
    if number is None:
        return (
            ErrorCategory.CONNECTION_ERROR
            if re.search("closed|not connected", facts.words, re.IGNORECASE)
            else None
        )
    names = quoted(facts.words)
    clause = re.sub(r"'[^']*'", "", facts.words, count=1)  # its name is English in every language
    match number:
        case 1049 if facts.connecting:
            return ErrorCategory.CONNECTION_ERROR
        case 1045 if facts.statement:  # LOAD DATA without the right to
            return ErrorCategory.PERMISSION_DENIED
        case 1054 if re.search(r"\bfrom\b", clause, re.IGNORECASE):
            return ErrorCategory.JOIN_ERROR  # the column of a USING
        case 1054 if names and names[0].isdecimal():  # the place of a column, as in ORDER BY 9
            grouping = re.search(r"\bgroup\b", clause, re.IGNORECASE)
            return ErrorCategory.AGGREGATION_ERROR if grouping else ErrorCategory.SYNTAX_ERROR
        case 1091:
            return ErrorCategory.COLUMN_NOT_FOUND if "COLUMN" in facts.words else None
        case 1247 if "group function" in facts.words:
            return ErrorCategory.AGGREGATION_ERROR
        case 1305 if facts.words.startswith("SAVEPOINT"):
            return None
        case _ if number in MYSQL_CODES:
            return MYSQL_CODES[number][0]
        case _:  # the client library's own numbers
            return (
                ErrorCategory.CONNECTION_ERROR
                if number <= 0 or number in range(2000, 2029)
                else None
            )


def _qualifier_is_missing(facts: Facts) -> bool:
    """True if ``o.id`` is unknown because the statement has no table or alias ``o`` at all."""
    column = missing_column(facts)
    if column is None or column[0] is None or not facts.statement:
        return False
    if "has no column" in facts.words:
        return False
    return not re.search(
        rf"\b{re.escape(column[0])}\b[\"`\]]?(?!\s*\.)", facts.statement, re.IGNORECASE
    )


def _message(facts: Facts, category: ErrorCategory, family: str) -> str:
    """One sentence in the database's words, without its plumbing."""
    if category is ErrorCategory.CONNECTION_ERROR:
        return "the connection to the database failed"  # the rest is host names
    words = facts.words.strip().partition("\n")[0]
    if family == "mysql":
        words = re.sub(r"`[^`]+`\.(?=`)", "", words)  # the sandbox's own name
        words = re.sub(r"(table|Table|view) '[\w$-]+\.([^']+)'", r"\1 '\2'", words)
        words = re.sub(r"^(FUNCTION|PROCEDURE) [\w$-]+\.", r"\1 ", words)
        words = re.sub(
            r"; check the manual that corresponds .*? to use near '(\S*).*?( at line \d+)?$",
            r" near '\1'\2",
            words,
        )
    elif family == "postgresql":
        words = re.sub(r"^(ERROR|FATAL|PANIC):\s+", "", words)
    elif words == "interrupted":
        words = "interrupted: the statement took longer than it may"
    words = _SANDBOX.sub("sandbox", words)
    words = re.sub(r"\b[a-z][a-z0-9+.-]*://\S+", "(a URL)", " ".join(words.split()))
    return words if len(words) <= MAX_MESSAGE else words[: MAX_MESSAGE - 1] + "…"
