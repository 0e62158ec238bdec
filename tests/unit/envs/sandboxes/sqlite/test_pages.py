"""The file of a template, which several processes read."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from envs.sandboxes.sqlite.pages import Base

THREADS = 8


def test_no_thread_shares_a_base_that_is_not_written_yet():
    """A process that got it too early would see an empty file, or a part of it."""
    image = bytes(16) + (4_096).to_bytes(2, "big") + bytes(16_000_000)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(10):
            base, together = Base(image), Barrier(THREADS)

            def share(base: Base = base, together: Barrier = together) -> int:
                together.wait()
                return os.fstat(base.share()).st_size

            with ThreadPoolExecutor(THREADS) as pool:
                sizes = [done.result() for done in [pool.submit(share) for _ in range(THREADS)]]
            assert sizes == [len(image)] * THREADS
    finally:
        sys.setswitchinterval(before)
