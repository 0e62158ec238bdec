"""One error for a part that an answer lacks, whatever reader finds it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

from synth.core.models.openai.reply import NotACompletionError

Object = dict[str, Any]


def objects(values: Any) -> list[Object]:
    """Return the objects of a list; anything else in it is left out."""
    listed = cast("list[Any]", values or [])
    return [cast("Object", one) for one in listed if isinstance(one, dict)]


_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")


def whole(reader: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
    """Make a reader of answers raise NotACompletionError for a part that is missing or of another
    type.
    """

    @functools.wraps(reader)
    def read(*args: _Given.args, **more: _Given.kwargs) -> _Made:
        try:
            return reader(*args, **more)
        except (LookupError, TypeError, AttributeError) as error:
            raise NotACompletionError(f"an answer that lacks a part ({error!r})") from error

    return read
