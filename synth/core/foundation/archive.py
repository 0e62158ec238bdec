"""A world as bytes: the same files always give the same archive, so its digest names it."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import zstandard

from envs.errors import WorldError
from envs.world.loader import world_files
from synth.core.foundation.credentials import known_secrets, looks_secret

MAX_WORLD_BYTES = 2 * 1024**3


def pack_world(folder: Path) -> bytes:
    """The world's files (:func:`envs.world.loader.world_files`) as .tar.zst, without owners, modes
    and times.

    Raises :class:`~envs.errors.WorldError` for a file that holds a key.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, file in world_files(folder).items():
            data = file.read_bytes()
            _refuse_secrets(file, data)
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o644
            tar.addfile(entry, io.BytesIO(data))
    return zstandard.ZstdCompressor(level=10, threads=0).compress(buffer.getvalue())


def _refuse_secrets(file: Path, data: bytes) -> None:
    """A world travels with the dataset and may be published: no key may be in it."""
    name = next((name for value, name in known_secrets().items() if value.encode() in data), None)
    if name is not None:
        raise WorldError(
            f"holds the value of ${name}; a world is published with its dataset, so read it from"
            " there",
            file,
        )
    if looks_secret(data.decode("utf-8", "replace")):
        raise WorldError(
            "holds what looks like a key; a world is published with its dataset: move it out", file
        )


def archive_files(archive: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file of an archive, in the archive's order.

    Raises :class:`~envs.errors.WorldError` for what is no archive of ours: damaged, with anything
    but plain files in it, or with names that lead out of the folder that it is unpacked into.
    """
    try:
        data = zstandard.ZstdDecompressor().decompress(archive, max_output_size=MAX_WORLD_BYTES)
        # Entry by entry: extractall's filter="data" is not in every Python that we support.
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            for entry in tar:
                path = PurePosixPath(entry.name)
                inside = path.parts and not path.is_absolute() and ".." not in path.parts
                file = tar.extractfile(entry) if inside and entry.isreg() else None
                if file is None:
                    raise WorldError(f"not an archive of a world: it holds {entry.name!r}")
                yield entry.name, file.read()
    except (zstandard.ZstdError, tarfile.TarError) as error:
        raise WorldError(f"not an archive of a world: {error}") from None


def unpack_world(archive: bytes, into: Path) -> Path:
    """Write an archive's files below a folder and return it.

    Raises :class:`~envs.errors.WorldError` as :func:`archive_files` does.
    """
    into.mkdir(parents=True, exist_ok=True)
    try:
        for name, content in archive_files(archive):
            target = into / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    except WorldError as error:
        raise WorldError(error.message, into) from None
    return into
