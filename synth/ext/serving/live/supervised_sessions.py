"""The supervised sessions of one server: opened for a task, bounded in number, forgotten later,
and recorded if somebody wants that.
"""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, get_args

from synth.errors import OperatorError
from synth.ext.serving.live.recorder import Recorder, broken
from synth.ext.serving.live.session import SessionError
from synth.ext.serving.live.session_registry import SessionReport, scored
from synth.ext.serving.live.supervised import ApprovalMode, SupervisedSession, Supervision, UserKind
from synth.ext.serving.live.world import LiveWorld

LISTED = 500
"""Tasks that the description of a world names."""

KEPT = 4
"""Ended sessions that are kept, to be read, for each one that may be open."""


class SupervisedSessions:
    """Sessions by their names, which are drawn. At most ``at_once`` go on together.

    With a recorder each session is another sample of its task, as far as the plan has samples that
    no row stands for; ``report`` gets the end of each.
    """

    def __init__(
        self,
        live: LiveWorld,
        *,
        at_once: int,
        idle_s: float,
        recorder: Recorder | None = None,
        report: Callable[[SessionReport], None] | None = None,
    ) -> None:
        self._live, self._at_once, self._idle_s = live, at_once, idle_s
        self._recorder, self._report = recorder, report
        self._sessions: dict[str, SupervisedSession] = {}
        self._keepers: set[asyncio.Task[None]] = set()
        self._turns = itertools.count()

    def hide(self, text: str) -> str:
        """The text without the secrets of the run."""
        return self._live.scrubber.text(text)

    def describe(self) -> dict[str, Any]:
        """The world, its tasks and its tools, as far as the model may know them."""
        live = self._live
        samples = live.run.plan.samples
        shown = [live.run.plan.task(index) for index in range(min(live.run.plan.tasks, LISTED))]
        return {
            "world": live.run.world.name,
            "model": live.context.model.name,
            "user_model": "scripted" if live.context.user is None else live.context.user.name,
            "recording": self._recorder is not None,
            "tasks": [
                {"job": index * samples, "family": task.family, "prompt": task.prompt}
                for index, task in enumerate(shown)
            ],
            "tools": [
                {"name": tool.name, "description": tool.description}
                for tool in live.run.world.tools
            ],
            "approval": list(get_args(ApprovalMode)),
            "user": list(get_args(UserKind)),
        }

    async def open(self, asked: Mapping[str, Any]) -> SupervisedSession:
        """Open a session: ``job`` is its job (default: the next one), ``approval`` and ``user`` are
        as in :class:`Supervision`.

        Raises :class:`SessionError` for a wrong value, or if there is no room.
        """
        supervision = _supervision(asked)
        index = asked.get("job")
        if index is None:
            index = next(self._turns) % self._live.jobs
        if not isinstance(index, int) or isinstance(index, bool):
            raise SessionError("bad_request", "job is a number")
        if not 0 <= index < self._live.jobs:
            raise SessionError("bad_request", f"job is a number from 0 to {self._live.jobs - 1}")
        job = await self._live.job(self._unplayed(index))
        if sum(not session.over for session in self._sessions.values()) >= self._at_once:
            raise SessionError("too_many_sessions", f"{self._at_once} sessions are open: try later")
        self._forget_some()
        name = secrets.token_urlsafe(9)
        session = SupervisedSession(name, job, self._live.context, supervision, self._idle_s)
        self._sessions[name] = session
        keeper = asyncio.create_task(self._keep(session))
        self._keepers.add(keeper)
        keeper.add_done_callback(self._keepers.discard)
        return session

    def _unplayed(self, index: int) -> int:
        """The first job of the same task that is neither recorded nor being played; else the job
        itself.
        """
        if self._recorder is None:
            return index
        samples = self._live.run.plan.samples
        first = index - index % samples
        playing = {one.job.index for one in self._sessions.values() if not one.over}
        free = (job for job in self._recorder.unplayed() if first <= job < first + samples)
        return next((job for job in free if job not in playing), index)

    async def _keep(self, session: SupervisedSession) -> None:
        """Wait for the end of a session, then record and report it; one that was called off leaves
        nothing.
        """
        await asyncio.wait([session.finished, session.logged], return_when=asyncio.ALL_COMPLETED)
        if session.finished.cancelled():
            return
        job, error = session.job, session.finished.exception()
        known = SessionReport(session.name, job.task.family, job.task.id, job.index)
        try:
            if error is not None:
                if self._recorder is not None:
                    self._recorder.fail(job, error)
                known = replace(known, broke=self._live.scrubber.message(broken(error)))
            else:
                row = session.finished.result()
                known = scored(known, row)
                if self._recorder is not None and not self._recorder.add(row):
                    known = replace(known, broke="not recorded: this sample has a row already")
        except OperatorError as full:  # the disk
            known = replace(known, broke=f"not recorded: {full}")
        if self._report is not None:
            self._report(known)

    def __getitem__(self, name: str) -> SupervisedSession:
        session = self._sessions.get(name)
        if session is None:
            raise SessionError("not_found", "unknown session")
        return session

    async def close(self, name: str) -> None:
        """Call off and forget a session. Raises :class:`SessionError` if there is none."""
        session = self[name]
        del self._sessions[name]
        await session.close()

    async def aclose(self) -> None:
        """Call off every session."""
        for name in list(self._sessions):
            await self.close(name)
        await asyncio.gather(*self._keepers)

    def _forget_some(self) -> None:
        over = [name for name, session in self._sessions.items() if session.over]
        for name in over[: max(0, len(over) - KEPT * self._at_once)]:
            del self._sessions[name]


def _supervision(asked: Mapping[str, Any]) -> Supervision:
    known = {"job", "approval", "user"}
    if unknown := sorted(asked.keys() - known):
        raise SessionError(
            "bad_request", f"unknown key {unknown[0]!r}; there are job, approval, user"
        )
    approval, user = asked.get("approval", "auto_approve"), asked.get("user", "world")
    for key, value, choices in (
        ("approval", approval, get_args(ApprovalMode)),
        ("user", user, get_args(UserKind)),
    ):
        if value not in choices:
            raise SessionError("bad_request", f"{key} is one of {', '.join(choices)}")
    return Supervision(approval, user)
