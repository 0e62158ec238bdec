"""manifest.json: written last, and what makes a directory a dataset with a claim."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, Literal

from synth.dataset.columns import SCHEMA_VERSION
from synth.dataset.run_info import RunFiles, RunInfo, read_json
from synth.dataset.tally import Census
from synth.errors import DatasetError

Json = Any
Status = Literal["complete", "partial"]

_LIBRARIES: Final = ("synth-worlds", "pyarrow", "ray", "openai", "sqlalchemy", "apsw")


def versions() -> dict[str, str]:
    """Of Python and of the libraries that shape the data, as far as they are installed."""
    found = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # a library that this installation does without
            continue
    return found


def build_manifest(
    info: RunInfo, status: Status, shards: Sequence[Mapping[str, Json]], census: Census, extra: Mapping[str, Json]
) -> dict[str, Json]:
    """The manifest as JSON. ``shards`` are {path, split, rows, sha256}; ``extra`` may not take a key of ours."""
    identity = info.identity
    manifest: dict[str, Json] = {
        "status": status,
        **info.to_json(),
        "sealed_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "digests": {
            "config": identity.config_digest,
            "world": identity.world_digest,
            "plan": identity.plan_digest,
        },
        "counts": census.to_json(),
        "versions": versions(),
        "shards": [dict(shard) for shard in shards],
    }
    taken = manifest.keys() & extra.keys()
    if taken:
        raise ValueError(f"keys of the manifest itself: {', '.join(sorted(taken))}")
    return manifest | dict(extra)


def manifest_bytes(manifest: Mapping[str, Json]) -> bytes:
    return json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def read_manifest(directory: Path) -> dict[str, Json]:
    """The manifest of a sealed run. Raises :class:`~synth.errors.DatasetError` where it is missing or unreadable."""
    path = RunFiles(Path(directory)).manifest
    if not path.exists():
        raise DatasetError(f"{path} is missing: the run was not sealed")
    manifest = read_json(path)
    found = manifest.get("schema_version")
    if found != SCHEMA_VERSION:
        raise DatasetError(f"{path} has schema version {found}; this software reads {SCHEMA_VERSION}")
    try:
        named = all({"path", "split", "rows", "sha256"} <= shard.keys() for shard in manifest["shards"])
        counted = {"jobs", "rows", "errors"} <= manifest["counts"].keys()
    except (KeyError, TypeError, AttributeError):
        named = counted = False
    if manifest.get("status") not in {"complete", "partial"} or not named or not counted:
        raise DatasetError(f"{path} is no manifest of a run")
    return manifest
