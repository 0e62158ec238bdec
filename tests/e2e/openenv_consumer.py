"""A consumer with OpenEnv's clients: plays recorded actions and prints what it was told as JSON.

The arguments are the environment's address and a file with the actions.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from openenv.core import CallToolAction, GenericEnvClient
from openenv.core.mcp_client import MCPToolClient


async def generic(url: str, actions: list[dict]) -> dict:
    async with GenericEnvClient(base_url=url) as env:
        begun = await env.reset(task=0)
        for action in actions:
            result = await env.step(action)
        state = await env.state()
    return {
        "task": begun.observation["task"],
        "reward": result.reward,
        "done": result.done,
        "steps": state["step_count"],
    }


async def by_tools(url: str, actions: list[dict]) -> dict:
    async with MCPToolClient(base_url=url) as env:
        await env.reset(task=0)
        names = [tool.name for tool in await env.list_tools()]
        for action in actions:
            name, arguments = action.get("tool"), action.get("arguments", {})
            if name is None:
                name, arguments = "reply_to_user", {"text": action["text"]}
            result = await env.step(CallToolAction(tool_name=name, arguments=arguments))
    return {"tools": names, "reward": result.reward, "done": result.done}


if __name__ == "__main__":
    address, steps = sys.argv[1], json.loads(Path(sys.argv[2]).read_text())
    print(json.dumps([asyncio.run(generic(address, steps)), asyncio.run(by_tools(address, steps))]))
