"""A corpus of calls as models get them wrong, each played through the whole loop on a real sandbox.

Each gives typed results, the next request is what the strictest endpoint takes, the rollout goes on
to its end, and the row goes through Parquet and replays the same.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from envs.sandboxes.base import Template
from envs.types import ToolCall
from envs.world.loader import World, load_world
from envs.world.template_cache import Templates
from synth.core.agent.memory import RAW_KEY
from synth.core.agent.rollout_result import AgentLimits
from synth.core.config.database import DatabaseConfig
from synth.core.dataset.arrow_schema import table
from synth.core.dataset.store.wire import decode, encode, to_values, to_wire
from synth.core.rerun.replay import differences
from synth.core.runner.setup import limits_of
from synth.core.tasks.families import FamilyTasks
from synth.core.validation.prove import prove
from synth.model import Completion, Model
from synth.plan import job
from synth.rollout import RolloutContext, play
from synth.task import Message, Task
from tests.unit import small_world
from tests.unit.agent.test_react import check_transcript
from tests.unit.scripted_model import Answering

HERE = Path(__file__).parent / "malformed"
GOOD = Completion(tool_calls=(ToolCall("good", "all_items", "{}"),), finish_reason="tool_calls")
DONE = Completion(content="Done.")


def corpus(name: str) -> Iterator[Any]:
    """The cases of a file, named by their group and place."""
    groups = yaml.safe_load((HERE / f"{name}.yaml").read_text("utf-8"))
    for group, cases in groups.items():
        for at, case in enumerate(cases):
            text = {"text": written(case["text"])} if "text" in case else {}
            yield pytest.param({"group": group, **case, **text}, id=f"{group}-{at}")


def written(value: Any) -> str:
    if isinstance(value, str):
        return value
    before, repeated, times, after = value["big"]
    return f"{before}{repeated * times}{after}"


NATIVE, AS_TEXT = list(corpus("native")), list(corpus("as_text"))


class Erring(Answering):
    """Says one wrong thing, then makes a good call, then answers; looks at each request as the
    strictest endpoint does.
    """

    def __init__(self, first: Completion) -> None:
        super().__init__(self._next)
        self.lines = [first, GOOD, DONE]
        self.requests: list[list[Message]] = []

    def _next(self, messages: Sequence[Message]) -> Completion:
        check_request(messages)
        self.requests.append([dict(each) for each in messages])
        return self.lines.pop(0)


def check_request(messages: Sequence[Message]) -> None:
    """Strict UTF-8 and JSON, ids and names in the plainest alphabet, objects as arguments, one
    result per call, in order.
    """
    check_transcript(messages)
    json.dumps(messages, ensure_ascii=False, allow_nan=False).encode("utf-8")
    for message in messages:
        if message["role"] == "tool":
            assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", message["name"])
        for call in message.get("tool_calls", []):
            assert re.fullmatch(r"[!-~]{1,64}", call["id"])
            assert call["type"] == "function"
            assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call["function"]["name"])
            assert len(json.dumps(call["function"]["arguments"])) < 2_000_000


@dataclass
class Ground:
    world: World
    template: Template
    task: Task
    templates: Templates

    def play(self, model: Model, **limits: Any) -> dict[str, Any]:
        """The row, as it comes out of Parquet's types, replayed to be the same."""
        calls = limits_of(DatabaseConfig())
        stage = RolloutContext(self.world, self.templates, model, calls, AgentLimits(**limits))
        encoded = encode(to_wire(asyncio.run(play(job(0, self.task, 1, 0), stage))))
        table([encoded])
        row = to_values(decode(encoded))
        style = stage.agent.error_style
        again = differences(row, self.task, self.world, self.template, calls, error_style=style)
        assert asyncio.run(again) == []
        return row


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Generator[Ground]:
    world = load_world(small_world.make(tmp_path_factory.mktemp("malformed") / "world"))
    with world.template() as template, Templates(world) as templates:
        task = asyncio.run(prove(FamilyTasks(world, template).task("price", 0, 0), world, template))
        yield Ground(world, template, task, templates)


def results(row: Mapping[str, Any]) -> list[Any]:
    return [each for each in row["events"] if each["event"] == "tool_result"]


def category(event: Mapping[str, Any]) -> str:
    result = event["result"]
    return (
        result["category"] if isinstance(result, dict) and result.get("status") == "error" else "ok"
    )


def test_the_corpus_is_large():
    assert len(NATIVE) >= 140
    assert len(AS_TEXT) >= 60


