"""The journal: rollouts that have finished but are not in a shard yet.

There is one append-only segment per open shard, and one for errors, which outlives the shards. A
frame is

    magic (4 bytes) | length (uint32) | crc32 (uint32) | kind (uint8) | job index (uint64) | payload

in little-endian order; length and checksum cover kind, index and payload. A frame is one write, and
survives the death of the process from then on; :meth:`Journal.sync` makes it survive a power
failure, and the writer calls it at most once a second. The death of a process leaves a torn tail,
which is dropped. Unreadable bytes *before* a whole frame are damage: they are skipped, their jobs
run again, and :attr:`Segment.damaged` is their number. No payload can be mistaken for a frame,
because the magic contains bytes that never occur in UTF-8.
"""

from __future__ import annotations

import os
import re
import struct
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from synth.core.dataset.store.atomic_files import disk, sync_directory
from synth.errors import DatasetError

ROW: Final = 1
ERROR: Final = 2

_MAGIC: Final = b"\xf5\xffS\xfe"
_FRAME: Final = struct.Struct("<4sII")
_INNER: Final = struct.Struct("<BQ")
_CHUNK: Final = 1 << 20
_MAX_OPEN: Final = 32
_SEGMENT: Final = re.compile(r"shard-(\d+)\.log")


def frame(kind: int, index: int, payload: bytes) -> bytes:
    """Encode one frame."""
    inner = _INNER.pack(kind, index) + payload
    return _FRAME.pack(_MAGIC, len(inner), zlib.crc32(inner)) + inner


class Segment:
    """A segment at the time it was opened; reads stay valid after the file is deleted.

    ``frames`` maps a job to its last frame (kind, offset and length of the payload). ``end`` is the
    end of the last whole frame, ``size`` the length of the file, ``damaged`` the number of bytes
    before ``end`` that belong to no frame.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.frames: dict[int, tuple[int, int, int]] = {}
        self.end = 0
        self.damaged = 0
        self._handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self.size = os.fstat(self._handle).st_size
        self._scan()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. May be called twice."""
        handle, self._handle = getattr(self, "_handle", -1), -1
        if handle >= 0:
            os.close(handle)

    def _frame_at(self, position: int) -> bytes | None:
        """Return kind, index and payload of the whole frame at ``position``, or None."""
        head = os.pread(self._handle, _FRAME.size, position)
        if len(head) < _FRAME.size:
            return None
        magic, length, checksum = _FRAME.unpack(head)
        if magic != _MAGIC or length < _INNER.size or position + _FRAME.size + length > self.size:
            return None
        inner = os.pread(self._handle, length, position + _FRAME.size)
        return inner if len(inner) == length and zlib.crc32(inner) == checksum else None

    def _scan(self) -> None:
        position = 0
        while position < self.size:
            inner = self._frame_at(position)
            if inner is None:
                following = self._next_magic(position + 1)
                if following is None:
                    return
                position = following
                continue
            self.damaged += position - self.end
            kind, index = _INNER.unpack_from(inner)
            start = position + _FRAME.size + _INNER.size
            position = self.end = position + _FRAME.size + len(inner)
            self.frames[index] = (kind, start, self.end - start)

    def _next_magic(self, position: int) -> int | None:
        while position < self.size:
            chunk = os.pread(self._handle, _CHUNK, position)
            found = chunk.find(_MAGIC)
            if found >= 0:
                return position + found
            if len(chunk) < _CHUNK:
                return None
            position += len(chunk) - len(_MAGIC) + 1
        return None

    def read(self, index: int) -> bytes:
        """Return the payload of a job's frame.

        Raises KeyError if the job has none, and :class:`~synth.errors.DatasetError` if the file was
        truncated.
        """
        _, start, length = self.frames[index]
        payload = os.pread(self._handle, length, start)
        if len(payload) != length:
            raise DatasetError(f"{self.path} became shorter while it was read")
        return payload


class Journal:
    """The directory of segments, for its only writer. A failing disk raises
    :class:`~synth.errors.OperatorError`.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._open: OrderedDict[Path, tuple[int, int]] = OrderedDict()  # handle and length
        self._dirty: set[Path] = set()
        self._new_names = False

    def shard_path(self, number: int) -> Path:
        return self.directory / f"shard-{number:06d}.log"

    @property
    def errors_path(self) -> Path:
        return self.directory / "errors.log"

    def shards(self) -> Iterator[int]:
        """Return the numbers of the shards that have a segment, ascending."""
        return iter(segment_numbers(self.directory))

    def repair(self, path: Path) -> Segment:
        """Truncate the torn tail of a segment, so that the next frame follows a whole one, and open
        it for reading.
        """
        with disk(path, "read"):
            segment = Segment(path)
            if segment.end < segment.size:
                os.truncate(path, segment.end)
        return segment

    def append(self, path: Path, kind: int, index: int, payload: bytes) -> None:
        """Write one frame. If the disk fails, the segment is left unchanged."""
        data = memoryview(frame(kind, index, payload))
        with disk(path):
            handle, length = self._handle(path)
            try:
                written = 0
                while written < len(data):
                    written += os.pwrite(handle, data[written:], length + written)
            except OSError:
                os.ftruncate(handle, length)
                raise
            self._open[path] = handle, length + len(data)
            self._dirty.add(path)

    def _handle(self, path: Path) -> tuple[int, int]:
        known = self._open.get(path)
        if known is not None:
            self._open.move_to_end(path)
            return known
        if len(self._open) >= _MAX_OPEN:
            oldest, (handle, _) = self._open.popitem(last=False)
            if oldest in self._dirty:
                os.fsync(handle)
                self._dirty.discard(oldest)
            os.close(handle)
        self._new_names = self._new_names or not path.exists()
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._open[path] = handle, os.fstat(handle).st_size
        return self._open[path]

    def sync(self) -> None:
        """Make all frames written so far survive a power failure."""
        with disk(self.directory):
            for path in sorted(self._dirty):
                os.fsync(self._open[path][0])
            self._dirty.clear()
            if self._new_names:
                sync_directory(self.directory)
                self._new_names = False

    def delete(self, path: Path) -> None:
        """Delete a segment whose content is in a shard by now, if it exists."""
        handle, _ = self._open.pop(path, (-1, 0))
        if handle >= 0:
            os.close(handle)
        self._dirty.discard(path)
        with disk(path, "delete"):
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the files, which stay. May be called twice."""
        for handle, _ in self._open.values():
            os.close(handle)
        self._open.clear()
        self._dirty.clear()


def segment_numbers(directory: Path) -> list[int]:
    """Return the numbers of the shards with a segment in a journal directory, ascending; none if it
    does not exist.
    """
    try:  # one look: a run that ends removes the directory
        names = [path.name for path in directory.iterdir()]
    except FileNotFoundError:
        return []
    return sorted(int(found[1]) for name in names if (found := _SEGMENT.fullmatch(name)))
