"""Databases in memory whose pages are shared until they are written: the files that SQLite works
on.

A :class:`Base` is an immutable database file, read by every sandbox that began as it, in this
process or in another one. :class:`Pages` are the pages that one sandbox has written over it. So a
sandbox of a large seed costs as little as one of a small seed, a fork copies references, and the
effect of a call can be passed to another process as the pages that it wrote.

The same VFS gives SQLite its temporary files (such as sorts that outgrow the cache) as buffers of
bounded size: nothing reaches a disk. It also tells the time, which is pinned
(:mod:`envs.sandboxes.sqlite.pins`).
"""

from __future__ import annotations

import itertools
import mmap
import os
import sys
import tempfile
import threading
import weakref
from collections.abc import Mapping
from typing import Any

import apsw

from envs.sandboxes.sqlite.pins import NOW

VFS_NAME = "envs-pages"

TEMPORARY_BYTES = 256 * 2**20
"""Bytes of the temporary files of all the process's statements; then the disk is "full"."""

_TRAITS = (
    apsw.SQLITE_IOCAP_POWERSAFE_OVERWRITE
    | apsw.SQLITE_IOCAP_SAFE_APPEND
    | apsw.SQLITE_IOCAP_SEQUENTIAL
)


class Base:
    """An immutable database file."""

    def __init__(self, image: bytes | mmap.mmap) -> None:
        self.image = image
        self.size = len(image)
        declared = int.from_bytes(image[16:18], "big")  # https://sqlite.org/fileformat2.html
        self.page_size = 65_536 if declared == 1 else declared or 4_096
        self._shared: int | None = None
        self._sharing = threading.Lock()

    @classmethod
    def at(cls, descriptor: int) -> Base:
        """Open the base that another process shared as this file descriptor, which is closed."""
        try:
            return cls(mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ))
        finally:
            os.close(descriptor)

    def share(self) -> int:
        """The base's file descriptor, under which another process can have it without a copy."""
        with self._sharing:
            if self._shared is None:
                file = os.memfd_create("base") if sys.platform == "linux" else _unnamed_file()
                weakref.finalize(self, os.close, file)
                with open(file, "wb", closefd=False) as target:
                    target.write(self.image)
                self.image = mmap.mmap(file, 0, access=mmap.ACCESS_READ)
                self._shared = file
            return self._shared


def _unnamed_file() -> int:
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


class Pages:
    """One sandbox's database file: its own pages, and its base's for the others."""

    __slots__ = ("base", "own", "size", "written")

    def __init__(
        self, base: Base, own: Mapping[int, bytes] | None = None, size: int | None = None
    ) -> None:
        self.base = base
        self.own = dict(own or {})  # offset -> page
        self.size = base.size if size is None else size
        self.written: set[int] = set()
        """Offsets of the pages written since somebody emptied it."""

    def copy(self) -> Pages:
        return Pages(self.base, self.own, self.size)

    def take_written(self) -> dict[int, bytes]:
        """Return the pages written since the last call."""
        taken = {offset: self.own[offset] for offset in self.written if offset in self.own}
        self.written.clear()
        return taken

    def put(self, pages: Mapping[int, bytes], size: int) -> None:
        """Take over pages another process wrote. No connection may be open: it would not notice."""
        self.own.update(pages)
        self.resize(size)

    def resize(self, size: int) -> None:
        if size < self.size:
            for offset in [offset for offset in self.own if offset >= size]:
                del self.own[offset]
        self.size = size


class _InMemory(apsw.VFSFile):
    """A file of one connection alone: locks and synchronization have no effect."""

    def __init__(self) -> None:
        """Leave out the base class's, which would open a file."""

    def xSync(self, flags: int) -> None: ...  # noqa: N802 - SQLite's names, here and below

    def xLock(self, level: int) -> None: ...  # noqa: N802

    def xUnlock(self, level: int) -> None: ...  # noqa: N802

    def xCheckReservedLock(self) -> bool:  # noqa: N802
        return False

    def xFileControl(self, op: int, ptr: int) -> bool:  # noqa: N802
        return False

    def xSectorSize(self) -> int:  # noqa: N802
        return 4_096

    def xDeviceCharacteristics(self) -> int:  # noqa: N802
        return _TRAITS

    def xClose(self) -> None: ...  # noqa: N802


