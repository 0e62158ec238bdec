"""Execution metrics of the tools, from the calls in a dataset's rows: a call that was executed
twice and recorded once counts once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from envs.metrics import ExecutionMetrics

NO_TOOL: Final = "(no such tool)"
"""Name for calls of tools that do not exist; no tool can have it."""


@dataclass(slots=True)
class ToolExecutions:
    """Metrics per tool. Rows written before executions were recorded, and calls that never reached
    the world, do not count.
    """

    tools: dict[str, ExecutionMetrics] = field(default_factory=dict[str, ExecutionMetrics])

    def add(self, executions: Iterable[Mapping[str, Any] | str] | None) -> None:
        """Count the calls of a row, given as values or as JSON."""
        for item in executions or ():
            call = json.loads(item) if isinstance(item, str) else item
            tool = call["tool"] or NO_TOOL
            self.tools.setdefault(tool, ExecutionMetrics()).record(call["ms"], call["category"])

    def total(self) -> ExecutionMetrics:
        """Return the metrics of all tools together."""
        out = ExecutionMetrics()
        for metrics in self.tools.values():
            out.merge(metrics)
        return out

    def to_json(self) -> dict[str, object]:
        """Return the metrics by tool, in the order of their names; see
        :meth:`envs.metrics.ExecutionMetrics.to_json`.
        """
        return {name: self.tools[name].to_json() for name in sorted(self.tools)}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> ToolExecutions:
        """The inverse of :meth:`to_json`."""
        return cls({name: ExecutionMetrics.from_json(metrics) for name, metrics in raw.items()})
