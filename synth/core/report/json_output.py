"""Documents on standard output, as JSON or for people."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, datetime

from synth.core.foundation.standard_output import stdout
from synth.core.screen.screen import Screen


def print_document(document: object, show: Callable[[Screen], None], *, as_json: bool) -> None:
    """Print a document as JSON, or show it on a screen."""
    if as_json:
        print_json(document)
    else:
        show(Screen())


def print_json(document: object, *, indent: int | None = 2) -> None:
    """Print JSON in ASCII, so that no control character of the data reaches a terminal and any
    locale can print it.
    """
    json.dump(document, stdout(), indent=indent, default=_plain)
    stdout().write("\n")


def _plain(value: object) -> str:
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is not a JSON value")
