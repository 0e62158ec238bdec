"""Older turns give way to a summary: when, what stays, what is recorded, and what happens where
there is no summary.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.agent import ReactAgent
from synth.core.agent.event_stream import EventStream
from synth.core.agent.events import AgentEvent, Compaction
from synth.core.agent.memory import ConversationMemory, segments
from synth.core.agent.rollout_result import AgentLimits, AgentRun
from synth.core.models.openai.wire import wire_message
from synth.core.models.recap import read_request, without_recap
from synth.core.types.events import Usage
from synth.core.types.reply import Act
from synth.errors import ContextOverflow, ModelError
from synth.ext.middlewares import CompactionConfig
from synth.ext.middlewares.compaction import PROMPT, CompactionMiddleware, trigger_tokens, turns_of
from synth.ext.serving.chat_request import check_request
from synth.model import Completion, Conversation
from synth.task import Message
from synth.user import UserTurn
from synth.verdict import StopReason
from tests.unit.agent.test_react import DONE, OPENING, calls, dispatch, find
from tests.unit.scripted_model import Answering

Json = Any
LOW = CompactionConfig(threshold_tokens=1, keep_turns=1)
SUMMARY = Completion(content="Found.", usage=Usage(100, 10))


class Model:
    """Says its lines one after the other and answers requests for summaries; refuses requests that
    endpoints refuse.
    """

    def __init__(
        self, lines: Sequence[Completion | Exception], *summaries: Completion | Exception
    ) -> None:
        self.lines, self.summaries = list(lines), list(summaries)
        self.sent: list[Sequence[Message]] = []
        self.requests: list[Sequence[Message]] = []

    def converse(self, tools: Sequence[Json]) -> Conversation:
        return Answering(self.answer)

    def answer(self, messages: Sequence[Message]) -> Completion:
        check_request({"model": "m", "messages": [wire_message(each) for each in messages]})
        shown = json.loads(json.dumps(messages))
        asked = read_request(messages) is not None
        (self.requests if asked else self.sent).append(shown)
        waiting = self.summaries if asked else self.lines
        line = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        if isinstance(line, Exception):
            raise line
        return line


async def played(
    model: Model,
    options: CompactionConfig = LOW,
    opening: Sequence[Message] = OPENING,
    say: Any = None,
    **limits: Any,
) -> tuple[AgentRun, ReactAgent, list[AgentEvent]]:
    event_stream = EventStream()
    heard = event_stream.subscribe()
    middlewares = [CompactionMiddleware(options)]
    agent = ReactAgent(
        model.converse,
        dispatch,
        AgentLimits(**limits),
        middlewares=middlewares,
        event_stream=event_stream,
    )
    run = await agent.run(opening, say)
    await event_stream.aclose()
    return run, agent, [event async for event in heard]


def work(turns: int) -> list[Completion]:
    return [calls(find(f"c{at}", f"name {at} {'x' * 400}")) for at in range(turns)]


def recorded(run: AgentRun) -> list[Json]:
    return [each for each in run.recorded_events if each["event"] == "compaction"]


async def test_the_last_turns_stay_and_the_summary_stands_under_the_users_message():
    model = Model([*work(3), DONE], SUMMARY)
    run, agent, told = await played(model, CompactionConfig(threshold_tokens=1, keep_turns=2))
    assert run.stop_reason is StopReason.FINISHED
    assert [len(each) for each in model.sent] == [2, 4, 6, 6]
    plain, recap = without_recap(model.sent[3])
    assert recap is not None
    assert (recap.turns, recap.summary) == (1, "Found.")
    assert list(plain) == [*run.messages[:2], *run.messages[4:8]]
    assert [each["role"] for each in run.messages] == [
        "system",
        "user",
        *["assistant", "tool"] * 3,
        "assistant",
    ]
    (event,) = recorded(run)
    assert (event["reason"], event["step"], event["turns"], event["left_out"], event["kept"]) == (
        "threshold", 3, 1, 0, 2
    )  # fmt: skip
    assert event["tokens_after"] < event["tokens_before"]
    (seen,) = (each for each in told if isinstance(each, Compaction))
    assert (seen.before, seen.after) == (8, 6)
    first, second = segments(agent.memory)
    assert first["messages"] == run.messages[:8]
    assert (second["first_turn"], second["last_turn"]) == (3, 3)
    assert second["messages"][:-1] == [
        {**each, "train": False} if each["role"] == "assistant" else each for each in model.sent[3]
    ]
    assert second["messages"][-1] == run.messages[-1]


async def test_a_later_summary_stands_for_the_earlier_one_too():
    model = Model([*work(4), DONE], *(Completion(content=f"Summary {at}.") for at in range(9)))
    run, agent, _ = await played(model)
    assert [each["turns"] for each in recorded(run)] == [1, 2, 3]
    request = read_request(model.requests[2])
    assert request is not None
    assert "Summary 1." in request.messages[0]["content"]
    assert request.turns == 3
    plain, recap = without_recap(model.sent[-1])
    assert recap is not None
    assert (recap.turns, recap.summary) == (3, "Summary 2.")
    assert plain[1]["content"] == OPENING[1]["content"]
    assert [each["first_turn"] for each in segments(agent.memory)] == [0, 2, 3, 4]


async def test_the_users_words_stay_as_they_were_said():
    async def say(text: str, acts: Sequence[Act] = ()) -> UserTurn:
        return UserTurn(f'"Yes",\n{text}') if len(text) < 9 else UserTurn(ends=True)

    lines = [
        *work(1),
        Completion(content="Sure?"),
        *work(1),
        Completion(content="Again?"),
        *work(1),
        DONE,
    ]
    run, _, _ = await played(Model([*lines, Completion(content="Good bye.")], SUMMARY), say=say)
    assert run.stop_reason is StopReason.USER_ENDED
    model = Model([*lines, Completion(content="Good bye.")], SUMMARY)
    await played(model, say=say)
    recap = without_recap(model.sent[-1])[1]
    assert recap is not None
    assert recap.words == ['"Yes",\nSure?', '"Yes",\nAgain?']
    model = Model([*lines, Completion(content="Good bye.")], SUMMARY)
    await played(
        model, CompactionConfig(threshold_tokens=1, keep_turns=1, keep_user_words=False), say=say
    )
    recap = without_recap(model.sent[-1])[1]
    assert recap is not None
    assert recap.words == []


async def test_the_share_of_a_window_counts_what_the_endpoint_measured():
    """With the endpoint's own count of 800 tokens three quarters of a window of 1,000 are passed,
    by estimate they are not.
    """
    options = CompactionConfig(context_window=1_000, keep_turns=1)
    for used, count in ((Usage(), 0), (Usage(800, 5), 1)):
        lines = [calls(find("a")), calls(find("b"), usage=used), DONE]
        run, _, _ = await played(Model(lines, SUMMARY), options)
        assert len(recorded(run)) == count
    assert trigger_tokens(CompactionConfig()) == float("inf")
    assert trigger_tokens(CompactionConfig(threshold_tokens=5, context_window=9_000)) == 5


async def test_the_side_question_counts_towards_the_rollouts_tokens():
    run, _, _ = await played(Model([*work(3), DONE], SUMMARY), max_total_tokens=110)
    assert run.stop_reason is StopReason.TOKEN_BUDGET
    assert run.usage == Usage(100, 10)
    assert [each["event"] for each in run.recorded_events if each["event"].startswith("side")] == [
        "side_completion"
    ]


OVERFLOW = ContextOverflow("too long", False)
ROOMY = CompactionConfig(context_window=10**6, keep_turns=1)


async def test_a_context_that_the_endpoint_finds_too_long_is_compacted_once_and_sent_again():
    model = Model([*work(3), OVERFLOW, DONE], SUMMARY)
    run, _, _ = await played(model, ROOMY)
    assert run.stop_reason is StopReason.FINISHED
    assert [each["reason"] for each in recorded(run)] == ["overflow"]
    assert [len(each) for each in model.sent[-2:]] == [8, 4]


async def test_where_compacting_does_not_help_the_rollout_ends_by_context_overflow():
    run, agent, _ = await played(Model([*work(3), OVERFLOW], SUMMARY), ROOMY)
    assert run.stop_reason is StopReason.CONTEXT_OVERFLOW
    assert len(recorded(run)) == 1
    assert segments(agent.memory) == []  # nothing was said in what was sent last
    with pytest.raises(ContextOverflow):  # of the first request: nothing could be compacted
        await played(Model([OVERFLOW], SUMMARY), ROOMY)


async def test_a_request_for_a_summary_that_is_too_long_itself_is_made_again_with_results_cut():
    model = Model([*work(2), DONE], OVERFLOW, SUMMARY)
    run, _, _ = await played(model)
    assert len(model.requests) == 2
    assert "failed" not in recorded(run)[0]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Completion(content=" \n"), "empty"),
        (Completion(content="half a", finish_reason="length"), "truncated"),
        (Completion(refusal="I cannot.", content="I cannot."), "refused"),
        (Completion(content="", finish_reason="content_filter"), "refused"),
        (Completion(content="x" * 4_001), "too_long"),
        (Completion(content="x" * 4_000), "no_gain"),
        (ModelError("HTTP 500", True), "ModelError"),
        (OVERFLOW, "ContextOverflow"),
    ],
)
async def test_without_a_summary_the_rollout_goes_on_as_it_is_and_soon_asks_no_more(
    answer: Any, why: str
):
    model = Model([*work(6), DONE], answer)
    run, agent, _ = await played(model)
    assert run.stop_reason is StopReason.FINISHED
    assert [each["failed"] for each in recorded(run)] == [why] * 3
    assert [len(each) for each in model.sent] == [2, 4, 6, 8, 10, 12, 14]
    assert segments(agent.memory) == []


async def test_the_instruction_can_be_ones_own():
    model = Model([*work(2), DONE], SUMMARY)
    await played(
        model, CompactionConfig(threshold_tokens=1, keep_turns=1, prompt="In {words} words {x}!")
    )
    assert model.requests[0][0] == {"role": "system", "content": "In 750 words {x}!"}
    assert "{words}" in PROMPT


TURNS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from(['{"name":"Zoë"}', "{", "", '{"name":7}', "null"]),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    ),
    max_size=12,
)


@given(turns=TURNS, keep=st.integers(1, 4), threshold=st.integers(1, 200), system=st.booleans())
@settings(max_examples=60, deadline=None)
@pytest.mark.slow
async def test_no_context_parts_a_call_from_its_result_and_all_are_valid_requests(
    turns: list[tuple[int, str, str]], keep: int, threshold: int, system: bool
):
    """Whatever is called and said; a strict validator reads each request, and segments hold each
    turn once.
    """

    async def say(text: str, acts: Sequence[Act] = ()) -> UserTurn:
        return UserTurn("Go on.", ends=text == "Done.")

    lines: list[Completion] = []
    for count, arguments, text in turns:
        own = [("same", "find", arguments)] * count
        lines.append(calls(*own, content=text) if own else Completion(content=f"So {text}"))
    opening = OPENING if system else OPENING[1:]
    model = Model([*lines, DONE], Completion(content="S."))
    options = CompactionConfig(threshold_tokens=threshold, keep_turns=keep)
    run, agent, _ = await played(model, options, opening, say)
    for sent in model.sent:
        check_request({"model": "m", "messages": [wire_message(each) for each in sent]})
        plain, recap = without_recap(sent)
        first, rest = turns_of(plain)
        assert list(first) == list(opening)
        if recap is not None:
            assert len(rest) >= keep
            whole = turns_of(run.messages)[1][recap.turns : recap.turns + len(rest)]
            assert [list(each) for each in rest] == [list(each) for each in whole]
    seen = [
        each
        for part in segments(agent.memory)
        for each in part["messages"]
        if each["role"] == "assistant"
    ]
    trained = [each for each in seen if each.get("train") is not False]
    if seen:
        own = [
            each
            for each in run.messages
            if each["role"] == "assistant" and each.get("train") is not False
        ]
        assert trained == own


def test_segments_of_a_conversation_that_was_always_sent_whole_are_none():
    assert segments(ConversationMemory(OPENING)) == []
