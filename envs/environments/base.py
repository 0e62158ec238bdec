"""Contract of every environment."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from envs.closing import Closing
from envs.tools.tool import Tool
from envs.types import ToolCall, ToolOutcome


class BaseEnvironment(Closing):
    """A world alive, for one rollout.

    It is single-use: opened, called, closed; there is no reset. A call never raises for what the
    model did: a malformed call, an unknown tool and a refused statement are results. It raises
    :class:`~envs.errors.ExecutorError` for a bug of the world's author and
    :class:`~envs.errors.SandboxError` for broken infrastructure.
    """

    in_place: bool = True
    """True where a call takes microseconds in this process: an event loop may run it inline."""

    concurrent_reads: bool = False
    """True where calls of tools that only read may overlap, each on a connection of its own."""

    def inline(self, tool: str) -> bool:
        """True if a call of this tool is short enough to run inline."""
        return self.in_place

    @property
    @abstractmethod
    def tools(self) -> Sequence[Tool]:
        """The tools, in the order in which a model is shown them."""

    @abstractmethod
    def call(self, call: ToolCall) -> ToolOutcome:
        """Execute one tool call."""
