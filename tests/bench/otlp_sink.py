"""A collector of spans in a process of its own, so that reading them costs the bench nothing."""

from __future__ import annotations

import multiprocessing
from collections.abc import Generator
from contextlib import contextmanager
from multiprocessing.connection import Connection

from tests.otlp_collector import collector


def _serve(ours: Connection) -> None:
    with collector() as kept:
        ours.send(kept.url)
        ours.recv()  # until the bench is over


@contextmanager
def otlp_sink() -> Generator[str]:
    """The collector's URL."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    try:
        yield str(ours.recv())
    finally:
        process.terminate()
        process.join()