@pytest.mark.parametrize("case", NATIVE)
def test_a_native_call_that_is_wrong_gets_a_typed_result_and_the_rollout_goes_on(
    case: Any, ground: Ground
):
    entries = case.get("calls", [case])
    calls = [
        ToolCall(
            written(each.get("call", "a")),
            written(each.get("name", "find_items")),
            written(each["arguments"]),
        )
        for each in entries
    ]
    model = Erring(
        Completion(tool_calls=tuple(calls), finish_reason=case.get("finish", "tool_calls"))
    )
    row = ground.play(model)
    assert row["stop_reason"] == "user_ended"
    assert len(model.requests) == 3
    assert [category(each) for each in results(row)] == [
        *(each["expect"] for each in entries),
        "ok",
    ]
    emitted = row["events"][0]["tool_calls"]
    for call, entry in zip(calls, emitted, strict=True):
        kept = (
            json.loads(entry["escaped"])
            if "escaped" in entry
            else [entry["name"], entry["arguments"], entry["id"]]
        )
        assert kept == [call.name, call.arguments, call.id], (
            "the record keeps the emission to the letter"
        )
    if any(each["expect"] == "malformed_call" for each in entries):
        assert row["messages"][2 if row["messages"][0]["role"] == "system" else 1]["train"] is False


@pytest.mark.parametrize("case", [each for each in NATIVE if "arguments" in each.values[0]])
def test_arguments_are_mended_only_where_that_is_wanted_and_the_record_says_so(
    case: Any, ground: Ground
):
    call = ToolCall("a", written(case.get("name", "find_items")), written(case["arguments"]))
    row = ground.play(
        Erring(Completion(tool_calls=(call,), finish_reason="tool_calls")), repair=True
    )
    (result, _) = results(row)
    assert ("repaired" in result) is ("repaired" in case)
    if "repaired" in case:
        assert json.loads(result["repaired"]["arguments"]) == case["repaired"]
        assert category(result) in {"ok", "invalid_arguments"}
        (turn,) = [each for each in row["messages"] if each.get("train") is False]
        assert turn["tool_calls"][0]["function"]["arguments"] == case["repaired"]


@pytest.mark.parametrize("case", AS_TEXT)
def test_a_call_in_the_text_is_answered_by_what_is_wrong_with_it(case: Any, ground: Ground):
    model = Erring(Completion(content=written(case["text"])))
    row = ground.play(model)
    assert row["stop_reason"] == "user_ended"
    assert row["events"][0]["content"] == written(case["text"])
    if case.get("form") == "none":
        assert len(model.requests) == 1
        assert row["messages"][-1]["content"] == written(case["text"])
        return
    assert len(model.requests) == 3
    form = case.get("form", case["group"])
    assert [each["form"] for each in row["events"][0]["text_calls"]] == [form] * len(case["calls"])
    told = results(row)[:-1]
    assert [(category(each), each["by"], each["text_call"]) for each in told] == [
        ("malformed_call", "agent", form)
    ] * len(case["calls"])
    (turn,) = [each for each in row["messages"] if each.get("train") is False]
    assert all(set(each["function"]["arguments"]) == {RAW_KEY} for each in turn["tool_calls"])


@pytest.mark.parametrize("case", [each for each in AS_TEXT if each.values[0].get("form") != "none"])
def test_a_call_in_the_text_is_executed_where_that_is_wanted(case: Any, ground: Ground):
    row = ground.play(Erring(Completion(content=written(case["text"]))), text_calls="parse")
    wanted = case["calls"]
    told = results(row)[:-1]
    assert [each["name"] for each in row["events"][0]["text_calls"]] == [name for name, _ in wanted]
    assert [category(each) for each in told] == [
        what if isinstance(what, str) else "ok" for _, what in wanted
    ]
    assert not any("by" in each for each in told)
    (turn,) = [each for each in row["messages"] if each.get("train") is False]
    for call, (name, what) in zip(turn["tool_calls"], wanted, strict=True):
        if not isinstance(what, str):
            assert call["function"] == {"name": name, "arguments": what}


@pytest.mark.parametrize("case", AS_TEXT[::7])
def test_text_is_text_where_it_is_not_looked_at(case: Any, ground: Ground):
    row = ground.play(Erring(Completion(content=written(case["text"]))), text_calls="off")
    turns = [message for message in row["messages"] if message["role"] == "assistant"]
    # A text that asks something is answered by the user, and another turn follows.
    assert turns[0] == {"role": "assistant", "content": written(case["text"])}
    assert row["num_tool_calls"] == (1 if len(turns) > 1 else 0)


@pytest.mark.parametrize(
    "text", ["a\ud800b", "a\x00b", "x" * 10_000_000], ids=["surrogate", "nul", "huge"]
)
def test_text_that_breaks_readers_passes_or_stands_as_its_escape(text: str, ground: Ground):
    row = ground.play(
        Erring(Completion(content=text, tool_calls=GOOD.tool_calls, finish_reason="tool_calls"))
    )
    assert row["stop_reason"] == "user_ended"
    assert row["sanitized"] is (len(text) < 10)
    turn = next(each for each in row["messages"] if each["role"] == "assistant")
    assert turn.get("train", True) is not row["sanitized"]
