"""Every wrong call, odd answer and reason to end, over real HTTP, in one run with 64 rollouts at
once.

The endpoint looks at each request as the strictest one does and refuses for good what such a one
would refuse: a rollout that was refused has no row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from envs.types import ToolCall
from synth.core.dataset.reader import Dataset
from synth.errors import ModelRefusedRequest
from synth.ext.serving.openai_server import Fault
from synth.model import Completion
from tests.e2e.command import synth
from tests.e2e.expert_endpoint import endpoint
from tests.e2e.wire_forms import NO_ROW, Form, forms
from tests.unit import small_world
from tests.unit.agent.test_malformed import NATIVE, category, results, written

GOOD = Completion(
    tool_calls=(ToolCall("good", "find_items", '{"name": "Chair"}'),),
    content="",
    finish_reason="tool_calls",
)
DONE = Completion(content="Done.")
UNUSABLE = "the endpoint gave {} to 3 first requests"
LONGEST = 200_000
"""Characters of a case that is streamed: a stream has sixteen in each event."""

TASKS = """
now: "2026-03-02T09:00:00"
families:
- id: price
  ground: {key: item_id, sql: "SELECT item_id, name FROM items WHERE name LIKE 'Case %'"}
  user: {says: ["What does {name} cost?"]}
  answer: {price: {type: number, description: The price.}}
  oracle: {price: "SELECT price FROM items WHERE item_id = :item_id"}
  gold:
  - find_items: {name: "{name}"}
    save: {price: "$.items[0].price"}
  - submit: {price: $price}
  - say: "It costs {price}."
"""


@dataclass(frozen=True)
class Case:
    """What the endpoint says first, and what is to become of it. ``requests`` is how often it is
    asked.
    """

    name: str
    first: Completion | Form
    results: Sequence[str]
    stop: str
    requests: int


def cases(*, stream: bool) -> list[Case]:
    out: list[Case] = []
    for each in NATIVE:
        case: Any = each.values[0]
        entries = case.get("calls", [case])
        calls = [
            ToolCall(
                written(one.get("call", "a")),
                written(one.get("name", "find_items")),
                written(one["arguments"]),
            )
            for one in entries
        ]
        if stream and sum(len(one.arguments) + len(one.name) for one in calls) > LONGEST:
            continue
        said = Completion(tool_calls=tuple(calls), finish_reason=case.get("finish", "tool_calls"))
        out.append(
            Case(str(each.id), said, [*(one["expect"] for one in entries), "ok"], "finished", 3)
        )
    for name, form in forms(stream=stream).items():
        told = [*form.results, "ok"] if form.results else []
        out.append(Case(name, form, told, form.stop, 3 if told else 1))
    return out


class Wrong:
    """Says each case's first turn, then makes a good call, then answers."""

    def __init__(self, asked: Sequence[Case]) -> None:
        self.cases = asked
        self.requests = [0] * len(asked)

    def case_of(self, request: Mapping[str, Any]) -> int:
        opening = next(each["content"] for each in request["messages"] if each["role"] == "user")
        found = re.search(r"Case (\d+)", opening)
        assert found is not None
        return int(found[1])

    async def __call__(self, request: dict[str, Any]) -> Completion:
        at, turns = self.case_of(request), 0
        self.requests[at] += 1
        due: list[str] = []
        for message in request["messages"]:
            if message["role"] == "tool":
                if message["tool_call_id"] != due.pop(0):
                    raise ModelRefusedRequest("results stand in the order of their calls")
            elif message["role"] == "assistant":
                turns += 1
                due = [each["id"] for each in message.get("tool_calls") or ()]
                for each in message.get("tool_calls") or ():
                    if not isinstance(json.loads(each["function"]["arguments"]), dict):
                        raise ModelRefusedRequest("arguments are an object")
        first = self.cases[at].first
        assert isinstance(first, Completion) or turns
        return (first, GOOD, DONE)[turns]  # pyright: ignore[reportReturnType]

    async def odd(self, request: web.Request) -> Fault | None:
        """The answers that no completion can be, in its place."""
        if not request.path.endswith("/chat/completions"):
            return None
        asked = json.loads(await request.read())
        at = self.case_of(asked)
        first = self.cases[at].first
        if isinstance(first, Completion) or any(
            each["role"] == "assistant" for each in asked["messages"]
        ):
            return None
        self.requests[at] += 1
        kind = "text/event-stream" if first.streamed else "application/json"
        return Fault(headers={"Content-Type": kind}, body=(first.raw,))


def world(home: Path, count: int) -> Path:
    folder = small_world.make(home / "world")
    more = "".join(
        f"INSERT INTO items (item_id, name, price) VALUES ({at + 10}, 'Case {at:04}.', {at});\n"
        for at in range(count)
    )
    (folder / "seed.sql").write_text((folder / "seed.sql").read_text() + more)
    (folder / "tasks.yaml").write_text(TASKS)
    return folder  # fmt: skip


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_every_wrong_call_comes_to_its_typed_end(tmp_path: Path, stream: bool):
    asked = cases(stream=stream)
    assert len(asked) > 200
    model = Wrong(asked)
    with endpoint(model, model.odd) as url:
        done = synth(
            *(
                "run",
                f"env.path={world(tmp_path, len(asked))}",
                f"tasks.count={len(asked)}",
                "output.dir=out",
            ),
            *(
                "model=openai",
                "model.name=expert",
                "model.api_key_env=null",
                f"model.base_url={url}",
            ),
            *(
                "runtime=inline",
                "runtime.concurrency=64",
                "users=none",
                "preflight=false",  # each wrong answer belongs to one rollout
                "model.max_retries=0",
                f"model.stream={stream}",
            ),
            cwd=tmp_path,
        )
    unusable = [case for case in asked if case.stop == NO_ROW]
    assert len(unusable) == (12 if stream else 13)
    errors = Dataset.open(tmp_path / "out").errors()
    assert {error["message"] for error in errors} == {
        UNUSABLE.format("a malformed answer (tool_calls)"),
        UNUSABLE.format("a malformed answer (function_call)"),
        UNUSABLE.format("a tool call without a name"),
    }
    assert done.returncode == 3, done.stdout[-2000:] + done.stderr[-2000:]
    wrong: list[str] = []
    rows = list(Dataset.open(tmp_path / "out").rows())
    assert len(rows) == len(asked) - len(unusable)
    for row in rows:
        at = model.case_of(row)
        case = asked[at]
        found = ([category(each) for each in results(row)], row["stop_reason"], model.requests[at])
        if found != (list(case.results), case.stop, case.requests):
            wrong.append(
                f"{case.name}: {found}, not {(list(case.results), case.stop, case.requests)}"
            )
    assert wrong == []
    again = synth("replay", "out", cwd=tmp_path)
    assert again.returncode == 0, again.stdout[-2000:]
