"""``faults``: makes some tool calls fail as real databases occasionally do, so that a dataset
teaches recovery.

A fault is visible to the agent: an error in the engine's own words, or a wait; never a stale, an
empty or a wrong result. The call has no effect (a slow one has its full effect) and does not reach
the environment, so that replay, grading and verification are the same as without faults. The
schedule of faults follows from the job's seed and the call's position alone, so that it is the same
on every engine. The same call is hit at most ``max_in_row`` times in a row, so that a retry
succeeds.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

from envs.tools.toolbox import parse_arguments
from envs.types import ErrorCategory, ToolCall, ToolOutcome, ToolResult
from synth.core.agent.state import AgentState
from synth.core.foundation.hashing import canonical, derive_seed
from synth.core.tasks.yaml.words import SUBMIT
from synth.ext.middlewares import FaultsConfig
from synth.middleware import (
    AgentMiddleware,
    Execute,
    MiddlewareHome,
    MiddlewareInstance,
    ToolAnswer,
)
from synth.plugins import extension

AGAIN = "nothing was changed; try the same call again"
LOST = "the connection to the database failed"


def _says(category: ErrorCategory, message: str, state: str | None) -> ToolResult:
    return ToolResult.failure(
        message, category=category, error="OperationalError", sql_state=state, advice=AGAIN
    )


_TIMEOUT, _DEADLOCK, _LOST = (
    ErrorCategory.TIMEOUT,
    ErrorCategory.DEADLOCK,
    ErrorCategory.CONNECTION_ERROR,
)
_MYSQL_DEADLOCK = "Deadlock found when trying to get lock; try restarting transaction"

FAULTS: Mapping[str, Mapping[str, ToolResult]] = {
    "sqlite": {
        "lock_timeout": _says(_TIMEOUT, "database is locked", "SQLITE_BUSY"),
        "deadlock": _says(_TIMEOUT, "database table is locked", "SQLITE_LOCKED"),
        "serialization_failure": _says(_TIMEOUT, "database is locked", "SQLITE_BUSY_SNAPSHOT"),
        "connection_dropped": _says(_LOST, LOST, "SQLITE_IOERR"),
        "service_unavailable": _says(_LOST, LOST, "SQLITE_CANTOPEN"),
    },
    "postgresql": {
        "lock_timeout": _says(_TIMEOUT, "canceling statement due to lock timeout", "55P03"),
        "deadlock": _says(_DEADLOCK, "deadlock detected", "40P01"),
        "serialization_failure": _says(
            _DEADLOCK, "could not serialize access due to concurrent update", "40001"
        ),
        "connection_dropped": _says(_LOST, LOST, "57P01"),
        "service_unavailable": _says(_LOST, LOST, "53300"),
    },
    "mysql": {
        "lock_timeout": _says(
            _TIMEOUT, "Lock wait timeout exceeded; try restarting transaction", "HY000"
        ),
        "deadlock": _says(_DEADLOCK, _MYSQL_DEADLOCK, "40001"),
        "serialization_failure": _says(_DEADLOCK, _MYSQL_DEADLOCK, "40001"),
        "connection_dropped": _says(_LOST, LOST, "HY000"),
        "service_unavailable": _says(_LOST, LOST, "08004"),
    },
}
"""Messages by engine and kind, as :mod:`envs.sql_errors` derives them from the drivers' errors;
tests provoke them on the real servers and compare. SQLite has one lock for everything, and MySQL
reports a serialization failure as a deadlock.
"""


def said_by(engine: str, kind: str) -> ToolResult:
    """Return an engine's words for a fault; MariaDB's are MySQL's."""
    return FAULTS["mysql" if engine == "mariadb" else engine][kind]


SLOW = "slow"


@dataclass(frozen=True, slots=True)
class _Due:
    """A call that may be hit: ``place`` is its index among such calls, from 0."""

    place: int
    key: str
    arguments: Mapping[str, object]


class FaultInjectionMiddleware(AgentMiddleware):
    """Injects the faults of one rollout."""

    name = "faults"

    def __init__(self, options: FaultsConfig, engine: str) -> None:
        self._options, self._engine = options, engine
        self._places = self._injected = 0
        self._due: dict[str, _Due] = {}
        self._attempts: dict[str, int] = {}
        self._in_row: dict[str, int] = {}

    async def before_tool_call(self, agent: AgentState, call: ToolCall) -> ToolResult | None:
        """Number the call. Invalid calls never reach a database and are not counted."""
        info, only = agent.tools.get(call.name), self._options.tools
        if (
            info is None
            or info.own
            or call.name == SUBMIT
            or (only is not None and call.name not in only)
        ):
            return None  # handing in an answer asks no database
        arguments = parse_arguments(call.arguments)
        if isinstance(arguments, ToolResult) or agent.check(call) is not None:
            return None
        self._due[call.id] = _Due(self._places, canonical([call.name, arguments]), arguments)
        self._places += 1
        return None

    async def around_tool_call(
        self, agent: AgentState, call: ToolCall, execute: Execute
    ) -> ToolAnswer:
        due = self._due.get(call.id)
        kind = None if due is None else self._drawn(agent.seed, call.id, due)
        if due is None or kind is None:
            return await execute()
        note = {"fault": {"kind": kind, "place": due.place}}
        if kind == SLOW:
            await asyncio.sleep(self._options.slow_s)
            answered = await execute()
            return replace(answered, notes={**answered.notes, **note})
        result = said_by(self._engine, kind)
        outcome = ToolOutcome(call, result, result.content(), due.arguments)
        return ToolAnswer(outcome, result.content(agent.limits.error_style), self.name, note)

    def _drawn(self, seed: int, call_id: str, due: _Due) -> str | None:
        """Draw the kind of fault that hits this attempt at a call, or None; an outer middleware may
        attempt it again.
        """
        attempt = self._attempts.get(call_id, 0)
        self._attempts[call_id] = attempt + 1
        options, row = self._options, self._in_row.get(due.key, 0)
        chance = random.Random(derive_seed(seed, "fault", due.place, attempt))
        hit, kind = chance.random() < options.rate, chance.choice(list(options.kinds))
        if not hit or row >= options.max_in_row or self._injected >= options.max_per_rollout:
            self._in_row[due.key] = 0
            return None
        self._injected += 1
        self._in_row[due.key] = 0 if kind == SLOW else row + 1
        return kind


@extension(FaultsConfig)
def make(options: FaultsConfig, home: MiddlewareHome) -> MiddlewareInstance:
    """Build the middleware that ``faults`` names."""
    return MiddlewareInstance(lambda: FaultInjectionMiddleware(options, home.engine))
