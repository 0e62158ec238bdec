"""How many examples are drawn, and which errors may meet a user."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TypeVar

from hypothesis import HealthCheck, Phase, settings

from envs.errors import DatabaseConfigError, WorldError
from synth.errors import OperatorError, TaskError

EXAMPLES = "SYNTH_DRAWN_EXAMPLES"
"""The variable with the number of examples of a property; without it they are few, and the same
each time.
"""

TYPED = (OperatorError, WorldError, TaskError, DatabaseConfigError)
"""The errors whose message a user reads."""

NOTHING = ("has no rows", "no row can be used", "has no tables", "has no table that can be read")
"""Why a database makes no world at all."""

Made = TypeVar("Made")

_JARGON = re.compile(r"Traceback|sqlalche\.me|Error\b\(|object at 0x|\(sqlite3\.|psycopg|pymysql")


def drawn(quick: int) -> settings:
    """The settings of a property with so many examples in a quick run."""
    asked = os.environ.get(EXAMPLES)
    phases = [Phase.explicit, Phase.generate, *([Phase.shrink] if asked else [])]
    return settings(
        max_examples=int(asked or quick),
        derandomize=asked is None,
        deadline=None,
        database=None,
        phases=phases,
        print_blob=asked is not None,
        suppress_health_check=list(HealthCheck),
    )


def sentence(error: Exception) -> str:
    """The message of a typed error, which says something and holds nothing of the machine."""
    message = str(error)
    assert message.strip(), repr(error)
    assert len(message) < 2000, message
    found = _JARGON.search(message)
    assert found is None, f"{found and found[0]} in: {message}"
    return message


def made_or_refused(make: Callable[[], Made]) -> Made | None:
    """What is made of a database; None where it has nothing to make a world of, and says so."""
    try:
        return make()
    except OperatorError as error:
        message = sentence(error)
    assert any(reason in message for reason in NOTHING), message
    return None
