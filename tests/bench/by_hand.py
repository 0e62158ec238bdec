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
    said: Sequence[str] = (),
) -> Loop:
    """Bytes out and in; each message is encoded once, and a request is the join of what is
    there. ``said`` are the further words of the user.
    """
    head = json.dumps({"model": "m", "tools": list(tools)})[:-1].encode() + b', "messages": ['
    first = [json.dumps(each).encode() for each in opening]
    answers = [json.dumps({"role": "user", "content": words}).encode() for words in said]
    headers = {"Content-Type": "application/json", "Authorization": "Bearer key"}

    async def loop() -> None:
        messages, left = list(first), iter(answers)
        while True:
            data = head + b", ".join(messages) + b"]}"
            async with session.post(
                f"{url}/chat/completions", data=data, headers=headers
            ) as response:
                message = json.loads(await response.read())["choices"][0]["message"]
            messages.append(json.dumps(message).encode())
            calls = message.get("tool_calls") or ()
            if not calls:
                if (answer := next(left, None)) is None:
                    return
                messages.append(answer)
            for call in calls:
                content = tool(call["function"]["name"], call["function"]["arguments"])
                messages.append(
                    json.dumps(
                        {"role": "tool", "tool_call_id": call["id"], "content": content}
                    ).encode()
                )

    return loop


def over_openai(
    client: openai.AsyncOpenAI,
    opening: Sequence[Json],
    tools: Sequence[Json],
    tool: Tool,
    said: Sequence[str] = (),
) -> Loop:
    """As the package's documentation has it."""

    async def loop() -> None:
        messages, left = list(opening), iter(said)
        while True:
            completion = await client.chat.completions.create(
                model="m", messages=messages, tools=list(tools)
            )
            message = completion.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                if (words := next(left, None)) is None:
                    return
                messages.append({"role": "user", "content": words})
            for call in message.tool_calls or ():
                function: Any = call.function  # pyright: ignore[reportAttributeAccessIssue]
                content = tool(function.name, function.arguments)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})

    return loop
