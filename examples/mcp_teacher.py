"""A teacher of your own: a model behind any OpenAI-compatible endpoint plays what `synth mcp` serves.

    export MCP_TOKEN=$(openssl rand -hex 16)
    synth mcp ehr_db --http --port 8765 --count 16 --record out/played --token-env MCP_TOKEN
    python examples/mcp_teacher.py http://127.0.0.1:8765/mcp/teacher gpt-4.1-mini 16

Put your own agent in the place of `play`: whatever it does with the tools is recorded.
"""

import asyncio
import json
import os
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from openai import AsyncOpenAI


async def play(client: Client, endpoint: AsyncOpenAI, model: str) -> None:
    """Work on one task, until the user has nothing to add."""
    policy = (await client.read_resource("synth://policy")).contents[0].text
    task = (await client.get_prompt("task")).messages[0].content.text
    messages = [{"role": "system", "content": policy}, {"role": "user", "content": task}]
    offered = [tool for tool in (await client.list_tools()).tools if tool.name != "reply_to_user"]
    tools = [
        {
            "type": "function",
            "function": {
                "name": t.name,
                "description": t.description,
                "parameters": t.input_schema,
            },
        }
        for t in offered
    ]
    while True:
        answer = await endpoint.chat.completions.create(model=model, messages=messages, tools=tools)
        message = answer.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls or ():
            arguments = json.loads(call.function.arguments)
            result = await client.call_tool(call.function.name, arguments)
            text = result.content[0].text
            messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
        if not message.tool_calls:  # words go to the user, whose answer goes on
            result = await client.call_tool("reply_to_user", {"text": message.content})
            messages.append({"role": "user", "content": result.content[0].text})
        if (result.meta or {}).get("synth/session-over"):
            return


async def main(url: str, model: str, tasks: int) -> None:
    """Play so many tasks, one after another; getting the prompt starts the next."""
    headers = {"Authorization": f"Bearer {os.environ['MCP_TOKEN']}"}
    async with (
        AsyncOpenAI() as endpoint,
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
    ):
        for _ in range(tasks):
            async with Client(streamable_http_client(url, http_client=http)) as client:
                await play(client, endpoint, model)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
