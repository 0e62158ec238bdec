"""manifest.json: written last; it makes a directory a sealed dataset."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, Literal

from synth.core.dataset.columns import check_version
from synth.core.dataset.store.counts import RunCounts
from synth.core.dataset.store.run_info import RunFiles, RunInfo, check_content, read_json
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
