"""``synth run --resume`` of a run that is complete: it is said at once, and nothing is opened."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from synth.dataset.store.manifest import read_manifest
from synth.dataset.store.run_info import RunFiles

PARQUET_ENDS_WITH = b"PAR1"


def say_if_complete(directory: Path, *, as_json: bool) -> bool:
    """Say that a run is complete and return True; False if there is something to go on with.

    Raises :class:`~synth.errors.DatasetError` for a manifest that cannot be read.
    """
    files = RunFiles(directory)
    if not files.manifest.is_file():
        return False
    manifest = read_manifest(directory)
    counts: Mapping[str, Any] = manifest["counts"]
    whole = all(_is_whole(directory / entry["path"]) for entry in manifest["shards"])
    if manifest["status"] != "complete" or counts["errors"] or not whole:
        return False
    if as_json:
        fields = {"directory": str(directory), "status": "complete", "rows": counts["rows"]}
        print(json.dumps(fields))
    else:
        where = shlex.quote(str(directory))
        print(
            f"complete already: {counts['rows']} of {counts['jobs']} rollouts in {where};"
            f" there is nothing to resume\nnext: synth inspect {where}"
        )
    return True


def _is_whole(shard: Path) -> bool:
    """True if the file is there and ends as a Parquet file does."""
    try:
        with shard.open("rb") as file:
            file.seek(-len(PARQUET_ENDS_WITH), os.SEEK_END)
            return file.read() == PARQUET_ENDS_WITH
    except OSError:
        return False
