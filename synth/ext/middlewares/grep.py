"""Search in a text by a model's regular expression, in linear time.

Expressions are RE2's: no look-around and no back references, so that the time is at most
proportional to the expression's length times the text's. Python's own ``re`` needs exponential time
for some.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import re2

MAX_PATTERN = 300
"""Maximum length of a pattern, in characters."""

_MEMORY_BYTES = 1024 * 1024
_MOST_STEPS = 1_200
"""Maximum size of a compiled expression, with counted repetitions written out.

Up to this size re2 stays on its fast path within its memory: half a second for 200,000 characters
at worst, while a program of 4,000 steps took 40.
"""


class BadPatternError(ValueError):
    """A pattern that cannot be used; the message gives the reason."""


def places(
    text: str, pattern: str, *, regex: bool, ignore_case: bool, offset: int, most: int
) -> list[tuple[int, int]]:
    """Return start and end of the first ``most`` non-empty matches from an offset on, in
    characters.

    Raises :class:`BadPatternError`.
    """
    if not 0 < len(pattern) <= MAX_PATTERN:
        raise BadPatternError(
            f"a pattern has between 1 and {MAX_PATTERN} characters, not {len(pattern)}"
        )
    options = re2.Options()
    options.literal, options.case_sensitive = not regex, not ignore_case
    options.max_mem, options.log_errors = _MEMORY_BYTES, False
    try:
        expression = re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0]
        advice = (
            reason.decode(errors="replace")
            if isinstance(reason, bytes)
            else "it holds a lone surrogate"
        )
        raise BadPatternError(f"it is no expression of RE2: {advice}") from None
    if expression.programsize > _MOST_STEPS:
        raise BadPatternError("it repeats too much, written out")

    def found() -> Iterator[tuple[int, int]]:
        for match in expression.finditer(text, offset):
            if match.end() > match.start():
                yield match.start(), match.end()

    return list(islice(found(), most))
