"""How the tools of a dataset ran, from the calls that its rows keep: what was run twice and recorded once counts once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from envs.metrics import ExecutionMetrics

Json = Any

NO_TOOL: Final = "(no such tool)"
"""Stands for calls that named no tool of the world; no tool can be called that."""


@dataclass(slots=True)
class Executed:
    """Metrics per tool. Rows from before there were such columns, and calls that never reached the world, do not count."""

    tools: dict[str, ExecutionMetrics] = field(default_factory=dict[str, ExecutionMetrics])

    def add(self, executions: Iterable[Mapping[str, Json] | str] | None) -> None:
        """Count the calls of a row, as values or as JSON."""
        for each in executions or ():
            call = json.loads(each) if isinstance(each, str) else each
            tool = call["tool"] or NO_TOOL
            self.tools.setdefault(tool, ExecutionMetrics()).record(call["ms"], call["category"])

    def total(self) -> ExecutionMetrics:
        """Of all tools together."""
        out = ExecutionMetrics()
        for each in self.tools.values():
            out.merge(each)
        return out

    def to_json(self) -> dict[str, Json]:
        """By tool, the names in order: see :meth:`envs.metrics.ExecutionMetrics.to_json`."""
        return {name: self.tools[name].to_json() for name in sorted(self.tools)}

    @classmethod
    def from_json(cls, raw: Mapping[str, Json]) -> Executed:
        """The inverse of :meth:`to_json`."""
        return cls({name: ExecutionMetrics.from_json(each) for name, each in raw.items()})
