"""Damaged files of a run: found when it is resumed, set aside and never deleted.

A file that cannot be trusted is moved to ``.synth/damaged``. Row groups of a shard that can still
be read stay in the dataset; the jobs of the others are played again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from synth.core.dataset.arrow_schema import SCHEMA
from synth.core.dataset.store.atomic_files import disk
from synth.core.dataset.store.layout import Shard
from synth.core.dataset.store.manifest import read_manifest
from synth.core.dataset.store.parquet_shard import (
    check_file_version,
    file_digest,
    open_parquet,
    read_columns,
    write_shard,
)
from synth.core.dataset.store.part import checked_jobs, shard_jobs
from synth.core.dataset.store.run_info import RunFiles
from synth.errors import DatasetError


def known_digests(files: RunFiles) -> Mapping[str, str]:
    """SHA-256 of each shard by its path, from a manifest that can be read; otherwise nothing."""
    if not files.manifest.exists():
        return {}
    try:
        return {
            entry["path"]: entry["sha256"] for entry in read_manifest(files.directory)["shards"]
        }
    except DatasetError:
        return {}


def set_aside(files: RunFiles, path: Path) -> Path:
    """Move a file to ``.synth/damaged`` and return its new path."""
    with disk(path, "set aside"):
        folder = files.private / "damaged"
        folder.mkdir(parents=True, exist_ok=True)
        taken = {file.name for file in folder.iterdir()}
        name = next(
            name
            for number in range(len(taken) + 1)
            if (name := f"{path.name}.{number}" if number else path.name) not in taken
        )
        path.rename(folder / name)
    return folder / name


def damage_of(path: Path, shard: Shard, sha256: str | None) -> str | None:
    """Return what is wrong with a shard; None if nothing is.

    Its hash is compared; without one (None) everything in it is read.
    """
    try:
        if sha256 is None:
            if any(group is None for group in _groups(path)):
                return "some of its rows cannot be read"
        elif file_digest(path) != sha256:
            return "its content is not what was written"
        shard_jobs(path, shard)
    except DatasetError as error:
        return str(error).removeprefix(f"{path} ")
    return None


def mend_shard(files: RunFiles, path: Path, shard: Shard) -> tuple[Path, int]:
    """Set a damaged shard aside and write what can be read of it in its place.

    Returns the path of the damaged file and the number of rows that were saved. None is saved if no
    row group is found broken: the damage is then where it can alter any of them.
    """
    broken = False
    sound: list[pa.Table] = []
    try:
        for group in _groups(path):
            broken = broken or group is None
            sound += [] if group is None else [group]
        rows = pa.concat_tables(sound) if broken and sound else None
        if rows is not None:
            checked_jobs(rows, path, shard)
    except DatasetError:
        rows = None
    aside = set_aside(files, path)
    if rows is None:
        return aside, 0
    write_shard(path, [group.combine_chunks() for group in sound], files.temporary(path))
    return aside, rows.num_rows


def _groups(path: Path) -> Iterator[pa.Table | None]:
    """Yield the row groups of a shard.

    None stands for one that cannot be read. Raises :class:`~synth.errors.DatasetError` for a file
    without a footer.
    """
    with open_parquet(path) as file:
        check_file_version(file, path)
        count = file.num_row_groups
    for group in range(count):
        try:
            with open_parquet(path) as file:
                table = read_columns(file, path, SCHEMA.names, group)
        except DatasetError:
            yield None
        else:
            yield table
