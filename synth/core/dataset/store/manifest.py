"""manifest.json: written last; it makes a directory a sealed dataset."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, Literal

from synth.core.dataset.arrow_schema import ERRORS_SCHEMA
from synth.core.dataset.columns import check_version
from synth.core.dataset.store.atomic_files import Fault, disk, write_file
from synth.core.dataset.store.card import card
from synth.core.dataset.store.counts import COUNTED_COLUMNS, RunCounts
from synth.core.dataset.store.errors_file import error_tables
from synth.core.dataset.store.journal import Segment
from synth.core.dataset.store.layout import Layout
from synth.core.dataset.store.parquet_shard import file_digest, write_parquet
from synth.core.dataset.store.part import Part
from synth.core.dataset.store.run_info import (
    RunFiles,
    RunInfo,
    check_content,
    json_bytes,
    read_json,
)
from synth.errors import DatasetError

Status = Literal["complete", "partial"]

_LIBRARIES: Final = ("synth-worlds", "pyarrow", "ray", "openai", "sqlalchemy", "apsw")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the installed libraries that influence the data."""
    found = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # the library is not installed
            continue
    return found


def build_manifest(
    info: RunInfo,
    status: Status,
    shards: Sequence[Mapping[str, Any]],
    counts: RunCounts,
    extra: Mapping[str, Any],
) -> dict[str, Any]:
    """Build the manifest as JSON.

    ``shards`` are {path, split, rows, sha256}. Raises ValueError if ``extra`` uses a key of the
    manifest itself.
    """
    identity = info.identity
    manifest: dict[str, Any] = {
        "status": status,
        **info.to_json(),
        "sealed_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "digests": {
            "config": identity.config_digest,
            "world": identity.world_digest,
            "plan": identity.plan_digest,
        },
        "counts": counts.to_json(),
        "variety": counts.variety.to_json(),
        "versions": versions(),
        "shards": [dict(shard) for shard in shards],
    }
    taken = manifest.keys() & extra.keys()
    if taken:
        raise ValueError(f"keys of the manifest itself: {', '.join(sorted(taken))}")
    return manifest | dict(extra)


def read_manifest(directory: Path) -> dict[str, Any]:
    """Return the manifest of a sealed run.

    Raises :class:`~synth.errors.DatasetError` if it is missing or unreadable.
    """
    path = RunFiles(Path(directory)).manifest
    if not path.exists():
        raise DatasetError(f"{path} is missing: the run was not sealed")
    manifest = read_json(path)
    check_version(manifest.get("schema_version"), path)
    try:
        shards_valid = all(
            {"path", "split", "rows", "sha256"} <= shard.keys() for shard in manifest["shards"]
        )
        counts_valid = {"jobs", "rows", "errors"} <= manifest["counts"].keys()
    except (KeyError, TypeError, AttributeError):
        shards_valid = counts_valid = False
    status_valid = manifest.get("status") in {"complete", "partial"}
    if not (status_valid and shards_valid and counts_valid):
        raise DatasetError(f"{path} is not the manifest of a run")
    check_content(manifest, path)
    return manifest


def survey(
    files: RunFiles, layout: Layout, digests: Mapping[int, str], counts: RunCounts
) -> list[dict[str, Any]]:
    """Return the committed shards as {path, split, rows, sha256}, and count their rows into
    ``counts``.

    ``digests`` are known for the shards that this process wrote; the others are computed.
    """
    shards: list[dict[str, Any]] = []
    for shard in layout:
        path = files.directory / shard.path
        if not path.exists():
            continue
        rows = 0
        for table in Part(path).tables(COUNTED_COLUMNS):
            for row in table.to_pylist():
                counts.add_row(row)
            rows += table.num_rows
        sha256 = digests.get(shard.number) or file_digest(path)
        shards.append({"path": shard.path, "split": shard.split, "rows": rows, "sha256": sha256})
    return shards


def write_errors(
    files: RunFiles,
    journal: Segment | None,
    broken: list[int],
    max_attempts: int,
    counts: RunCounts,
) -> None:
    """Write errors.parquet with the last error of each of those jobs; without jobs, delete it."""
    path = files.errors
    if journal is None or not broken:
        with disk(path, "delete"):
            path.unlink(missing_ok=True)
        return
    tables = error_tables(journal, broken, max_attempts, counts)
    write_parquet(path, tables, ERRORS_SCHEMA, files.temporary(path))


def write_claim(files: RunFiles, manifest: Mapping[str, object], fault: Fault) -> None:
    """Write the card, then the manifest; from then on the directory is a sealed dataset."""
    text = card(manifest, has_tasks=files.tasks.exists())
    write_file(files.card, text.encode(), files.temporary(files.card))
    fault("seal:card")
    write_file(files.manifest, json_bytes(manifest), files.temporary(files.manifest))
    fault("seal:manifest")
