"""The journal: what has finished but stands in no shard yet.

One append-only segment per open shard, and one for errors, which outlives the shards. A frame is

    magic (4 bytes) | length (uint32) | crc32 (uint32) | kind (uint8) | job index (uint64) | payload

Little-endian; length and checksum cover kind, index and payload. A frame is one write and is safe from the death of the process
from then on; :meth:`Journal.sync` makes it safe from a loss of power, and the writer calls it at most once a second.
A torn tail is what a death leaves and is dropped. Anything unreadable *before* a whole frame is damage: it is stepped
over, its jobs simply run again, and :attr:`Segment.damaged` says how many bytes it was. No payload can pass for a
frame: a magic holds bytes that UTF-8 never does.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from synth.dataset.durable import disk, sync_directory
from synth.errors import DatasetError

ROW: Final = 1
ERROR: Final = 2

_MAGIC: Final = b"\xf5\xffS\xfe"
_FRAME: Final = struct.Struct("<4sII")
_INNER: Final = struct.Struct("<BQ")
_CHUNK: Final = 1 << 20
_MAX_OPEN: Final = 32


def frame(kind: int, index: int, payload: bytes) -> bytes:
    """The bytes of one frame."""
    inner = _INNER.pack(kind, index) + payload
    return _FRAME.pack(_MAGIC, len(inner), zlib.crc32(inner)) + inner


class Segment:
    """A segment as it was when this was made; reads stay valid after the file is deleted.

    ``frames`` maps a job to its last frame (kind, offset and length of the payload). ``end`` is where the last whole
    frame ends, ``size`` the file's length, ``damaged`` the bytes before ``end`` that are no frame.
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
        """Safe to call twice."""
        handle, self._handle = getattr(self, "_handle", -1), -1
        if handle >= 0:
            os.close(handle)

    def _frame_at(self, place: int) -> bytes | None:
        """Kind, index and payload of the frame that begins at ``place``, if a whole one does."""
        head = os.pread(self._handle, _FRAME.size, place)
        if len(head) < _FRAME.size:
            return None
        magic, length, checksum = _FRAME.unpack(head)
        if magic != _MAGIC or length < _INNER.size or place + _FRAME.size + length > self.size:
            return None
        inner = os.pread(self._handle, length, place + _FRAME.size)
        return inner if len(inner) == length and zlib.crc32(inner) == checksum else None

    def _scan(self) -> None:
        place = 0
        while place < self.size:
            inner = self._frame_at(place)
            if inner is None:
                following = self._next_magic(place + 1)
                if following is None:
                    return
                place = following
                continue
            self.damaged += place - self.end
            kind, index = _INNER.unpack_from(inner)
            start = place + _FRAME.size + _INNER.size
            place = self.end = place + _FRAME.size + len(inner)
            self.frames[index] = (kind, start, self.end - start)

    def _next_magic(self, place: int) -> int | None:
        while place < self.size:
            chunk = os.pread(self._handle, _CHUNK, place)
            found = chunk.find(_MAGIC)
            if found >= 0:
                return place + found
            if len(chunk) < _CHUNK:
                return None
            place += len(chunk) - len(_MAGIC) + 1
        return None

    def read(self, index: int) -> bytes:
        """The payload of that job's frame; KeyError where there is none."""
        _, start, length = self.frames[index]
        payload = os.pread(self._handle, length, start)
        if len(payload) != length:
            raise DatasetError(f"{self.path} became shorter while it was read")
        return payload


class Journal:
    """The directory of segments, for its one writer. Raises OperatorError where the disk refuses."""

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
        """Numbers of the shards that have a segment, ascending."""
        return iter(segment_numbers(self.directory))

    def repair(self, path: Path) -> Segment:
        """Open a segment for reading after cutting off its torn tail, so that what is appended follows a whole frame."""
        with disk(path, "read"):
            segment = Segment(path)
            if segment.end < segment.size:
                os.truncate(path, segment.end)
        return segment

    def append(self, path: Path, kind: int, index: int, payload: bytes) -> None:
        """Write one frame; where the disk refuses, the segment is left as it was."""
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
        """Make every frame written so far survive a loss of power."""
        with disk(self.directory):
            for path in sorted(self._dirty):
                os.fsync(self._open[path][0])
            self._dirty.clear()
            if self._new_names:
                sync_directory(self.directory)
                self._new_names = False

    def delete(self, path: Path) -> None:
        """Remove a segment whose content stands elsewhere by now; nothing happens where there is none."""
        handle, _ = self._open.pop(path, (-1, 0))
        if handle >= 0:
            os.close(handle)
        self._dirty.discard(path)
        with disk(path, "delete"):
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Release the handles; the files stay. Safe to call twice."""
        for handle, _ in self._open.values():
            os.close(handle)
        self._open.clear()
        self._dirty.clear()


def segment_numbers(directory: Path) -> list[int]:
    """Numbers of the shards with a segment in that journal directory, ascending; none where it does not exist."""
    names = (path.stem.removeprefix("shard-") for path in directory.glob("shard-*.log"))
    return sorted(int(name) for name in names if name.isdecimal())