class _DatabaseFile(_InMemory):
    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._own = pages.own
        self._image = pages.base.image
        self._page_size = pages.base.page_size

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        own = self._own.get(offset)
        if own is not None and len(own) == amount:
            return own
        within = offset % self._page_size
        own = self._own.get(offset - within)
        if own is not None:
            return own[within : within + amount]
        return self._image[offset : min(offset + amount, self._pages.size)]

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        pages = self._pages
        self._own[offset] = bytes(data)
        pages.written.add(offset)
        end = offset + len(data)
        pages.size = max(pages.size, end)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._pages.resize(newsize)

    def xFileSize(self) -> int:  # noqa: N802
        return self._pages.size


class _TemporaryFile(_InMemory):
    def __init__(self, vfs: _PagesVFS) -> None:
        self._vfs = vfs
        self._data = bytearray()

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        return bytes(self._data[offset : offset + amount])

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        end = offset + len(data)
        self._resize(max(end, len(self._data)))
        self._data[offset:end] = data

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._resize(newsize)

    def _resize(self, size: int) -> None:
        more = size - len(self._data)
        if self._vfs.temporary + more > TEMPORARY_BYTES:
            raise apsw.FullError("the statement sorts or keeps too much")
        self._vfs.temporary += more
        if more < 0:
            del self._data[size:]
        else:
            self._data.extend(bytes(more))

    def xFileSize(self) -> int:  # noqa: N802
        return len(self._data)

    def xClose(self) -> None:  # noqa: N802
        self._resize(0)


class _PagesVFS(apsw.VFS):
    """Opens databases that :func:`connect` announces, and temporary files; no other files exist."""

    def __init__(self) -> None:
        super().__init__(VFS_NAME, "")
        self.announced: dict[str, Pages] = {}
        self.temporary = 0

    def xOpen(self, name: Any, flags: list[int]) -> Any:  # noqa: N802
        flags[1] = flags[0]
        if name is None:
            return _TemporaryFile(self)
        pages = self.announced.pop(
            name.filename() if isinstance(name, apsw.URIFilename) else name, None
        )
        if pages is None:
            raise apsw.CantOpenError("this VFS holds no files")
        return _DatabaseFile(pages)

    def xFullPathname(self, name: str) -> str:  # noqa: N802
        return name

    def xAccess(self, pathname: str, flags: int) -> bool:  # noqa: N802
        return False

    def xDelete(self, filename: str, syncdir: bool) -> None: ...  # noqa: N802

    def xCurrentTime(self) -> float:  # noqa: N802
        return NOW.julian_ms / 86_400_000

    def xCurrentTimeInt64(self) -> int:  # noqa: N802
        return NOW.julian_ms


_vfs = _PagesVFS()
"""Registered for as long as this reference lives: the life of the process."""

_numbers = itertools.count()


_SETTINGS = (
    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF"
)
"""Alone on its file, a connection keeps its cache between transactions; no disk to wait for."""


def connect(pages: Pages, growth: int) -> apsw.Connection:
    """Connect to a database that nobody else has open; it may grow so many bytes past its base."""
    name = f"/{next(_numbers)}"
    _vfs.announced[name] = pages
    raw = apsw.Connection(name, vfs=VFS_NAME)
    most = (pages.base.size + growth) // pages.base.page_size
    raw.execute(f"{_SETTINGS}; PRAGMA max_page_count = {most}").fetchall()
    return raw


def memory() -> apsw.Connection:
    """A connection to an empty database in memory, at the pinned time."""
    return apsw.Connection(":memory:", vfs=VFS_NAME)
