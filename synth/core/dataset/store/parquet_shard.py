"""Parquet files that are written completely or not at all."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, cast

import pyarrow as pa
import pyarrow.parquet as pq

from envs.unreadable import unreadable
from synth.core.dataset.arrow_schema import SCHEMA, VERSION_KEY, conform
from synth.core.dataset.columns import COLUMNS, check_version
from synth.core.dataset.store.atomic_files import Fault, disk, no_fault, sync_directory
from synth.errors import DatasetError, OperatorError

ROWS_PER_GROUP: Final = 256
_LISTS: Final = ("list<json>", "list<str>")
_DICTIONARY: Final = [
    f"{col.name}.list.element" if col.kind in _LISTS else col.name for col in COLUMNS if col.low
]
_STATISTICS: Final = [
    col.name for col in COLUMNS if "json" not in col.kind and "list" not in col.kind
]


def write_parquet(
    path: Path,
    groups: Iterable[pa.Table],
    schema: pa.Schema,
    temporary: Path,
    *,
    dictionary: list[str] | bool = False,
    statistics: list[str] | bool = False,
    fault: Fault = no_fault,
) -> tuple[int, str]:
    """Write each table of ``groups`` as a row group, rename the file into place, and return the
    number of rows and the SHA-256.

    Empty tables make no row group, because `datasets` cannot read one. The footer is read back
    before the rename, because a writer on a full disk may close without an error. ``temporary`` is
    on the same file system and does not end in ``.parquet``. Raises
    :class:`~synth.errors.OperatorError` with the path; an old file is then unchanged.
    """
    rows = 0
    with disk(path):
        try:
            with (
                temporary.open("wb") as sink,
                pq.ParquetWriter(
                    sink,
                    schema,
                    compression="zstd",
                    compression_level=3,
                    use_dictionary=cast("Any", dictionary),
                    write_statistics=cast("Any", statistics),
                    write_page_checksum=True,
                ) as writer,
            ):
                for group in groups:
                    rows += group.num_rows
                    if group.num_rows:
                        writer.write_table(group, row_group_size=group.num_rows)
            fault("shard:written")
            with temporary.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                os.fsync(file.fileno())
            fault("shard:synced")
            _check_footer(temporary, rows, path)
            temporary.replace(path)
            fault("shard:renamed")
        finally:
            temporary.unlink(missing_ok=True)
        sync_directory(path.parent)
    return rows, digest


def _check_footer(temporary: Path, rows: int, path: Path) -> None:
    try:
        with pq.ParquetFile(temporary) as file:
            found = file.metadata.num_rows
    except (OSError, pa.ArrowException) as error:
        raise OperatorError(f"{path} was not written whole (is the disk full?): {error}") from error
    if found != rows:
        raise OperatorError(f"{path} was not written whole: {found} of {rows} rows")


def write_shard(
    path: Path, groups: Iterable[pa.Table], temporary: Path, fault: Fault = no_fault
) -> tuple[int, str]:
    """Write trajectories by :func:`write_parquet`, with dictionary encoding for columns of few
    values.
    """
    return write_parquet(
        path, groups, SCHEMA, temporary, dictionary=_DICTIONARY, statistics=_STATISTICS, fault=fault
    )


@contextmanager
def open_parquet(path: Path) -> Generator[pq.ParquetFile]:
    """Open a Parquet file with verification of page checksums.

    Every failure raises :class:`~synth.errors.DatasetError` with the path.
    """
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            yield file
    except FileNotFoundError as error:
        raise DatasetError(f"{path} is missing{remedy(path)}") from error
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        first = str(error).strip().splitlines()
        reason = f"{first[0] if first else error}{remedy(path)}"
        raise DatasetError(f"{path} cannot be read: {reason}") from error


def remedy(path: Path) -> str:
    """Return advice for a damaged file of a run directory; empty for any other file."""
    home = path.parent.parent if path.parent.name == "data" else path.parent
    if not (home / "config.yaml").is_file():
        return ""
    return f"; `synth run --resume {shlex.quote(str(home))}` makes again what is lost"


def check_file_version(file: pq.ParquetFile, path: Path) -> None:
    """Raise :class:`~synth.errors.DatasetError` for a Parquet file of another schema version.

    The version is in the file's metadata; a program that rewrote the file may have dropped it, but
    not the column.
    """
    found = (file.schema_arrow.metadata or {}).get(VERSION_KEY)
    if found is None and "schema_version" in file.schema_arrow.names and file.num_row_groups:
        found = str(
            file.read_row_group(0, columns=["schema_version"])["schema_version"][0].as_py()
        ).encode()
    if found is None:
        raise DatasetError(f"{path} is not a file of this dataset format: it has no schema version")
    text = found.decode(errors="replace")
    check_version(int(text) if text.isdecimal() else text, path)


def read_columns(
    file: pq.ParquetFile, path: Path, names: Sequence[str], group: int | None = None
) -> pa.Table:
    """Columns of an open file, or of one of its row groups, in their pinned types.

    Raises :class:`~synth.errors.DatasetError` for a schema version or a column that cannot be read.
    """
    check_file_version(file, path)
    columns = list(names)
    data = file.read(columns=columns) if group is None else file.read_row_group(group, columns)
    return conform(data, names, path)


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file. Raises :class:`~synth.errors.DatasetError` if it cannot be
    read.
    """
    try:
        with path.open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        raise DatasetError(
            f"{path} cannot be read: {unreadable(error, 'a part of a run')}"
        ) from error
