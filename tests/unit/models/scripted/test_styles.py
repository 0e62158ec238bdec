"""Manners of the expert: the same calls of gold, in other turns and with other words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from synth.core.models.scripted.narrating import CHANGING, LOOKING
from synth.core.models.scripted.styles import StyledModel, draw_style
from synth.core.types.steps import AskStep, CallStep, LoopStep, ReplyStep, Step
from synth.model import Completion
from synth.task import GoldEnd, Message, Task


def call(tool: str, save: dict[str, str] | None = None, **arguments: Any) -> CallStep:
    return CallStep(tool, arguments, save or {})


def saved(name: str) -> dict[str, str]:
    return {"$": name}


GOLD: list[Step] = [
    call("find", {"a": "$.id"}, name="Ada"),
    call("find", {"b": "$.id"}, name="Ben"),
    call("read", {"rows": "$.rows"}, of=saved("a")),
    LoopStep("row", saved("rows"), [call("look", at=saved("row"))]),
    call("write", a=saved("a"), b=saved("b")),
    ReplyStep("Done with it."),
]
RESULTS = {"Ada": {"id": 1}, "Ben": {"id": 2}, "of": {"rows": [7, 8]}}
PROMPT = "Please look for Ada Kern and Ben."
WRITE = 5
"""Gold's call that changes rows: two finds, a read, two looks, the write."""


def result(arguments: dict[str, Any]) -> str:
    name = arguments.get("name") or next(iter(arguments), "")
    return json.dumps(RESULTS.get(name, {}))


def play(
    style: str,
    gold: Sequence[Step] = GOLD,
    seed: int = 3,
    writes: Sequence[int] = (WRITE,),
    tools: Sequence[object] = (),
) -> list[Completion]:
    task = Task("t", "f", "e", PROMPT, gold, end=GoldEnd(calls=6, writes=[*writes]))
    conversation = StyledModel({style: 1.0}).start(task, tools, seed)
    messages: list[Message] = [{"role": "user", "content": PROMPT}]
    turns: list[Completion] = []
    while True:
        turn = conversation.next_turn(messages)
        turns.append(turn)
        if not turn.tool_calls and turn.content != "Which?":
            return turns
        messages.append({"role": "assistant", "content": turn.content})
        messages += [] if turn.tool_calls else [{"role": "user", "content": "That one: Ben."}]
        for one in turn.tool_calls:
            answer = result(json.loads(one.arguments))
            messages.append({"role": "tool", "tool_call_id": one.id, "content": answer})


def calls(turns: Sequence[Completion]) -> list[list[tuple[str, Any]]]:
    return [[(one.name, json.loads(one.arguments)) for one in turn.tool_calls] for turn in turns]


PLAIN = [
    *[("find", {"name": "Ada"}), ("find", {"name": "Ben"}), ("read", {"of": 1})],
    *[("look", {"at": 7}), ("look", {"at": 8}), ("write", {"a": 1, "b": 2})],
]


def test_terse_is_gold_with_its_name_in_the_first_turn():
    turns = play("terse")
    assert calls(turns) == [*([one] for one in PLAIN), []]
    assert [turn.content for turn in turns] == [*[""] * 6, "Done with it."]
    assert [turn.provider for turn in turns] == [{"style": "terse"}, *[{}] * 6]


def test_narrating_says_what_it_begins_and_makes_the_same():
    turns, about = play("narrating"), "Ada and Ben"
    assert calls(turns) == calls(play("parallel"))
    known = {one.format(about) for one in (*LOOKING, *CHANGING)}
    assert {turn.content for turn in turns[:-1]} <= {"", *known}
    assert turns[-1].content == "Done with it."
    said = [turn.content for seed in range(9) for turn in play("narrating", seed=seed)[:-1]]
    assert len(set(said)) > 6
    assert sum(map(bool, said)) == 9, "once, before it reads"
    assert not play("narrating", tools=[["Ada", "Ben"]])[0].content, "listed by a tool"
    whole = play("narrating", [call("find", first="Ada", last="Kern")], writes=())
    assert "Ada Kern" in whole[0].content
    layout = play("narrating", [call("describe_table", table="pets")], writes=())
    assert "the pets table" in layout[0].content


def test_narrating_speaks_after_each_message():
    gold = [GOLD[0], call("write", a=1), AskStep(["which"], "Which?"), GOLD[1], call("write", b=2)]
    said = [
        turn.content
        for seed in range(9)
        for turn in play("narrating", gold, seed, (1, 3))
        if turn.tool_calls
    ]
    assert [bool(one) for one in said] == [True, False] * 18, "once for each message"
    assert all(said[start] != said[start + 2] for start in range(0, len(said), 4))
    later = [call("find", first="That", last="one"), AskStep(["which"], "Which?"), GOLD[1]]
    assert "Ben" in play("narrating", later, writes=())[2].content, "what is read now"


