"""A world as bytes: the same files always give the same archive, so its digest names it."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import zstandard

from envs.errors import WorldError
from envs.folder import world_files

MAX_WORLD_BYTES = 2 * 1024**3


def pack_world(folder: Path) -> bytes:
    """The world's files (:func:`envs.folder.world_files`) as .tar.zst, without owners, modes and times."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for each in world_files(folder):
            data = each.read_bytes()
            entry = tarfile.TarInfo(each.relative_to(folder).as_posix())
            entry.size, entry.mode = len(data), 0o644
            tar.addfile(entry, io.BytesIO(data))
    return zstandard.ZstdCompressor(level=10, threads=0).compress(buffer.getvalue())


def unpack_world(archive: bytes, into: Path) -> Path:
    """Write an archive's files below a folder and return it.

    Raises :class:`~envs.errors.WorldError` for what is no archive of ours, or leads outside the folder.
    """
    try:
        data = zstandard.ZstdDecompressor().decompress(archive, max_output_size=MAX_WORLD_BYTES)
        into.mkdir(parents=True, exist_ok=True)
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            tar.extractall(into, filter="data")
    except (zstandard.ZstdError, tarfile.TarError) as error:
        raise WorldError(f"this is no archive of a world: {error}", into) from None
    return into
