"""Reading of data that was recorded under an older schema version.

The old names are in :mod:`synth.foundation.renamed_keys`; files keep them, readers see the new
ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from synth.dataset.columns import OLDEST_VERSION, SCHEMA_VERSION
from synth.errors import DatasetError
from synth.foundation.renamed_keys import COLUMNS, TASK_FIELDS, renamed, warn_renamed

_STORED: Final = {new: old for old, new in COLUMNS.items()}


def check_version(version: object, source: Path) -> int:
    """Return the schema version of a file if it can be read.

    Raises :class:`~synth.errors.DatasetError` for a newer version and for what is no version.
    """
    if not isinstance(version, int) or isinstance(version, bool) or version < OLDEST_VERSION:
        raise DatasetError(f"{source} has no valid schema version: {version!r}")
    if version > SCHEMA_VERSION:
        raise DatasetError(
            f"{source} has schema version {version}, but this version of synth reads schema"
            f" versions up to {SCHEMA_VERSION}; upgrade synth"
        )
    return version


def stored_name(column: str, version: int) -> str:
    """Name of a column in files of a schema version."""
    return _STORED.get(column, column) if version == 1 else column


def current_task(raw: Mapping[str, Any], version: int) -> dict[str, Any]:
    """Return a task of tasks.parquet, as JSON, with its fields under their present names."""
    return renamed(raw, TASK_FIELDS) if version == 1 else dict(raw)


def current_manifest(manifest: Mapping[str, Any], version: int) -> dict[str, Any]:
    """Return a manifest with its counts under their present names."""
    if version != 1 or not isinstance(manifest.get("counts"), dict):
        return dict(manifest)
    return {**manifest, "counts": _current_counts(manifest["counts"])}


def _current_counts(counts: Mapping[str, Any]) -> dict[str, Any]:
    """Rename the sums of a run; `splits` and `families` hold the same sums for each of theirs."""
    groups = {
        key: {name: renamed(sums, COLUMNS) for name, sums in counts[key].items()}
        for key in ("splits", "families")
        if isinstance(counts.get(key), dict)
    }
    return {**renamed(counts, COLUMNS), **groups}


def warn_old_version(source: Path, version: int) -> None:
    """Warn once per file that its columns are presented under new names.

    The warning points to the line of a manifest that states the version; in a Parquet file there
    are no lines.
    """
    if version == SCHEMA_VERSION:
        return
    line = 0
    if source.suffix == ".json":
        texts = source.read_text("utf-8", errors="replace").splitlines()
        line = next((n for n, text in enumerate(texts, 1) if '"schema_version"' in text), 0)
    names = ", ".join(f"`{old}` is now `{new}`" for old, new in COLUMNS.items())
    warn_renamed(f"schema version {version}: {names}", str(source), line)
