"""Databases as environments for agents: worlds, sandboxes, tools, diffs. Knows no model."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from envs.clock import now
    from envs.errors import ToolError
    from envs.tools.tool import Tool, tool
    from envs.types import ToolCall, ToolResult

_LAZY = {
    "Tool": "envs.tools.tool",
    "ToolCall": "envs.types",
    "ToolError": "envs.errors",
    "ToolResult": "envs.types",
    "now": "envs.clock",
    "tool": "envs.tools.tool",
}

__all__ = ["Tool", "ToolCall", "ToolError", "ToolResult", "now", "tool"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: errors are imported without the tools."""
    if name not in _LAZY:
        raise AttributeError(f"module 'envs' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_LAZY[name]), name)
    return value