def test_parallel_joins_reads_that_need_nothing_of_each_other():
    turns = play("parallel")
    assert calls(turns) == [PLAIN[:2], PLAIN[2:3], PLAIN[3:5], PLAIN[5:], []]
    ids = [one.id for turn in turns for one in turn.tool_calls]
    assert len(ids) == len(set(ids))


def test_parallel_writes_no_argument_that_it_cannot_know_yet():
    """A query in SQL comes after the schema that it was written by."""
    gold = [call("find", name="Ada"), call("look", name="Ben"), call("ask", sql="SELECT 1")]
    turns = calls(play("parallel", gold, writes=()))
    assert [[name for name, _ in turn] for turn in turns] == [["find", "look"], ["ask"], []]
    gold = [GOLD[2], AskStep(["which"], "Which?"), GOLD[1], call("look", at=saved("b"))]
    turns = calls(play("parallel", [GOLD[0], *gold, call("look", at=7)], writes=()))
    assert [*map(len, turns)][-3:] == [1, 2, 0], "nothing is taken from an old list"
    turns = calls(play("parallel", [call("list_all"), *GOLD[:2]], writes=()))
    assert turns == [[("list_all", {})], PLAIN[:2], []], "nothing is chosen beside the list of all"


def test_parallel_joins_reads_whose_other_arguments_the_tools_list():
    gold = [*GOLD[:2], call("quote", of=saved("a"), why="worn"), call("quote", of=saved("b"))]
    lengths = [len(turn) for turn in calls(play("parallel", gold, writes=(), tools=[["worn"]]))]
    assert lengths == [2, 2, 0]
    assert [*map(len, calls(play("parallel", gold, writes=())))] == [2, 1, 1, 0]


def test_parallel_makes_a_read_that_is_known_beside_an_earlier_one():
    gold = [GOLD[0], call("look", at=saved("a")), call("find", {"b": "$.id"}, name="Ben")]
    turns = calls(play("parallel", gold, writes=()))
    assert turns == [PLAIN[:2], [("look", {"at": 1})], []]


def test_parallel_joins_a_write_with_writes_by_the_same_tool_only():
    writes = [call("write", a=saved("a"), b=1), call("write", b=2), call("note", c=3)]
    turns = calls(play("parallel", [*GOLD[:3], *writes, call("look", at=7)], writes=(3, 4, 5)))
    names = [[name for name, _ in turn] for turn in turns]
    assert names == [["find", "find"], ["read"], ["write", "write"], ["note"], ["look"], []]
    chained = [GOLD[0], call("write", {"c": "$"}, a=1), call("write", b=saved("c"))]
    assert all(len(turn) <= 1 for turn in calls(play("parallel", chained, writes=(1, 2))))


def test_parallel_makes_each_step_of_a_loop_for_all_items():
    inner = [call("write", at=saved("row")), call("note", of=saved("row"))]
    gold = [*GOLD[:3], LoopStep("row", saved("rows"), inner)]
    turns = calls(play("parallel", gold, writes=range(3, 7)))
    assert turns[2:] == [
        [("write", {"at": 7}), ("write", {"at": 8})],
        [("note", {"of": 7}), ("note", {"of": 8})],
        [],
    ]


def test_the_manner_is_drawn_by_weight_and_is_the_same_for_the_same_seed():
    weights = {"terse": 3.0, "parallel": 1.0}
    drawn = Counter(draw_style(weights, seed).style for seed in range(400))
    assert 250 < drawn["terse"] < 350
    assert drawn["terse"] + drawn["parallel"] == 400
    assert draw_style(weights, 5) is draw_style(weights, 5)
    assert play("narrating", seed=5) == play("narrating", seed=5)


@pytest.mark.parametrize("style", ["terse", "narrating", "parallel"])
def test_an_expert_that_is_given_the_whole_transcript_catches_up(style: str):
    turns = play(style)
    task = Task("t", "f", "e", PROMPT, GOLD, end=GoldEnd(calls=6, writes=[WRITE]))
    messages: list[Message] = [{"role": "user", "content": PROMPT}]
    for turn in turns[:-1]:
        messages.append({"role": "assistant", "content": turn.content})
        messages += [
            {"role": "tool", "content": result(json.loads(one.arguments))}
            for one in turn.tool_calls
        ]
    late = draw_style({style: 1.0}, 3)(task, 3, 3)
    assert late.next_turn(messages).content == "Done with it."
