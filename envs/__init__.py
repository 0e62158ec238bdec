"""Databases as environments for agents: worlds, sandboxes, tools, row-level diffs. Knows no model."""

from envs.clock import now
from envs.errors import ToolError
from envs.tool import Tool, tool
from envs.types import ToolCall, ToolResult

__all__ = ["Tool", "ToolCall", "ToolError", "ToolResult", "now", "tool"]
