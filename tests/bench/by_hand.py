"""What is written by hand where no framework is wanted: a loop of calls and one small SQLite tool,
and nothing else.

No sandbox of its own, no guard, no limit, no validation, no verification, no record: the floor that
a rollout is measured against.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import aiohttp
import openai

Json = Any
Loop = Callable[[], Awaitable[None]]
PEOPLE = 1_000


class Tool:
    """One indexed query of the standard library's driver, on a database that all share."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:")
        self._db.execute(
            "CREATE TABLE patients (patient_id INTEGER PRIMARY KEY, name TEXT NOT NULL, status"
            " TEXT NOT NULL)"
        )
        rows = ((at, f"Patient {at}", "active") for at in range(PEOPLE))
        self._db.executemany("INSERT INTO patients VALUES (?, ?, ?)", rows)

    def __call__(self, name: str, arguments: str) -> str:
        patient = json.loads(arguments).get("patient_id", 7) % PEOPLE
        found = self._db.execute(
            "SELECT patient_id, name, status FROM patients WHERE patient_id = ?", (patient,)
        )
        return json.dumps({"tool": name, "rows": [list(row) for row in found]})


def over_aiohttp(
    session: aiohttp.ClientSession,
    url: str,
    opening: Sequence[Json],
    tools: Sequence[Json],
    tool: Tool,
) -> Loop:
    """Bytes out and in; each message is encoded once, and a request is the join of what is
    there.
    """
    head = json.dumps({"model": "m", "tools": list(tools)})[:-1].encode() + b', "messages": ['
    first = [json.dumps(each).encode() for each in opening]
    headers = {"Content-Type": "application/json", "Authorization": "Bearer key"}

    async def loop() -> None:
        messages = list(first)
        while True:
            data = head + b", ".join(messages) + b"]}"
            async with session.post(
                f"{url}/chat/completions", data=data, headers=headers
            ) as response:
                message = json.loads(await response.read())["choices"][0]["message"]
            messages.append(json.dumps(message).encode())
            calls = message.get("tool_calls")
            if not calls:
                return
            for call in calls:
                content = tool(call["function"]["name"], call["function"]["arguments"])
                messages.append(
                    json.dumps(
                        {"role": "tool", "tool_call_id": call["id"], "content": content}
                    ).encode()
                )

    return loop


def over_openai(
    client: openai.AsyncOpenAI, opening: Sequence[Json], tools: Sequence[Json], tool: Tool
) -> Loop:
    """As the package's documentation has it."""

    async def loop() -> None:
        messages = list(opening)
        while True:
            completion = await client.chat.completions.create(
                model="m", messages=messages, tools=list(tools)
            )
            message = completion.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return
            for call in message.tool_calls:
                function: Any = call.function  # pyright: ignore[reportAttributeAccessIssue]
                content = tool(function.name, function.arguments)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})

    return loop
