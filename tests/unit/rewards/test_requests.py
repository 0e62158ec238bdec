"""The requests of a composed task: net changes of some calls, and verdicts on all requests."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from envs.sandboxes.row_changes import changes_since, joined_changes
from envs.types import RowChange, StateDiff
from synth.core.rewards.reply.given import Material
from synth.core.rewards.requests import combined, evidence_of_requests
from synth.evidence import CallRecord, Evidence, TurnRecord, Utterance
from synth.task import Task
from synth.user import FollowUp, UserRole
from synth.verdict import Verdict

Row = dict[str, Any] | None


def change(op: Literal["insert", "update", "delete"], before: Row, after: Row, key: int = 1):
    return RowChange("items", op, {"id": key}, before, after)


INSERT = change("insert", None, {"id": 1, "name": "a", "price": 2})
RENAME = change("update", {"name": "a"}, {"name": "b"})
BACK = change("update", {"name": "b"}, {"name": "a"})
DELETE = change("delete", {"id": 1, "name": "b", "price": 2}, None)


@pytest.mark.parametrize(
    ("changes", "net"),
    [
        ([INSERT, RENAME], change("insert", None, {"id": 1, "name": "b", "price": 2})),
        ([INSERT, RENAME, DELETE], None),
        ([RENAME, BACK], None),
        (
            [RENAME, change("update", {"price": 2}, {"price": 3})],
            change("update", {"name": "a", "price": 2}, {"name": "b", "price": 3}),
        ),
        ([RENAME, DELETE], change("delete", {"id": 1, "name": "a", "price": 2}, None)),
        ([DELETE, INSERT], change("update", {"name": "b"}, {"name": "a"})),
        ([DELETE, change("insert", None, {"id": 1, "name": "b", "price": 2})], None),
    ],
)
def test_net_changes_of_calls(changes: list[RowChange], net: RowChange | None):
    first, rest, both = map(joined_changes, (changes[:1], changes[1:], changes))
    assert both == (() if net is None else (net,))
    assert changes_since(StateDiff(first), StateDiff(both)) == StateDiff(rest)


def evidence() -> Evidence:
    parts = tuple(Task(name, name, "shop", name, ()) for name in ("one", "two", "three"))
    then = [
        FollowUp("done", "two", fresh=True),
        FollowUp("done", "and"),
        FollowUp("done", "three", fresh=True),
    ]
    task = Task(
        "all", "one+two+three", "shop", "one", (), user=UserRole("one", then=then), parts=parts
    )
    calls = [
        CallRecord(f"call_{key}", {}, True, None, False, [change("delete", {"id": key}, None, key)])
        for key in range(3)
    ]
    turns = [TurnRecord(1, text="ok"), TurnRecord(1, text="two", then=0), TurnRecord(3, then=1)]
    said = [Utterance(0, "wait", 0), Utterance(1, "done", 1), Utterance(2, "next", 2)]
    answers = {"2": {"total": 5}}
    return Evidence(task, (), calls, answers, turns=turns, utterances=said)


def test_a_request_lasts_until_the_next_one_comes():
    one, two, three = evidence_of_requests(evidence())
    assert one is not None
    assert two is not None
    assert three is None
    assert [call.name for call in one.calls] == ["call_0"]
    assert [call.name for call in two.calls] == ["call_1", "call_2"]
    assert [turn.text for turn in one.turns] == ["ok"]
    assert [(turn.then, turn.after) for turn in two.turns] == [(1, 2)]
    assert [words.text for words in one.utterances] == ["wait", "done"]
    assert [(words.after, words.turns) for words in two.utterances] == [(1, 0)]
    assert (one.submitted, two.submitted) == (None, {"total": 5})
    assert [item.key for item in two.changes] == [{"id": 1}, {"id": 2}]
    assert two.so_far == [one, two]


def test_a_gate_passes_if_it_passes_for_each_request():
    wrong = {"first_wrong": {"call": 1, "tool": "call_2"}}
    good, bad = Verdict("state", 1.0, "fine"), Verdict("state", 0.0, "stray", detail=wrong)
    unknown = Verdict("state", None, "who knows")
    (verdict,) = combined(evidence(), [[good], [bad], [unknown]])
    assert verdict.score == 0.0
    assert verdict.reason == "request 2: stray; request 3: who knows"
    assert verdict.detail["first_wrong"] == {"call": 2, "tool": "call_2"}
    assert combined(evidence(), [[good], [good], [unknown]])[0].score is None
    assert combined(evidence(), [[good], [good], [good]])[0].score == 1.0
    (never,) = combined(evidence(), [[good], [good], None])
    assert (never.score, "request 3: never came" in never.reason) == (0.0, True)


def test_a_score_is_the_mean_over_requests():
    low, high = (Verdict("brief", score, "", gate=False) for score in (0.5, 1.0))
    assert combined(evidence(), [[low], [high], [high]])[0].score == pytest.approx(2.5 / 3)


def test_an_amount_of_an_earlier_request_is_known_in_the_next():
    first = Evidence(Task("1", "one", "shop", "Take 45.50 € for it.", ()), (), (), None)
    second = Evidence(Task("2", "two", "shop", "And who came?", ()), (), (), None, before=first)
    given = Material.given(second.so_far)
    assert given.holds_number("45.5")
    assert not given.holds_number("46.5")
