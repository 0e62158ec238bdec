"""Parquet files that are there as a whole or not at all."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, cast

import pyarrow as pa
import pyarrow.parquet as pq

from synth.dataset.columns import COLUMNS
from synth.dataset.durable import Fault, disk, no_fault, sync_directory
from synth.dataset.record import SCHEMA, VERSION_KEY
from synth.errors import DatasetError, OperatorError

ROWS_PER_GROUP: Final = 256
_LISTS: Final = ("list<json>", "list<str>")
_DICTIONARY: Final = [f"{col.name}.list.element" if col.kind in _LISTS else col.name for col in COLUMNS if col.low]
_STATISTICS: Final = [col.name for col in COLUMNS if "json" not in col.kind and "list" not in col.kind]


class _Hashing:
    """A binary file that is written once from front to back, and digested on the way."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self.digest = hashlib.sha256()
        self.closed = False

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()

    def tell(self) -> int:
        return self._file.tell()

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """What pyarrow calls; the file is ours to close, after the sync."""

    def end(self) -> None:
        self._file.close()
        self.closed = True


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
    """Write one row group per table of ``groups``, in order, and rename into place; returns rows and SHA-256.

    Not a row, not a row group: `datasets` cannot read an empty one. The footer is read back before the rename, because
    a writer that ran out of disk can close without a word. ``temporary`` is on the same file system and has no
    ``.parquet`` at its end. Raises :class:`~synth.errors.OperatorError` with the path; the old file is then untouched.
    """
    rows = 0
    with disk(path):
        sink = _Hashing(temporary)
        try:
            with pq.ParquetWriter(
                cast("Any", sink),
                schema,
                compression="zstd",
                compression_level=3,
                use_dictionary=cast("Any", dictionary),
                write_statistics=cast("Any", statistics),
                write_page_checksum=True,
            ) as writer:
                for group in groups:
                    rows += group.num_rows
                    if group.num_rows:
                        writer.write_table(group, row_group_size=group.num_rows)
            fault("shard:written")
            sink.sync()
            sink.end()
            fault("shard:synced")
            _check_footer(temporary, rows, path)
            temporary.replace(path)
            fault("shard:renamed")
        finally:
            try:
                sink.end()
            finally:
                temporary.unlink(missing_ok=True)
        sync_directory(path.parent)
    return rows, sink.digest.hexdigest()


def _check_footer(temporary: Path, rows: int, path: Path) -> None:
    try:
        with pq.ParquetFile(temporary) as file:
            found = file.metadata.num_rows
    except (OSError, pa.ArrowException) as error:
        raise OperatorError(f"{path} was not written whole (is the disk full?): {error}") from error
    if found != rows:
        raise OperatorError(f"{path} was not written whole: {found} of {rows} rows")


def write_shard(path: Path, groups: Iterable[pa.Table], temporary: Path, fault: Fault = no_fault) -> tuple[int, str]:
    """:func:`write_parquet` of trajectories, with a dictionary where a column holds few values."""
    return write_parquet(path, groups, SCHEMA, temporary, dictionary=_DICTIONARY, statistics=_STATISTICS, fault=fault)


@contextmanager
def open_parquet(path: Path) -> Generator[pq.ParquetFile]:
    """Open a Parquet file with page checksums verified; whatever is wrong with it is a DatasetError that names it."""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            yield file
    except FileNotFoundError as error:
        raise DatasetError(f"{path} is missing") from error
    except (OSError, pa.ArrowException) as error:
        first = str(error).strip().splitlines()
        raise DatasetError(f"{path} cannot be read: {first[0] if first else error}") from error


def check_version(file: pq.ParquetFile, path: Path, expected: int) -> None:
    """Refuse a file of another schema version, or of none, with a DatasetError.

    The version stands in the file's metadata; a program that rewrote the file may have dropped it, but not the column.
    """
    found = (file.schema_arrow.metadata or {}).get(VERSION_KEY)
    if found is None and "schema_version" in file.schema_arrow.names and file.num_row_groups:
        found = str(file.read_row_group(0, columns=["schema_version"])["schema_version"][0].as_py()).encode()
    if found is None:
        raise DatasetError(f"{path} is no file of this dataset format: it has no schema version")
    if found != str(expected).encode():
        raise DatasetError(
            f"{path} has schema version {found.decode(errors='replace')}; this software reads {expected}"
        )


def file_digest(path: Path) -> str:
    """SHA-256 of a file. Raises :class:`~synth.errors.DatasetError` where it cannot be read."""
    try:
        with path.open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}") from error
