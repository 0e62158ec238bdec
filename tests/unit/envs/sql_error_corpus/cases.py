"""The corpus files as cases: a statement that must fail, on which engines, and as what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from envs.types import ErrorCategory

_HEADING = re.compile(r"-- (?P<category>[a-z_]+): (?P<engines>[a-z0-9 ]+?)(?P<wrapped>, wrapped)?$")


@dataclass(frozen=True)
class Case:
    """``statements`` fail with the last one. ``wrapped``: the error tells its kind only beside its
    statement.
    """

    category: ErrorCategory
    engines: tuple[str, ...]
    statements: tuple[str, ...]
    wrapped: bool
    place: str


def read_cases(name: str) -> Iterator[Case]:
    """The cases of ``<name>.sql`` in this folder; the notation is described at the top of
    tuned.sql.
    """
    heading: re.Match[str] | None = None
    lines = (Path(__file__).parent / f"{name}.sql").read_text("utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        if line.startswith("-- "):
            heading = _HEADING.fullmatch(line)
        elif line:
            assert heading is not None, f"{name}.sql:{number} stands under no heading"
            yield Case(
                ErrorCategory(heading["category"]),
                tuple(heading["engines"].split()),
                tuple(line.split(" ;; ")),
                heading["wrapped"] is not None,
                f"{name}.sql:{number}",
            )
