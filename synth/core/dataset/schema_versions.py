"""The schema version of a file: this version of synth reads its own."""

from __future__ import annotations

from pathlib import Path

from synth.core.dataset.columns import SCHEMA_VERSION
from synth.errors import DatasetError


def check_version(version: object, source: Path) -> None:
    """Raise :class:`~synth.errors.DatasetError` for another schema version than the present one."""
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise DatasetError(f"{source} has no valid schema version: {version!r}")
    if version != SCHEMA_VERSION:
        advice = "upgrade synth" if version > SCHEMA_VERSION else "record the run again"
        raise DatasetError(
            f"{source} has schema version {version}, but this version of synth reads schema version"
            f" {SCHEMA_VERSION}; {advice}"
        )
