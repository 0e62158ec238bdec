"""Every wrong call over real HTTP, in one run with 64 rollouts at once.

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

from envs.types import ToolCall
from synth.core.dataset.reader import Dataset
from synth.errors import ModelRefusedRequest
from synth.model import Completion
from tests.e2e.command import synth
from tests.e2e.expert_endpoint import endpoint
from tests.unit import small_world
from tests.unit.agent.test_malformed import NATIVE, category, results, written

GOOD = Completion(
    tool_calls=(ToolCall("good", "find_items", '{"name": "Chair"}'),),
    content="",
    finish_reason="tool_calls",
)
DONE = Completion(content="Done.")

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
    """What the endpoint says first, and what its calls are to come to."""

    name: str
    first: Completion
    results: Sequence[str]


def cases() -> list[Case]:
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
        said = Completion(tool_calls=tuple(calls), finish_reason=case.get("finish", "tool_calls"))
        out.append(Case(str(each.id), said, [*(one["expect"] for one in entries), "ok"]))
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
        return (self.cases[at].first, GOOD, DONE)[turns]


def world(home: Path, count: int) -> Path:
    folder = small_world.make(home / "world")
    more = "".join(
        f"INSERT INTO items (item_id, name, price) VALUES ({at + 10}, 'Case {at:04}.', {at});\n"
        for at in range(count)
    )
    (folder / "seed.sql").write_text((folder / "seed.sql").read_text() + more)
    (folder / "tasks.yaml").write_text(TASKS)
    return folder  # fmt: skip


def test_every_wrong_call_comes_to_its_typed_end(tmp_path: Path):
    asked = cases()
    model = Wrong(asked)
    with endpoint(model) as url:
        synth(
            *("run", f"env.path={world(tmp_path, len(asked))}", f"tasks.count={len(asked)}"),
            *("model=openai", "model.name=expert", "model.api_key_env=null"),
            *(f"model.base_url={url}", "model.max_retries=0", "preflight=false"),
            *("runtime=inline", "runtime.concurrency=64", "users=none", "output.dir=out"),
            cwd=tmp_path,
        )
    wrong: list[str] = []
    rows = list(Dataset.open(tmp_path / "out").rows())
    assert len(rows) == len(asked)
    for row in rows:
        at = model.case_of(row)
        found = ([category(each) for each in results(row)], row["stop_reason"], model.requests[at])
        due = (list(asked[at].results), "finished", 3)
        if found != due:
            wrong.append(f"{asked[at].name}: {found}, not {due}")
    assert wrong == []
    synth("replay", "out", cwd=tmp_path)
