"""Searching a text for what a model asks for: in linear time, whatever the expression.

Expressions are RE2's: no look-around and no back references, so none of them can take longer than its program is long times
the text. Python's own ``re`` needs exponential time for some.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import re2

MAX_PATTERN = 300
"""Characters of a pattern."""

_MEMORY_BYTES = 1024 * 1024
_MOST_STEPS = 1_200
"""Of a compiled expression, counted repetitions written out. Up to there re2 stays on its fast path within that memory: half a
second for 200,000 characters at worst, where a program of 4,000 steps took 40.
"""


class BadPatternError(ValueError):
    """A pattern that cannot be searched for; says why."""


def places(text: str, pattern: str, *, regex: bool, ignore_case: bool, offset: int, most: int) -> list[tuple[int, int]]:
    """Start and end of the first ``most`` matches from an offset on, in characters; empty matches are none.

    Raises :class:`BadPatternError`.
    """
    if not 0 < len(pattern) <= MAX_PATTERN:
        raise BadPatternError(f"a pattern has between 1 and {MAX_PATTERN} characters, not {len(pattern)}")
    options = re2.Options()
    options.literal, options.case_sensitive = not regex, not ignore_case
    options.max_mem, options.log_errors = _MEMORY_BYTES, False
    try:
        expression = re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0]
        told = reason.decode(errors="replace") if isinstance(reason, bytes) else "it holds a lone surrogate"
        raise BadPatternError(f"it is no expression of RE2: {told}") from None
    if expression.programsize > _MOST_STEPS:
        raise BadPatternError("it repeats too much, written out")

    def found() -> Iterator[tuple[int, int]]:
        for match in expression.finditer(text, offset):
            if match.end() > match.start():
                yield match.start(), match.end()

    return list(islice(found(), most))
