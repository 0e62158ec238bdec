"""``synth run --resume`` of a run that is complete: it is said without the code of runs."""

from __future__ import annotations

import hashlib
import json
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from envs.errors import WorldError
from envs.world.loader import world_digest
from synth.core.dataset.store.manifest import read_manifest
from synth.core.dataset.store.parquet_shard import open_parquet
from synth.core.dataset.store.run_info import RunFiles
from synth.core.dataset.upload import is_uploaded
from synth.core.foundation.archive import unpack_world
from synth.core.foundation.standard_output import say
from synth.core.runner.run_files import CONFIG_FILE, recorded_config
from synth.errors import ConfigProblems, DatasetError, OperatorError


def say_if_complete(directory: Path, *, as_json: bool) -> bool:
    """Say that a run is complete and return True; False if there is something to go on with.

    A damaged file is something: the code of runs names it and heals it.
    """
    files = RunFiles(directory)
    if not files.manifest.is_file():
        return False
    try:
        manifest = read_manifest(directory)
    except DatasetError:
        return False
    counts: Mapping[str, Any] = manifest["counts"]
    whole = all(_is_whole(directory / entry["path"], entry) for entry in manifest["shards"])
    if manifest["status"] != "complete" or counts["errors"] or not whole or _is_damaged(files):
        return False
    url = manifest["identity"]["more"].get("config", {}).get("output", {}).get("upload")
    if url is not None and not is_uploaded(directory, url):
        return False
    if as_json:
        fields = {"directory": str(directory), "status": "complete", "rows": counts["rows"]}
        say(json.dumps(fields))
    else:
        where = shlex.quote(str(directory))
        say(
            f"complete already: {counts['rows']} of {counts['jobs']} rollouts in {where};"
            f" there is nothing to resume\nnext: synth inspect {where}"
        )
    return True


def _is_damaged(files: RunFiles) -> bool:
    """True if the config, the tasks or the archive of the world is there and cannot be read."""
    try:
        if (files.directory / CONFIG_FILE).is_file():
            recorded_config(files.directory)
        if files.tasks.is_file():
            with open_parquet(files.tasks) as tasks:
                for group in range(tasks.num_row_groups):
                    tasks.read_row_group(group)
        for archive in (files.directory / "world").glob("*.tar.zst"):
            with tempfile.TemporaryDirectory(prefix="synth-look-") as home:
                world = unpack_world(archive.read_bytes(), Path(home) / "world")
                if world_digest(world) != archive.name.removesuffix(".tar.zst"):
                    return True
    except (OperatorError, ConfigProblems, DatasetError, WorldError):
        return True
    return False


def _is_whole(shard: Path, entry: Mapping[str, Any]) -> bool:
    """True if the file is there, with the content that the manifest describes."""
    try:
        with shard.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == entry["sha256"]
    except OSError:
        return False
