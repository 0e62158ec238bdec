"""The talking world, prepared so that sessions can play it, without a command line."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from synth.config import from_dict
from synth.ext.serving.live.recorder import Recorder
from synth.ext.serving.live.remote_model import REMOTE, RemoteConversation, RemoteModel
from synth.ext.serving.live.session_registry import SessionRegistry, SessionReport
from synth.ext.serving.live.world import LiveWorld, open_live
from synth.prepare import PreparedRun, prepare
from tests.unit import talking_world


def run_of(
    folder: Path,
    families: Sequence[str] = ("price",),
    *,
    count: int = 3,
    model: str = REMOTE,
    samples: int = 1,
    database: Mapping[str, object] | None = None,
    compose: Mapping[int, float] | None = None,
    **agent: object,
) -> PreparedRun:
    world = folder / "talk"
    if not world.exists():
        world.mkdir(parents=True)
        talking_world.make(world)
    tasks = {"count": count, "samples": samples, "families": [*families], "compose": compose}
    return prepare(
        from_dict(
            {
                "env": {"path": str(world)},
                "model": {"kind": model, "name": "client"},
                "tasks": tasks,
                "database": dict(database or {}),
                "agent": agent,
            }
        )
    )


@asynccontextmanager
async def live(run: PreparedRun) -> AsyncIterator[LiveWorld]:
    async with open_live(run, RemoteModel("client", RemoteConversation())) as opened:
        yield opened


class Desk:
    """A book with the reports that it made."""

    def __init__(self, book: SessionRegistry, reports: list[SessionReport]) -> None:
        self.book, self.reports = book, reports


@asynccontextmanager
async def desk(
    run: PreparedRun, *, record: Path | None = None, at_once: int = 8, idle_s: float = 60.0
) -> AsyncIterator[Desk]:
    """A book of sessions on the run; at the end everything is closed and the recording sealed."""
    async with live(run) as opened:
        recorder = None if record is None else await Recorder.open(opened, record)
        reports: list[SessionReport] = []
        book = SessionRegistry(
            opened, reports.append, at_once=at_once, idle_s=idle_s, recorder=recorder
        )
        try:
            yield Desk(book, reports)
        finally:
            await book.aclose()
            if recorder is not None:
                recorder.close()
