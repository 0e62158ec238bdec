"""A world as bytes: the same files always give the same archive, so its digest names it."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import zstandard

from envs.errors import WorldError
from envs.folder import world_files
from synth.credentials import known_secrets, looks_secret

MAX_WORLD_BYTES = 2 * 1024**3


def pack_world(folder: Path) -> bytes:
    """The world's files (:func:`envs.folder.world_files`) as .tar.zst, without owners, modes and times.

    Raises :class:`~envs.errors.WorldError` for a file that holds a key.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for each in world_files(folder):
            data = each.read_bytes()
            _refuse_secrets(each, data)
            entry = tarfile.TarInfo(each.relative_to(folder).as_posix())
            entry.size, entry.mode = len(data), 0o644
            tar.addfile(entry, io.BytesIO(data))
    return zstandard.ZstdCompressor(level=10, threads=0).compress(buffer.getvalue())


def _refuse_secrets(file: Path, data: bytes) -> None:
    """A world travels with the dataset and may be published: no key may be in it."""
    name = next((name for value, name in known_secrets().items() if value.encode() in data), None)
    if name is not None:
        raise WorldError(
            f"holds the value of ${name}; a world is published with its dataset, so read it from there", file
        )
    if looks_secret(data.decode("utf-8", "replace")):
        raise WorldError("holds what looks like a key; a world is published with its dataset: move it out", file)


def unpack_world(archive: bytes, into: Path) -> Path:
    """Write an archive's files below a folder and return it.

    Raises :class:`~envs.errors.WorldError` for what is no archive of ours: damaged, with anything but plain files
    in it, or leading outside the folder.
    """
    try:
        data = zstandard.ZstdDecompressor().decompress(archive, max_output_size=MAX_WORLD_BYTES)
        into.mkdir(parents=True, exist_ok=True)
        root = into.resolve()
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            for entry in tar:  # entry by entry: extractall's filter="data" is not in every Python that we support
                target = (root / entry.name).resolve()
                file = tar.extractfile(entry) if entry.isreg() and target.is_relative_to(root) else None
                if file is None:
                    raise WorldError(f"this is no archive of a world: it holds {entry.name!r}", into)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(file.read())
    except (zstandard.ZstdError, tarfile.TarError) as error:
        raise WorldError(f"this is no archive of a world: {error}", into) from None
    return into
