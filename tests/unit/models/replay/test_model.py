"""Completions through the record and back: to the letter, or a clear refusal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from envs.types import ToolCall, ToolOutcome, ToolResult
from synth.agent import ReactAgent
from synth.config import from_dict
from synth.core.agent.rollout_result import AgentLimits, AgentRun
from synth.core.dataset.sanitize import sanitize
from synth.core.models.emission import completion_event, completion_of, read_events
from synth.core.models.openai.wire import wire_message
from synth.core.models.replay.model import ReplayModel, ReplayOptions, make
from synth.core.models.replay.records import Records
from synth.core.runner.setup import model_identity
from synth.core.types.events import CompletionEvent, Usage
from synth.errors import (
    ContextOverflow,
    DatasetError,
    ModelError,
    ModelRefusedRequest,
    OperatorError,
)
from synth.ext.serving.known_rollouts import RecordedRolloutIndex, RecordedVoice
from synth.model import Completion, Conversation, Sampling, wire_seed
from synth.task import Message, Task
from synth.verdict import StopReason
from tests.sample_rows import row, write_run
from tests.unit.scripted_model import Lines

Json = Any
OPENING: Sequence[Message] = (
    {"role": "system", "content": "s"},
    {"role": "user", "content": "Find Zoë."},
)
TASK = Task(id="t", family="f", env="e", prompt="Find Zoë.", system="s", gold=[])
HOSTILE = "\ud800 and \x00"


def calling(*arguments: str, name: str = "find", **fields: Json) -> Completion:
    calls = tuple(ToolCall(f"c{at}", name, each) for at, each in enumerate(arguments))
    return Completion(tool_calls=calls, finish_reason="tool_calls", **fields)


EMITTED = (
    calling('{"name": "Zoë",}', "{'name': 1}", "", reasoning_content="Hm."),
    calling("{}", name="no such tool!", content="between"),
    calling(f'{{"name": "{HOSTILE}"}}', content=HOSTILE, reasoning_content=HOSTILE),
    Completion(
        tool_calls=(ToolCall("", "find", "{}"), ToolCall(HOSTILE, HOSTILE, HOSTILE)),
        finish_reason="odd",
    ),
    Completion(refusal="No.", finish_reason="stop"),
    Completion(content="x", usage=Usage(3, 0, None, 2), cost_usd=0.1 + 0.2, finish_reason="length"),
)


TOO_LONG = ContextOverflow("too long", False)


async def dispatch(call: ToolCall) -> ToolOutcome:
    result = ToolResult({"got": call.arguments})
    return ToolOutcome(call, result, result.content())


async def played(
    conversation: Conversation, opening: Sequence[Message] = OPENING, **limits: Json
) -> AgentRun:
    return await ReactAgent(conversation, dispatch, AgentLimits(**limits)).run(opening)


async def recorded(path: Path, *rollouts: Sequence[Completion], **columns: Json) -> Records:
    """A run's directory with a row for each rollout, seeds 1, 2, ..., all about one task."""
    rows: list[dict[str, Json]] = []
    for at, completions in enumerate(rollouts):
        run = await played(Lines(*completions, TOO_LONG))
        said = {
            "messages": sanitize(run.messages)[0],
            "events": sanitize(run.recorded_events)[0],
            "stop_reason": run.stop_reason,
            "task_id": TASK.id,
            "seed": at + 1,
            "provider_fields": [dict(each.provider) for each in run.completions],
        }
        rows.append(row(at, **(said | columns)))
    return Records(write_run(path, rows))


@pytest.mark.parametrize("completion", EMITTED)
def test_an_event_holds_a_completion_to_the_letter(completion: Completion):
    """After the way of all values into a dataset: made harmless, then JSON."""
    event = json.loads(json.dumps(sanitize(completion_event(completion).to_json())[0]))
    [read] = read_events([event])
    assert isinstance(read, CompletionEvent)
    assert completion_of(read) == completion


