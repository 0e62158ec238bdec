"""The sessions of one server: which job each plays, how many at once, and what came of them."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from synth.errors import OperatorError
from synth.ext.serving.live.recorder import Recorder, broken
from synth.ext.serving.live.session import RemoteSession, SessionError
from synth.ext.serving.live.world import LiveWorld
from synth.task import Job


@dataclass(frozen=True)
class SessionReport:
    """The end of a session, for the operator and never for the player.

    ``broke`` says what broke it; it has no score and an error row in a recording. ``verdicts`` maps
    the name of each that did not pass to its reason.
    """

    session: str
    family: str
    task: str
    job: int
    reward: float | None = None
    outcome: str | None = None
    stop_reason: str | None = None
    calls: int = 0
    verdicts: Mapping[str, str] | None = None
    broke: str | None = None

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    def line(self) -> str:
        """One line for a person."""
        what = f"session {self.session}: {self.family} (job {self.job})"
        if self.broke is not None:
            return f"{what}: broke: {self.broke}"
        reward = "no reward" if self.reward is None else f"reward {self.reward:g}"
        failed = "".join(f"; {name}: {why}" for name, why in (self.verdicts or {}).items())
        return f"{what}: {reward}, {self.stop_reason}, {self.calls} calls{failed}"


class SessionRegistry:
    """Sessions by name. A name has one session at a time; an ended one stays under its name until
    :meth:`take` starts the next.

    At most ``at_once`` are open together. Without ``recorder`` the jobs start again from the first
    when all are played; with one, each job is recorded once.
    """

    def __init__(
        self,
        live: LiveWorld,
        report: Callable[[SessionReport], None],
        *,
        at_once: int = 16,
        idle_s: float = 600.0,
        recorder: Recorder | None = None,
    ) -> None:
        self._live, self._report, self._recorder = live, report, recorder
        self._at_once, self._idle_s = at_once, idle_s
        self._jobs = deque(recorder.unplayed() if recorder is not None else range(live.jobs))
        self._sessions: dict[str, RemoteSession] = {}
        self._keepers: dict[RemoteSession, asyncio.Task[None]] = {}
        self._starting = asyncio.Lock()

    @property
    def open(self) -> int:
        """Number of sessions that go on."""
        return sum(not session.over for session in self._sessions.values())

    async def session(self, name: str) -> RemoteSession:
        """The session of that name, started if there is none; it may be over.

        Raises :class:`SessionError` if there is no room or no task for another one.
        """
        async with self._starting:
            return self._sessions.get(name) or await self._start(name)

    async def take(self, name: str) -> RemoteSession:
        """The session of a client that has just asked for its task: a new one if the last is
        over.
        """
        async with self._starting:
            session = self._sessions.get(name)
            return session if session and not session.over else await self._start(name)

    async def connect(self, name: str) -> None:
        """Note that a client has connected: a session that an earlier one left in the middle
        ends.
        """
        session = self._sessions.get(name)
        if session is not None and (session.turns or session.over):
            await self.end(name)

    async def end(self, name: str) -> None:
        """End and forget the session of that name, if there is one, and wait for its report."""
        session = self._sessions.pop(name, None)
        if session is None:
            return
        if not session.over:
            await session.leave()
        if (keeper := self._keepers.get(session)) is not None:
            await asyncio.wait([keeper])

    async def aclose(self) -> None:
        """End every session, and wait until each is reported."""
        for name in list(self._sessions):
            await self.end(name)
        await asyncio.gather(*self._keepers.values())

    async def _start(self, name: str) -> RemoteSession:
        for old in [key for key, session in self._sessions.items() if session.over]:
            if len(self._sessions) >= 2 * self._at_once:
                del self._sessions[old]
        if self.open >= self._at_once:
            raise SessionError("too_many_sessions", f"{self._at_once} sessions are open: try later")
        if not self._jobs:
            raise SessionError("no_task_left", "every task is being played or has been played")
        index = self._jobs.popleft()
        try:
            job = await self._live.job(index)
        except BaseException:
            self._jobs.append(index)
            raise
        session = self._sessions[name] = RemoteSession(
            job, self._live.context, self._idle_s, self._live.scrubber.text
        )
        keeper = self._keepers[session] = asyncio.create_task(self._keep(name, session))
        keeper.add_done_callback(lambda _: self._keepers.pop(session, None))
        return session

    async def _keep(self, name: str, session: RemoteSession) -> None:
        """Wait for the end of a session, then record and report it."""
        job = session.job
        await asyncio.wait([session.finished])
        if session.finished.cancelled():
            self._jobs.appendleft(job.index)  # nothing was played
            return
        report, again = ended(name, job, session.finished, self._live, self._recorder)
        if again:
            self._jobs.append(job.index)
        self._report(report)


def ended(
    name: str,
    job: Job,
    finished: asyncio.Task[dict[str, Any]],
    live: LiveWorld,
    recorder: Recorder | None,
) -> tuple[SessionReport, bool]:
    """Record the rollout of a session. Returns its report, and True if its job may be played
    again.
    """
    known = SessionReport(name, job.task.family, job.task.id, job.index)
    error = finished.exception()
    if error is not None:
        known = replace(known, broke=live.scrubber.message(broken(error)))
    else:
        known = _scored(known, finished.result())
    if recorder is None:
        return known, True
    try:
        if error is not None:
            return known, not recorder.fail(job, error)
        if not recorder.add(finished.result()):
            known = replace(known, broke="not recorded: this sample has a row already")
    except OperatorError as full:  # the disk
        return replace(known, broke=f"not recorded: {full}"), error is not None
    return known, False


def _scored(known: SessionReport, row: Mapping[str, Any]) -> SessionReport:
    failed = {
        verdict["verifier"]: str(verdict["reason"])
        for verdict in row["verdicts"]
        if verdict["score"] is None or verdict["score"] < 1
    }
    return replace(
        known,
        reward=row["reward"],
        outcome=str(row["outcome"]),
        stop_reason=str(row["stop_reason"]),
        calls=row["num_tool_calls"],
        verdicts=failed,
    )
