"""``logging``: writes the steps of rollouts as lines of JSON, correlated by run, worker, job,
rollout and step.

The lines go to ``logs/`` of the run's directory, one file per worker, or to the standard logger
``synth.agent`` if the worker cannot reach that directory. A log is not part of the data: it
contains times. Secrets are hidden: those that the run knows, and anything that looks like one.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from io import TextIOWrapper

from envs.types import ToolCall, ToolResult
from synth.core.agent.state import AgentState
from synth.core.foundation.credentials import redact
from synth.ext.middlewares import LoggingConfig
from synth.middleware import (
    AgentMiddleware,
    Ask,
    Execute,
    MiddlewareHome,
    MiddlewareMaker,
    ToolAnswer,
)
from synth.model import Completion
from synth.plugins import extension

CLIPPED = 2_000
"""Maximum number of characters that are logged of one text."""

_log = logging.getLogger("synth.agent")


class _LoggingMiddleware(AgentMiddleware):
    """Logs one rollout."""

    def __init__(self, book: _LogBook, level: str, contents: bool) -> None:
        self._book, self._debug, self._contents = book, level == "debug", contents
        self._began = time.monotonic()

    async def agent_start(self, agent: AgentState) -> None:
        self._write(
            agent, "rollout_start", tools=list(agent.tools) if self._debug else len(agent.tools)
        )

    async def around_llm_call(self, agent: AgentState, ask: Ask) -> Completion:
        began = time.monotonic()
        if self._debug:
            self._write(
                agent,
                "llm_call",
                messages=len(agent.memory.context),
                prompt_tokens=agent.memory.prompt_tokens,
            )
        try:
            completion = await ask()
        except Exception as error:
            self._write(
                agent, "llm_error", ms=_ms(began), error=type(error).__name__, message=str(error)
            )
            raise
        usage = completion.usage
        self._write(
            agent,
            "llm_answer",
            ms=_ms(began),
            finish=completion.finish_reason,
            calls=len(completion.tool_calls),
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            **({"content": completion.content} if self._contents else {}),
        )
        return completion

    async def before_tool_call(self, agent: AgentState, call: ToolCall) -> ToolResult | None:
        if self._debug:
            self._write(
                agent, "tool_call", id=call.id, name=call.name, characters=len(call.arguments)
            )
        return None

    async def around_tool_call(
        self, agent: AgentState, call: ToolCall, execute: Execute
    ) -> ToolAnswer:
        began = time.monotonic()
        answered = await execute()
        if self._debug:
            self._write(agent, "tool_executed", id=call.id, name=call.name, ms=_ms(began))
        return answered

    async def after_tool_call(self, agent: AgentState, answered: ToolAnswer) -> ToolAnswer:
        call, result = answered.outcome.call, answered.outcome.result
        contents = (
            {"arguments": call.arguments, "content": answered.content} if self._contents else {}
        )
        changed = len(answered.outcome.changes)
        fields = {
            "id": call.id,
            "name": call.name,
            "ok": result.ok,
            "category": result.category,
            "by": answered.by,
        }
        self._write(agent, "tool_result", **fields, rows_changed=changed, **contents)
        return answered

    async def agent_finish(self, agent: AgentState) -> None:
        error, usage = agent.error, agent.run.usage
        self._write(
            agent,
            "rollout_end",
            ms=_ms(self._began),
            stop_reason=agent.run.stop_reason,
            error=None if error is None else f"{type(error).__name__}: {error}",
            turns=len(agent.run.completions),
            tool_calls=len(agent.run.outcomes),
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
        )
        self._book.flush()

    def _write(self, agent: AgentState, event: str, **fields: object) -> None:
        where = {"job": agent.job_index, "rollout": agent.rollout_id, "step": agent.step}
        self._book.write({"event": event, **where, **fields})


def _ms(began: float) -> float:
    return round((time.monotonic() - began) * 1000, 1)


class _LogBook(MiddlewareMaker):
    """A worker's log, of bounded size and without secrets."""

    def __init__(self, options: LoggingConfig, home: MiddlewareHome) -> None:
        self._level, self._contents = options.level, options.contents
        self._left: int = options.max_mb * 1_000_000
        self._about = {"run": home.run_id, "worker": home.worker}
        self._hide_known = home.hide
        self._file: TextIOWrapper | None = None
        if home.run_dir is not None:
            folder = home.run_dir / "logs"
            folder.mkdir(exist_ok=True)
            self._file = (folder / f"agent-{home.worker}.jsonl").open(
                "a", encoding="utf-8", errors="backslashreplace"
            )

    def start(self) -> AgentMiddleware:
        return _LoggingMiddleware(self, self._level, self._contents)

    def write(self, entry: Mapping[str, object]) -> None:
        """Append a line while there is space; the last line says that the log is full."""
        if self._left <= 0:
            return
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        shown = {key: self._clip(value) for key, value in entry.items()}
        line = self._hide(json.dumps({"at": time, **self._about, **shown}, default=str))
        self._left -= len(line) + 1
        if self._left <= 0:
            line = json.dumps({"at": time, **self._about, "event": "log_full"})
        if self._file is None:
            _log.info(line)
        else:
            self._file.write(f"{line}\n")

    def _clip(self, value: object) -> object:
        """Shorten a long text, with its secrets hidden first: half of one would not be found."""
        return (
            f"{self._hide(value)[:CLIPPED]}..."
            if isinstance(value, str) and len(value) > CLIPPED
            else value
        )

    def _hide(self, text: str) -> str:
        return redact(self._hide_known(text))

    def flush(self) -> None:
        if self._file is not None:
            self._file.flush()

    async def aclose(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


@extension(LoggingConfig)
def make(options: LoggingConfig, home: MiddlewareHome) -> MiddlewareMaker:
    """Build the middleware that ``logging`` names."""
    return _LogBook(options, home)