async def test_a_replayed_rollout_is_the_recorded_one(tmp_path: Path):
    tokens = {"token_ids": [[1, 2], []], "logprobs": [[-0.5, -0.0], []]}
    records = await recorded(
        tmp_path / "run", EMITTED[:2], **tokens, model="gpt-x", sampling={"temperature": 0.3}
    )
    assert (records.model, records.sampling, len(records)) == (
        "gpt-x",
        Sampling(temperature=0.3),
        1,
    )
    again = await played(ReplayModel(records).start(TASK, [], 1))
    live = await played(Lines(*EMITTED[:2], TOO_LONG))
    assert again.messages == live.messages
    assert again.recorded_events == live.recorded_events
    assert again.stop_reason == live.stop_reason == StopReason.CONTEXT_OVERFLOW
    assert [each.token_ids for each in again.completions] == [(1, 2), ()]
    assert [each.logprobs for each in again.completions] == [(-0.5, -0.0), ()]


async def test_what_no_reader_can_hold_is_said_again(tmp_path: Path):
    records = await recorded(tmp_path / "run", EMITTED[2:4])
    again = await played(ReplayModel(records).start(TASK, [], 1))
    assert [each.tool_calls for each in again.completions] == [
        each.tool_calls for each in EMITTED[2:4]
    ]
    assert again.completions[0].content == HOSTILE


async def test_a_rollout_that_is_not_there_is_refused_for_good(tmp_path: Path):
    records = await recorded(tmp_path / "run", [Completion(content="Hi.")])
    with pytest.raises(ModelRefusedRequest, match="task t under seed 7 is not there") as caught:
        await played(ReplayModel(records).start(TASK, [], 7))
    assert not caught.value.retryable


async def test_other_messages_than_the_recorded_ones_are_refused_with_the_difference(
    tmp_path: Path,
):
    records = await recorded(tmp_path / "run", [calling("{}"), Completion(content="Found.")])
    opening = [OPENING[0], {"role": "user", "content": "Find Ada."}]
    with pytest.raises(
        ModelRefusedRequest,
        match=r"before turn 0 .* shown user: Find Zoë\., .* shown user: Find Ada\.",
    ):
        await played(ReplayModel(records).start(TASK, [], 1), opening)
    conversation = ReplayModel(records).start(TASK, [], 1)
    messages = [*OPENING, {"role": "assistant", "content": ""}]
    await conversation.complete(OPENING)
    with pytest.raises(
        ModelRefusedRequest, match=r'before turn 1 .* tool: \{"got":"\{\}"\}, .* shown nothing more'
    ):
        await conversation.complete(messages)


async def test_wider_limits_than_the_recorded_ones_are_refused_with_their_name(tmp_path: Path):
    records = await recorded(tmp_path / "run", [calling("{}")], stop_reason="max_turns")
    with pytest.raises(
        ModelRefusedRequest, match=r"has 1 turns \(max_turns\), and one more is asked for"
    ):
        await played(ReplayModel(records).start(TASK, [], 1))
    assert (
        await played(ReplayModel(records).start(TASK, [], 1), max_turns=1)
    ).stop_reason == "max_turns"


async def test_rollouts_are_found_whichever_shard_they_are_in(tmp_path: Path):
    """More shards than are kept open, asked for back and forth."""
    rows: list[dict[str, Json]] = []
    for at in range(256 * 6):
        said = Completion(content=f"This is {at}.")
        messages = [*OPENING, {"role": "assistant", "content": said.content}]
        rows.append(
            row(
                at,
                messages=messages,
                events=[completion_event(said).to_json()],
                task_id="t",
                seed=at,
            )
        )
    model = ReplayModel(Records(write_run(tmp_path / "run", rows)))
    for at in (0, 1535, 300, 700, 1000, 1300, 1, 256, 0):
        completion = await model.start(TASK, [], at).complete(OPENING)
        assert completion.content == f"This is {at}."


