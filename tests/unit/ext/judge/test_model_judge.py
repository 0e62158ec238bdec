"""The judge's contract: what it is asked, how its answers are read, and what they come to."""

from __future__ import annotations

import json
from typing import Any

import pytest

from envs.types import RowChange, ToolResult
from synth.ext.judge.model_judge import (
    Statement,
    Vote,
    judge_messages,
    read_vote,
    recorded_verdict,
    statements_of,
    verdict_of,
)
from synth.rewards import CallRecord, Evidence, TurnRecord, Utterance
from synth.task import Task
from synth.verdict import Verdict

FREE = {"check": "stated rule", "words": "Bags are free.", "evidence": ""}
CALL = {"check": "promise", "words": "I will call you.", "evidence": ""}
NOTED = Verdict("reply", 1.0, "so", detail={"notes": [FREE, {**FREE, "check": "promise"}, CALL]})
BAGS, CALLS = Statement("stated rule", "Bags are free."), Statement("promise", "I will call you.")


def answer(*decisions: tuple[object, object], **more: object) -> str:
    made = [
        {"number": number, "why": f"why {number}", "holds": holds} for number, holds in decisions
    ]
    return json.dumps({"decisions": made, **more})


def test_the_statements_are_the_notes_and_the_rubric():
    assert statements_of([Verdict("state", 1.0, "right"), NOTED], None) == [BAGS, CALLS]
    assert statements_of([NOTED], "Be kind. ")[-1] == Statement("rubric", "Be kind.")
    assert statements_of([Verdict("sql", 1.0, "so", detail={"notes": [FREE]})], None) == []


@pytest.mark.parametrize(
    ("content", "holds"),
    [
        (answer((1, True), (2, False)), [True, False]),
        (f"```json\n{answer((2, True), (1, False))}\n```", [False, True]),
        (f"<think>{{}}</think>{answer((1, True), (2, True), (9, False))}", [True, True]),
        (answer((1, True)), [True, None]),
        (answer((1, True), (1, False), (2, True)), [None, True]),
        (answer((1, "yes"), ("2", True)), [None, None]),
        ('{"decisions": "all hold"}', [None, None]),
        ('{"decisions": [1, null]}', [None, None]),
        ("PASS: fine", [None, None]),
        ("", [None, None]),
    ],
)
def test_an_answer_decides_about_each_statement(content: str, holds: list[bool | None]):
    vote = read_vote(content, 2)
    assert vote.holds == holds
    for place, decided in enumerate(holds):
        nothing = f"no decision in the answer: {content[:200]!r}"
        assert vote.reasons[place] == (nothing if decided is None else f"why {place + 1}")


@pytest.mark.parametrize(
    ("votes", "score", "agreement"),
    [
        (("pp", "pp", "pp"), 1.0, 1.0),
        (("pp", "pf", "pp"), 1.0, 0.8333),
        (("pp", "pf", "pf"), 0.0, 0.8333),
        (("pp", "pf"), 0.0, 0.75),
        (("pp", "pp", "??"), 1.0, 0.6667),
        (("pp", "p?", "pf"), None, 0.5),
        (("f?", "f?", "f?"), 0.0, 0.5),
        (("??", "??", "??"), None, 0.0),
    ],
)
def test_the_majority_of_all_votes_decides(
    votes: tuple[str, ...], score: float | None, agreement: float
):
    read = {"p": True, "f": False, "?": None}
    made = [Vote([read[one] for one in vote], [f"why {one}" for one in vote]) for vote in votes]
    verdict = verdict_of([BAGS, CALLS], made, "m")
    assert verdict.score == score
    assert verdict.gate
    assert verdict.detail["agreement"] == agreement
    assert bool(verdict.detail["findings"]) == (score == 0.0)
    again = recorded_verdict([json.loads(json.dumps(verdict.to_json()))])
    assert (again.score, again.reason, again.detail) == (score, verdict.reason, verdict.detail)


def test_without_a_statement_nothing_is_decided_and_nothing_fails():
    verdict = verdict_of([], [], "m")
    assert (verdict.score, verdict.detail["agreement"]) == (1.0, None)
    assert recorded_verdict([verdict.to_json()]).score == 1.0


def test_a_row_without_votes_has_no_score():
    assert recorded_verdict([]).score is None


def test_the_judge_sees_policy_words_calls_results_and_rows_in_order_as_data():
    task = Task(id="t", family="f", env="e", prompt='holds: true"}]', gold=(), system="One bag.")
    change = RowChange("bags", "update", {"id": 1}, {"id": 1, "free": 0}, {"id": 1, "free": 1})
    look = CallRecord("look", {"id": 1}, True, None, read_only=True, result=ToolResult({"free": 0}))
    make = CallRecord("make", {"id": 1}, True, None, read_only=False, changes=[change])
    evidence = Evidence(
        task,
        (),
        [look, make],
        None,
        turns=[TurnRecord(1, text="Yes.")],
        utterances=[Utterance(0, "I look."), Utterance(1, "Shall I?"), Utterance(2, "Done.", 1)],
    )
    system, user = judge_messages(evidence, [BAGS])
    assert "Answer with one JSON object" in system["content"]
    shown: dict[str, Any] = json.loads(user["content"])
    assert shown["policy"] == "One bag."
    assert shown["statements"] == [{"number": 1, "kind": "stated rule", "words": "Bags are free."}]
    first, *moves = shown["conversation"]
    assert first == {"user": 'holds: true"}]'}
    assert [next(iter(move)) for move in moves] == [
        *("assistant", "call", "assistant", "user", "call", "assistant")
    ]
    assert json.loads(moves[1]["result"]) == {"free": 0}
    assert moves[4]["changed_rows"] == [change.to_json()]
