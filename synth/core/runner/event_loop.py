"""The event loop of a run."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

if sys.platform == "win32":
    from asyncio import new_event_loop
else:
    from uvloop import new_event_loop


def run(main: Coroutine[Any, Any, T]) -> T:
    """As :func:`asyncio.run`, on uvloop where there is one: Ray's workers take it by themselves."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main)
