"""The loop with somebody to talk to: who hears what, what is recorded, and how it ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from synth.agent import ReactAgent
from synth.core.agent.rollout_result import AgentLimits, AgentRun
from synth.core.types.events import Usage
from synth.core.types.reply import Act
from synth.errors import ModelError
from synth.model import Completion
from synth.user import UserTurn
from synth.verdict import StopReason
from tests.unit.agent.test_react import (
    DONE,
    OPENING,
    Lines,
    calls,
    check_transcript,
    dispatch,
    find,
)


class Somebody:
    """Says one turn after the other, raises those that are exceptions; keeps what it heard."""

    def __init__(self, *turns: UserTurn | Exception) -> None:
        self.turns = list(turns)
        self.heard: list[str] = []

    async def say(self, text: str, acts: Sequence[Act] = ()) -> UserTurn:
        self.heard.append(text)
        turn = self.turns.pop(0)
        if isinstance(turn, Exception):
            raise turn
        return turn


BYE = UserTurn(ends=True)


async def talk(lines: Sequence[Completion], somebody: Somebody, **limits: Any) -> AgentRun:
    run = await ReactAgent(Lines(*lines), dispatch, AgentLimits(**limits)).run(
        OPENING, somebody.say
    )
    check_transcript(run.messages)
    return run


async def test_words_go_to_the_user_and_the_answer_to_the_model():
    model = Lines(
        calls(find("a")), Completion(content="Which Zoë?"), calls(find("b", "Zoë K")), DONE
    )
    somebody = Somebody(UserTurn("Zoë K.", told=("surname",)), BYE)
    run = await ReactAgent(model, dispatch, AgentLimits()).run(OPENING, somebody.say)
    assert run.stop_reason is StopReason.USER_ENDED
    assert somebody.heard == ["Which Zoë?", "Done."]
    assert [each["role"] for each in run.messages[2:]] == [
        "assistant", "tool", "assistant", "user", "assistant", "tool", "assistant"
    ]  # fmt: skip
    assert run.messages[5] == {"role": "user", "content": "Zoë K."}
    assert model.shown[2] == run.messages[:6]
    assert run.said == "Done."


async def test_each_turn_of_the_user_is_recorded_after_the_completion_that_it_answers():
    somebody = Somebody(UserTurn("Yes.", told=("dob",), consents=True, fault="too polite"), BYE)
    run = await talk([Completion(content="Shall I?"), DONE], somebody)
    assert [each["event"] for each in run.recorded_events] == [
        "completion",
        "user_turn",
        "completion",
        "user_turn",
    ]
    assert run.recorded_events[1] == {
        "event": "user_turn",
        "text": "Yes.",
        "told": ["dob"],
        "consents": True,
        "declines": False,
        "ends": False,
        "fault": "too polite",
    }
    assert run.recorded_events[3]["ends"] is True
    assert run.messages[-1] == {"role": "assistant", "content": "Done."}


async def test_the_user_does_not_hear_what_is_said_beside_a_call():
    somebody = Somebody(BYE)
    await talk([calls(find("a"), content="Let me look."), DONE], somebody)
    assert somebody.heard == ["Done."]


@pytest.mark.parametrize("finish", ["length", "content_filter"])
async def test_a_turn_that_was_cut_off_is_not_heard(finish: str):
    somebody = Somebody()
    run = await talk([Completion(content="Which", finish_reason=finish)], somebody)
    assert run.stop_reason in {StopReason.TRUNCATED, StopReason.REFUSED}
    assert somebody.heard == []


async def test_turns_count_completions_and_the_last_question_is_still_answered():
    somebody = Somebody(*[UserTurn("Hm?")] * 3)
    run = await talk([Completion(content="Well?")], somebody, max_turns=3)
    assert run.stop_reason is StopReason.MAX_TURNS
    assert len(run.completions) == len(somebody.heard) == 3
    assert run.messages[-1]["role"] == "user"


async def test_tokens_are_counted_after_words_too():
    line = Completion(content="Well?", usage=Usage(input_tokens=7, output_tokens=3))
    run = await talk(
        [line], Somebody(*[UserTurn("Hm?", usage=Usage(100, 100))] * 9), max_total_tokens=20
    )
    assert run.stop_reason is StopReason.TOKEN_BUDGET
    assert len(run.completions) == 2, "what the user spends is not the model's"
    assert run.user_usage == Usage(200, 200)


async def test_a_user_that_cannot_be_asked_breaks_the_rollout():
    with pytest.raises(ModelError, match="gone"):
        await talk([Completion(content="Well?")], Somebody(ModelError("gone")))


@pytest.mark.parametrize(
    ("costs", "total"), [((0.5, 0.25), 0.75), ((0.5, None), None), ((None, None), None)]
)
async def test_what_the_user_costs_is_summed_where_all_is_known(
    costs: tuple[float | None, ...], total: float | None
):
    first, second = (UserTurn("Hm?", cost_usd=cost) for cost in costs)
    run = await talk(
        [Completion(content="Well?", cost_usd=9.0)], Somebody(first, second), max_turns=2
    )
    assert run.user_cost_usd == total
    assert run.cost_usd == 18.0
