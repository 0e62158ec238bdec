"""The service that runs calls of free SQL: what happens in a process that may be killed
(:mod:`envs.processes`).

A world is loaded once, before the fork. A process holds one sandbox at a time, rebuilt from what it
is told; the whole call runs here as it would in place, on the same classes, with the same guards
and pins. What no guard can break off, the kernel does: a timer per statement, and bounds on memory,
time and files.
"""

from __future__ import annotations

import math
import os
import resource
import signal
from contextlib import nullcontext
from dataclasses import dataclass, field

import apsw

from envs.audit import traced
from envs.environments.database import DatabaseExecutableEnvironment
from envs.environments.deadline import DEADLINE
from envs.processes.zygote import limit, limit_space
from envs.sandboxes.sqlite.pages import Base, Pages
from envs.sandboxes.sqlite.sandbox import SqliteSandbox
from envs.sandboxes.sqlite.schema import Plan
from envs.sandboxes.sqlite.subprocess_call import STATEMENTS, Question, SubprocessReply
from envs.world.loader import World, load_world
from envs.world.query import ASKING

HEAP_BYTES = 256 * 2**20
"""Memory that SQLite may use; beyond it a statement fails as out of memory."""

SPACE_BYTES = 768 * 2**20
"""Address space that a process may take beyond what it has when it begins."""

GRACE_S = 0.05
"""Beyond a statement's time, before the process dies: SQLite's own interrupt comes first."""


@dataclass
class Service:
    """State of one process: the world from before the fork, templates and sandbox from after it."""

    world: World
    templates: dict[int, tuple[Base, Plan]] = field(default_factory=dict[int, tuple[Base, Plan]])
    sandbox: SqliteSandbox | None = None


def prepare(folder: str, digest: str) -> Service:
    """Load the world, or :class:`~envs.errors.WorldError`; ``digest`` tells versions apart."""
    DEADLINE.enabled = False  # a thread would end its process after each call
    return Service(load_world(folder))


def answer(service: Service, question: Question, descriptors: list[int]) -> SubprocessReply:
    """Run one call. Raises what the call raises in place."""
    if question.plan is not None:
        apsw.hard_heap_limit(HEAP_BYTES)
        limit_space(os.fstat(descriptors[0]).st_size + SPACE_BYTES)  # the file is mapped next
        service.templates[question.template] = (Base.at(descriptors[0]), question.plan)
    base, plan = service.templates[question.template]
    if question.state is not None:
        if service.sandbox is not None:
            service.sandbox.close()
        state = question.state
        service.sandbox = SqliteSandbox(
            Pages(base, state.own, state.size),
            plan,
            state.pins,
            unordered=state.unordered,
            alarm=_alarm,
        )
    sandbox = service.sandbox
    assert sandbox is not None, "a state comes with the first question"
    _bound_time(question.limits.statement_timeout_ms)
    sandbox.draw_from(question.position)
    toolbox = ASKING if question.call.name in ASKING else service.world.toolbox
    environment = DatabaseExecutableEnvironment(toolbox, sandbox, plan.tables, question.limits)
    with traced() if question.traced else nullcontext() as trace:
        outcome = environment.call(question.call)
    return SubprocessReply(outcome, *sandbox.take_kept(), () if trace is None else trace.statements)


def _alarm(seconds: float) -> None:
    """Die when a statement takes that long and some more; 0: never. Nobody handles the signal."""
    signal.setitimer(signal.ITIMER_REAL, 0 if seconds == 0 else max(seconds, 0) + GRACE_S)


def _bound_time(timeout_ms: int | None) -> None:
    """Bound this call's time on the processor: the count goes over the life of the process."""
    if timeout_ms is not None:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        spent = usage.ru_utime + usage.ru_stime
        limit(resource.RLIMIT_CPU, math.ceil(spent + STATEMENTS * timeout_ms / 1000) + 1)
