"""The clock and the randomness of SQLite sandboxes, pinned.

SQLite asks its VFS what time it is, once per statement: one method pins CURRENT_TIMESTAMP,
``datetime('now')``, ``unixepoch()`` and whatever else reads a clock. The VFS
(:mod:`envs.sandboxes.sqlite.pages`) serves every sandbox of the process, so the time is a thread's
own, set before each step of a statement. ``random()`` and ``randomblob()`` are replaced per
sandbox.
"""

from __future__ import annotations

import datetime as dt
import functools
import hashlib
import threading
from typing import Any

import apsw

_JULIAN_EPOCH_MS = 210_866_760_000_000
"""1970-01-01 as a Julian day number, in milliseconds (https://sqlite.org/c3ref/vfs.html)."""

MAX_BLOB = 1_000_000
"""Bytes that one call of randomblob() gives at most."""


class _Now(threading.local):
    julian_ms = _JULIAN_EPOCH_MS


NOW = _Now()


@functools.lru_cache(64)
def julian_ms(now: str) -> int:
    """``Pins.now`` as SQLite counts: milliseconds of the Julian day. ValueError if no ISO 8601."""
    moment = dt.datetime.fromisoformat(now)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    return (moment - epoch) // dt.timedelta(milliseconds=1) + _JULIAN_EPOCH_MS


class RandomStream:
    """SQLite's randomness as a function of a seed: block ``n`` is the hash of seed and ``n``.

    ``position`` is the next block. A call that leaves nothing behind puts it back, and a fork takes
    it along.
    """

    def __init__(self, seed: int, position: int = 0) -> None:
        self._key = str(seed).encode()
        self.position = position

    def _block(self) -> bytes:
        self.position += 1
        return hashlib.blake2b(b"%d" % self.position, key=self._key, digest_size=64).digest()

    def random(self, *nothing: Any) -> int:
        """A pseudo-random integer of 64 bits, signed, as SQLite's own ``random()``."""
        return int.from_bytes(self._block()[:8], "big", signed=True)

    def randomblob(self, *sizes: Any) -> bytes:
        """Pseudo-random bytes; one for sizes below 1, as in SQLite. TooBigError past MAX_BLOB."""
        count = max(1, int(sizes[0])) if isinstance(sizes[0], int | float) else 1
        if count > MAX_BLOB:
            error = apsw.exception_for(apsw.SQLITE_TOOBIG)
            error.args = ("string or blob too big",)
            raise error
        blocks = [self._block() for _ in range(-(-count // 64))]
        return b"".join(blocks)[:count]

    def install(self, raw: apsw.Connection) -> None:
        raw.create_scalar_function("random", self.random, 0, flags=apsw.SQLITE_INNOCUOUS)
        raw.create_scalar_function("randomblob", self.randomblob, 1, flags=apsw.SQLITE_INNOCUOUS)