@pytest.mark.parametrize("status", ["partial", "interrupted"])
async def test_a_run_that_never_finished_can_be_played_back(
    tmp_path: Path, status: Literal["partial", "interrupted"]
):
    said = Completion(content="Hi.")
    messages = [*OPENING, {"role": "assistant", "content": "Hi."}]
    made = row(0, messages=messages, events=[completion_event(said).to_json()], task_id="t", seed=1)
    model = ReplayModel(Records(write_run(tmp_path / "run", [made], jobs=3, status=status)))
    assert await model.start(TASK, [], 1).complete(OPENING) == said


async def test_a_row_whose_events_and_messages_do_not_fit_is_refused(tmp_path: Path):
    records = await recorded(tmp_path / "run", [Completion(content="Hi.")], events=[])
    with pytest.raises(ModelRefusedRequest, match="0 completions and 1 turns"):
        await ReplayModel(records).start(TASK, [], 1).complete(OPENING)


def test_no_recording_is_said_by_the_key_that_names_it(tmp_path: Path):
    with pytest.raises(ModelError, match=r"^model\.path: .*no_run does not exist"):
        make(ReplayOptions(str(tmp_path / "no_run")), Sampling(), None)
    with pytest.raises(DatasetError, match="holds no row"):
        Records(write_run(tmp_path / "empty", [], jobs=1, status="partial"))
    config = from_dict(
        {"env": {"name": "ehr_db"}, "model": {"kind": "replay", "path": str(tmp_path / "empty")}}
    )
    with pytest.raises(OperatorError, match=r"^model\.path: .*holds no row"):
        model_identity(config.model)


class TestRepertoire:
    """Who answers a request that does not say which rollout it is."""

    SAMPLES = (
        [calling("{}"), Completion(content="one")],
        [calling("{}"), Completion(content="two")],
        [Completion(content="three")],
    )

    @staticmethod
    async def answers(repertoire: RecordedRolloutIndex, **more: Json) -> str:
        """Play against it as a client would; the last words."""

        class Client(Conversation):
            async def complete(self, messages: Sequence[Message]) -> Completion:
                wire = [wire_message(each) for each in messages]
                return await repertoire({"model": "m", "messages": wire, **more})

        return (await played(Client())).said

    async def voices(self, path: Path) -> list[RecordedVoice]:
        records = await recorded(path, *self.SAMPLES, stop_reason="finished")
        return [RecordedVoice(records, key, opening) for key, opening in records.openings()]

    async def test_a_seed_says_which_sample_it_is(self, tmp_path: Path):
        repertoire = RecordedRolloutIndex(await self.voices(tmp_path / "run"))
        for _ in range(2):
            assert [await self.answers(repertoire, seed=wire_seed(at)) for at in (3, 1, 2)] == [
                "three",
                "one",
                "two",
            ]

    async def test_without_a_seed_each_sample_is_played_once_in_a_round(self, tmp_path: Path):
        repertoire = RecordedRolloutIndex(await self.voices(tmp_path / "run"))
        for _ in range(2):
            assert sorted([await self.answers(repertoire) for _ in range(3)]) == [
                "one",
                "three",
                "two",
            ]

    async def test_tools_tell_tasks_apart_that_open_alike(self, tmp_path: Path):
        tool = {"type": "function", "function": {"name": "find", "parameters": {}}}
        voices: list[RecordedVoice] = []
        for name, tools in (("with", [tool]), ("without", [])):
            records = await recorded(tmp_path / name, [Completion(content=name)], tools=tools)
            voices += [RecordedVoice(records, key, opening) for key, opening in records.openings()]
        repertoire = RecordedRolloutIndex(voices)
        for _ in range(2):
            assert await self.answers(repertoire, tools=[tool]) == "with"
            assert await self.answers(repertoire) == "without"

    async def test_what_nobody_knows_is_refused(self, tmp_path: Path):
        repertoire = RecordedRolloutIndex(await self.voices(tmp_path / "run"))
        user: Json = {"role": "user", "content": "Who are you?"}
        with pytest.raises(ModelRefusedRequest, match="no task that is served opens like this"):
            await repertoire({"messages": [user]})
        stranger = [*OPENING, {"role": "assistant", "content": "four"}, user]
        with pytest.raises(ModelRefusedRequest, match="not those of any served rollout"):
            await repertoire({"messages": stranger})
