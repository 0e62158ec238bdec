"""The loop: one result per call in order, malformed calls as data, and always a reason why it
stopped.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from envs.tools.tool import Tool
from envs.tools.toolbox import Toolbox
from envs.types import ToolCall, ToolOutcome, ToolResult
from synth.agent import FIRST_ANSWER_TRIES, ReactAgent
from synth.core.agent.memory import RAW_KEY, UNNAMED
from synth.core.agent.rollout_result import AgentLimits, AgentRun
from synth.core.types.events import Usage
from synth.errors import ContextOverflow, ModelError
from synth.model import MALFORMED, Completion, Conversation, OnDelta
from synth.task import Message
from synth.verdict import StopReason
from tests.unit.scripted_model import Lines

OPENING: list[Message] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Who is Zoë?"},
]
FIND = Tool(
    "find",
    "Find.",
    {"type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": False},
    lambda arguments, _db: ToolResult({"found": arguments.get("name")}),
)
BOX = Toolbox([FIND])


NO_ANSWERS = (
    ContextOverflow("too long", False, 400),
    Completion(),
    Completion(content=" \n"),
    Completion(content="\u200b\ufeff"),
    Completion(content="<think>\nWhich order?\n</think>\n"),
    Completion(content="Which order?\n</think>\n"),
    Completion(content="<|im_end|>"),
    Completion(reasoning_content="Hm."),
    Completion(finish_reason="length"),
    Completion(content="I will look.", finish_reason=MALFORMED),
)


class Silence(Conversation):
    """Never answers."""

    async def complete(
        self, messages: Sequence[Message], on_delta: OnDelta | None = None
    ) -> Completion:
        await asyncio.Event().wait()
        raise AssertionError


async def dispatch(call: ToolCall) -> ToolOutcome:
    parsed = BOX.parse(call)
    if isinstance(parsed, ToolResult):
        return ToolOutcome(call, parsed, parsed.content())
    result = parsed[0].executor(parsed[1], None)
    return ToolOutcome(call, result, result.content(), parsed[1])


def calls(*each: tuple[str, str, str], **fields: Any) -> Completion:
    return Completion(
        tool_calls=[ToolCall(*one) for one in each], **{"finish_reason": "tool_calls", **fields}
    )


def find(call_id: str, name: str = "Zoë") -> tuple[str, str, str]:
    return call_id, "find", json.dumps({"name": name}, ensure_ascii=False)


DONE = Completion(content="Done.")


async def play(conversation: Conversation, **limits: Any) -> AgentRun:
    run = await ReactAgent(conversation, dispatch, AgentLimits(**limits)).run(OPENING)
    check_transcript(run.messages)
    return run


def check_transcript(messages: Sequence[Message]) -> None:
    """What every endpoint demands of a history: each call has one result, in order, and nothing
    else has.
    """
    due: list[str] = []
    seen: set[str] = set()
    for message in messages:
        assert isinstance(message["content"], str)
        if message["role"] == "tool":
            assert message["tool_call_id"] == due.pop(0)
            continue
        assert not due
        for call in message.get("tool_calls", []):
            assert isinstance(call["function"]["arguments"], dict)
            assert call["id"]
            assert call["id"] not in seen
            seen.add(call["id"])
            due.append(call["id"])
    assert not due


class TestStopReasons:
    async def test_a_turn_without_calls_ends_it(self):
        model = Lines(calls(find("a")), DONE)
        run = await play(model)
        assert run.stop_reason is StopReason.FINISHED
        assert [each["role"] for each in run.messages] == [
            "system",
            "user",
            "assistant",
            "tool",
            "assistant",
        ]
        assert run.messages[3] == {
            "role": "tool",
            "tool_call_id": "a",
            "name": "find",
            "content": '{"found":"Zoë"}',
        }
        assert model.shown[1] == run.messages[:4], "the model sees exactly what is kept"
        assert not any("train" in each for each in run.messages)

    @pytest.mark.parametrize("line", NO_ANSWERS)
    async def test_before_the_first_answer_what_is_none_is_asked_again(
        self, line: Completion | Exception
    ):
        run = await play(Lines(line, line, calls(find("a")), DONE))
        assert run.stop_reason is StopReason.FINISHED
        assert len(run.completions) == 2
        assert len(run.side) == (0 if isinstance(line, Exception) else 2)
        assert [message["role"] for message in run.messages][2:] == [
            "assistant",
            "tool",
            "assistant",
        ]

    @pytest.mark.parametrize("line", NO_ANSWERS)
    async def test_without_a_first_answer_the_endpoint_is_at_fault(
        self, line: Completion | Exception
    ):
        model = Lines(line)
        with pytest.raises(ModelError):
            await play(model)
        assert len(model.shown) == FIRST_ANSWER_TRIES

    @pytest.mark.parametrize("line", NO_ANSWERS)
    async def test_after_the_first_answer_it_is_an_outcome(self, line: Completion | Exception):
        model = Lines(calls(find("a")), line)
        run = await play(model)
        if isinstance(line, Exception):
            expected = StopReason.CONTEXT_OVERFLOW
        elif line.finish_reason == "length":
            expected = StopReason.TRUNCATED
        else:
            expected = StopReason.EMPTY_REPLY
        assert run.stop_reason is expected
        assert len(model.shown) == 2

    async def test_an_answer_cut_off_while_it_was_thought_is_an_outcome(self):
        cut = Completion(finish_reason="length", reasoning_content="Let me see")
        assert (await play(Lines(cut))).stop_reason is StopReason.TRUNCATED
        hidden = Completion(finish_reason="length", usage=Usage(10, 64))
        assert (await play(Lines(hidden))).stop_reason is StopReason.TRUNCATED

    async def test_a_call_written_as_text_mends_a_malformed_answer(self):
        written = Completion(
            content='<tool_call>{"name": "find", "arguments": {"name": "Zo"}}</tool_call>',
            finish_reason=MALFORMED,
        )
        run = await play(Lines(written, DONE), text_calls="parse")
        assert run.stop_reason is StopReason.FINISHED
        assert [outcome.result.ok for outcome in run.outcomes] == [True]

    async def test_the_opening_is_not_changed(self):
        before = json.dumps(OPENING)
        await play(Lines(calls(find("a")), DONE))
        assert json.dumps(OPENING) == before

    async def test_turns_are_counted(self):
        run = await play(Lines(calls(find("a"))), max_turns=3)
        assert run.stop_reason is StopReason.MAX_TURNS
        assert (len(run.completions), len(run.outcomes)) == (3, 3)

    async def test_a_truncated_turn_is_not_executed_and_not_trained_on(self):
        run = await play(
            Lines(
                calls(find("a"), ("b", "find", '{"name": "Z'), finish_reason="length", content="So")
            )
        )
        assert run.stop_reason is StopReason.TRUNCATED
        assert run.outcomes == []
        assert run.messages[-1] == {"role": "assistant", "content": "So", "train": False}
        assert run.recorded_events[-1] == {"event": "not_executed", "ids": ["a", "b"]}
        assert run.recorded_events[0]["tool_calls"][1]["arguments"] == '{"name": "Z', (
            "the record keeps the emission"
        )

    async def test_truncated_prose_is_not_trained_on(self):
        run = await play(Lines(Completion(content="The patient is", finish_reason="length")))
        assert run.stop_reason is StopReason.TRUNCATED
        assert run.messages[-1]["train"] is False

    @pytest.mark.parametrize(
        "line",
        [Completion(refusal="I cannot."), calls(find("a"), finish_reason="content_filter")],
        ids=["refusal", "filter"],
    )
    async def test_a_refusal_ends_it_without_execution(self, line: Completion):
        run = await play(Lines(line))
        assert run.stop_reason is StopReason.REFUSED
        assert run.outcomes == []

    async def test_a_refusals_words_are_in_the_record(self):
        run = await play(Lines(Completion(refusal="I cannot.", reasoning_content="hm")))
        assert run.recorded_events[0]["refusal"] == "I cannot."
        assert (
            run.messages[-1]["reasoning_content"]
            == run.recorded_events[0]["reasoning_content"]
            == "hm"
        )

    async def test_context_overflow_is_an_outcome(self):
        run = await play(
            Lines(calls(find("a")), ContextOverflow("too long", retryable=False, status=400))
        )
        assert run.stop_reason is StopReason.CONTEXT_OVERFLOW
        assert run.messages[-1]["role"] == "tool"

    async def test_another_failure_of_the_model_is_not(self):
        with pytest.raises(ModelError, match="gone"):
            await play(Lines(calls(find("a")), ModelError("gone")))

    @pytest.mark.parametrize(
        ("limit", "done", "kept"), [(0, 0, 0), (1, 1, 1), (2, 2, 2), (4, 4, 1)]
    )
    async def test_calls_are_counted_also_within_a_turn(self, limit: int, done: int, kept: int):
        """What was not executed is not in the transcript: a call without a result would break every
        later request.
        """
        model = Lines(calls(find("a", "1"), find("b", "2"), find("c", "3")))
        run = await play(model, max_tool_calls=limit)
        assert run.stop_reason is StopReason.MAX_TOOL_CALLS
        assert len(run.outcomes) == done
        last = [each for each in run.messages if each["role"] == "assistant"][-1]
        assert len(last.get("tool_calls", [])) == kept
        assert last["train"] is False

    @pytest.mark.parametrize(("limit", "turns"), [(10, 1), (11, 2), (30, 3)])
    async def test_tokens_in_and_out_are_counted(self, limit: int, turns: int):
        line = calls(find("a"), usage=Usage(input_tokens=7, output_tokens=3))
        run = await play(Lines(line), max_total_tokens=limit)
        assert run.stop_reason is StopReason.TOKEN_BUDGET
        assert len(run.completions) == turns

    async def test_unknown_token_counts_stop_nothing(self):
        run = await play(Lines(calls(find("a"))), max_total_tokens=1, max_turns=2)
        assert run.stop_reason is StopReason.MAX_TURNS
        assert run.usage == Usage()

    async def test_a_model_that_never_answered_is_at_fault_and_not_the_agent(self):
        with pytest.raises(ModelError, match=r"no completion came within the rollout's 0.01 s"):
            await play(Silence(), timeout_s=0.01)

    async def test_time_ends_a_tool_that_does_not_return(self):
        """The call that was cut off leaves the transcript, those before it stay."""

        async def slow(call: ToolCall) -> ToolOutcome:
            if call.id == "b":
                await asyncio.Event().wait()
            return await dispatch(call)

        model = Lines(calls(find("a"), find("b"), find("c")))
        run = await ReactAgent(model, slow, AgentLimits(timeout_s=0.01)).run(OPENING)
        check_transcript(run.messages)
        assert run.stop_reason is StopReason.TIME_BUDGET
        assert [each["role"] for each in run.messages[2:]] == ["assistant", "tool"]
        assert run.messages[2]["train"] is False
        assert run.recorded_events[-1] == {"event": "not_executed", "ids": ["b", "c"]}

    @pytest.mark.parametrize("timeout_s", [None, 60.0])
    async def test_somebody_elses_timeout_is_not_ours(self, timeout_s: float | None):
        async def broken(call: ToolCall) -> ToolOutcome:
            raise TimeoutError("the disk")

        agent = ReactAgent(Lines(calls(find("a"))), broken, AgentLimits(timeout_s=timeout_s))
        with pytest.raises(TimeoutError, match="the disk"):
            await agent.run(OPENING)


class TestCalls:
    async def test_results_come_in_the_order_of_the_calls(self):
        run = await play(Lines(calls(find("b", "1"), find("a", "2"), find("c", "3")), DONE))
        tools = [each for each in run.messages if each["role"] == "tool"]
        assert [(each["tool_call_id"], each["content"]) for each in tools] == [
            ("b", '{"found":"1"}'),
            ("a", '{"found":"2"}'),
            ("c", '{"found":"3"}'),
        ]
        assert [each["event"] for each in run.recorded_events] == [
            "completion",
            *["tool_result"] * 3,
            "completion",
        ]

    async def test_duplicate_and_empty_ids_get_ids_of_our_own(self):
        """Within a turn and between turns; what the model emitted stays in the events."""
        run = await play(
            Lines(calls(find("x"), find("x"), find("")), calls(find("x"), find("call_1")), DONE)
        )
        ids = [each["tool_call_id"] for each in run.messages if each["role"] == "tool"]
        assert ids[0] == "x"
        assert len(set(ids)) == 5
        assert all(ids)
        assert [each["id"] for each in run.recorded_events[0]["tool_calls"]] == ["x", "x", ""]
        assert not any(each.get("train") is False for each in run.messages), "an id is no content"

    @pytest.mark.parametrize(
        "raw",
        ['{"name": "Zoë",}', '"{}"', "[1]", '{"name": NaN}', '{"name":1,"name":2}', "{" * 300],
    )
    async def test_a_malformed_call_is_echoed_as_a_valid_request(self, raw: str):
        """Strict endpoints answer 400 on every later turn otherwise; the turn is not trained on."""
        run = await play(Lines(calls(("a", "find", raw)), DONE))
        assistant, result = run.messages[2], run.messages[3]
        assert assistant["tool_calls"][0]["function"] == {
            "name": "find",
            "arguments": {RAW_KEY: raw},
        }
        assert assistant["train"] is False
        assert json.loads(result["content"])["category"] == "malformed_call"
        assert run.recorded_events[0]["tool_calls"][0]["arguments"] == raw
        assert run.stop_reason is StopReason.FINISHED
        assert "train" not in run.messages[-1], "the answer after it is the model's own"

    @pytest.mark.parametrize("name", ["", "find patients", "x" * 65, "find\n", "функция"])
    async def test_a_name_that_no_endpoint_takes_is_replaced(self, name: str):
        run = await play(Lines(calls(("a", name, "{}"), find("b")), DONE))
        assert run.messages[2]["tool_calls"][0]["function"]["name"] == UNNAMED
        assert run.messages[2]["train"] is False
        assert run.messages[3]["name"] == UNNAMED
        assert run.recorded_events[0]["tool_calls"][0]["name"] == name
        assert json.loads(run.messages[3]["content"])["category"] == "unknown_tool"

    async def test_an_unknown_tool_of_a_valid_name_is_an_honest_mistake(self):
        """The echo says what the model said, so it stays in the training data with its error."""
        run = await play(Lines(calls(("a", "fnid", "{}")), DONE))
        assert "train" not in run.messages[2]
        assert run.outcomes[0].result.category == "unknown_tool"

    async def test_empty_arguments_are_an_empty_object(self):
        run = await play(Lines(calls(("a", "find", "")), DONE))
        assert run.messages[2]["tool_calls"][0]["function"]["arguments"] == {}
        assert "train" not in run.messages[2]

    @pytest.mark.parametrize(
        ("style", "shown"),
        [
            ("plain", "Error: The arguments are not valid JSON"),
            ("structured", '{"status":"error","error":"MalformedCall"'),
            ("advice", '{"status":"error","error":"MalformedCall"'),
        ],
    )
    async def test_how_much_of_an_error_is_shown_is_a_choice(self, style: str, shown: str):
        run = await play(Lines(calls(("a", "find", "{")), DONE), error_style=style)
        assert run.messages[3]["content"].startswith(shown)

    @pytest.mark.parametrize("value", ["{broken", {"a": 1}, None, ""])
    async def test_a_model_that_sends_the_reserved_key_itself_is_told_from_a_malformed_call(
        self, value: Any
    ):
        """No echo has two meanings: under the key stands the raw text, whoever wrote the key."""
        raw = json.dumps({RAW_KEY: value})
        run = await play(Lines(calls(("a", "find", raw)), DONE))
        assert run.messages[2]["tool_calls"][0]["function"]["arguments"] == {RAW_KEY: raw}
        assert run.messages[2]["train"] is False
        assert run.outcomes[0].result.category == "invalid_arguments", (
            "it is executed as what it is"
        )


class TestTotals:
    async def test_usage_and_cost_are_summed_where_all_is_known(self):
        usage = Usage(input_tokens=7, output_tokens=3, cached_tokens=None, reasoning_tokens=1)
        run = await play(
            Lines(
                calls(find("a"), usage=usage, cost_usd=0.5), Completion(usage=usage, cost_usd=0.25)
            )
        )
        assert run.usage == Usage(14, 6, None, 2)
        assert run.cost_usd == 0.75

    async def test_one_unknown_price_makes_the_cost_unknown(self):
        run = await play(Lines(calls(find("a"), cost_usd=0.5), DONE))
        assert run.cost_usd is None
        assert (await play(Lines(DONE))).cost_usd is None
