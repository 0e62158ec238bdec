"""One row per turn, one call per turn, short ids, no submit."""

from __future__ import annotations

import copy
import string

from synth.ext.exporters.row_policy import (
    RowPolicy,
    one_call_per_turn,
    shaped,
    single_turns,
    with_short_ids,
    without_submit,
)
from tests.sample_rows import SYSTEM, asks, call, masked, result, row, says, user


def parallel():
    return [
        SYSTEM,
        user("Stop both."),
        asks(
            call("a", "stop", n=1),
            call("b", "stop", n=2),
            content="Both now.",
            reasoning_content="r",
        ),
        result("b", "stop", 2),
        result("a", "stop", 1),
        says("Done."),
    ]


def test_a_row_of_each_turn_trains_that_turn_only():
    (whole,) = [row(0)["messages"]]
    parts = list(single_turns(whole))
    assert [len(part) for part in parts] == [3, 5, 7]
    for part in parts:
        turns = [message for message in part if message["role"] == "assistant"]
        assert [turn.get("train") for turn in turns] == [False] * (len(turns) - 1) + [None]
    assert [message["content"] for message in parts[-1]] == [
        message["content"] for message in whole
    ]


def test_a_turn_that_must_not_be_trained_on_is_context_only():
    first, second = single_turns(masked(0)["messages"])
    assert [message["role"] for message in first].count("assistant") == 2
    assert first[2]["train"] is False
    assert second[-1]["content"] == "Stopped."


def test_segments_are_cut_as_the_model_saw_them():
    seen = [{"first_turn": 0, "last_turn": 0, "messages": [user("short"), says("yes")]}]
    compacted = row(0, segments=seen)
    turns = RowPolicy(unit="turn")
    assert [part["messages"] for part in shaped(compacted, turns, segments=True)] == [
        [user("short"), says("yes")]
    ]
    whole = list(shaped(compacted, turns, segments=False))
    assert len(whole) == 3
    assert [bool(part["segments"]) for part in whole] == [True, False, False], "counted once"


def test_calls_of_one_turn_become_turns_with_their_own_results():
    before = parallel()
    given = copy.deepcopy(before)
    out = one_call_per_turn(given)
    assert given == before
    assert [message["role"] for message in out] == [
        *("system", "user", "assistant", "tool", "assistant", "tool", "assistant")
    ]
    assert [message["tool_calls"][0]["id"] for message in (out[2], out[4])] == ["a", "b"]
    assert [message["tool_call_id"] for message in (out[3], out[5])] == ["a", "b"]
    assert (out[2]["content"], out[4]["content"]) == ("Both now.", "")
    assert "reasoning_content" not in out[4]
    assert one_call_per_turn(out) == out


def test_a_split_turn_stays_untrained():
    messages = [
        message | {"train": False} if message["role"] == "assistant" else message
        for message in parallel()
    ]
    assert all(
        message["train"] is False
        for message in one_call_per_turn(messages)
        if message["role"] == "assistant"
    )


def test_ids_of_nine_characters_are_distinct_and_match_their_results():
    calls = [call(f"call_{number}", "stop", n=number) for number in range(200)]
    messages = [asks(*calls), *(result(item["id"], "stop", 1) for item in calls)]
    out = with_short_ids(messages)
    ids = [item["id"] for item in out[0]["tool_calls"]]
    assert len(set(ids)) == 200
    assert all(
        len(name) == 9 and set(name) <= set(string.ascii_letters + string.digits) for name in ids
    )
    assert [message["tool_call_id"] for message in out[1:]] == ids
    assert out == with_short_ids(messages)


RULES = {
    "role": "system",
    "content": "Lend books.\n\n## Answering\n- Use `submit` once,\n  at the end.\n- Be short.\n\nIt is Monday.",
}


def handed_in(*messages, **more):
    tools = [{"type": "function", "function": {"name": name}} for name in ("stop", "submit")]
    return row(0, messages=[RULES, user("Stop a."), *messages], tools=tools, **more)


def test_without_submit_its_calls_results_tool_and_rule_are_gone():
    whole = handed_in(
        asks(call("a", "stop", n=1), call("s", "submit", outcome="wait"), content="Both."),
        result("a", "stop", 1),
        result("s", "submit", 0),
        asks(call("t", "submit", outcome="done"), content="Next I will use submit."),
        result("t", "submit", 0),
        says("Done."),
    )
    part = without_submit(whole)
    assert part["messages"] == [
        {**RULES, "content": "Lend books.\n\n## Answering\n- Be short.\n\nIt is Monday."},
        user("Stop a."),
        asks(call("a", "stop", n=1), content="Both."),
        result("a", "stop", 1),
        says("Done."),
    ]
    assert [tool["function"]["name"] for tool in part["tools"]] == ["stop"]


def test_the_last_words_beside_submit_stay_and_other_rows_are_as_they_were():
    spoken = handed_in(asks(call("s", "submit", outcome="done"), content="It is stopped."))
    assert without_submit(spoken)["messages"][2:] == [says("It is stopped.")]
    assert without_submit(row(0)) == row(0)
