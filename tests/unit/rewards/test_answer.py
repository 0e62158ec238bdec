"""The answer gate, and what verdicts come to together."""

from __future__ import annotations

from typing import Any

import pytest

from synth.core.rewards.answer import AnswerVerifier, same_answer
from synth.core.types.checks import Gate
from synth.plugins import REWARDS
from synth.rewards import CallRecord, Evidence, judge, solved, total_reward, verifier_of
from synth.task import GoldEnd, Task
from synth.verdict import Verdict
from tests.unit.rewards.rule_fields import ruled


@pytest.mark.parametrize(
    ("expected", "given", "rule", "same"),
    [
        (12, 12.0, "exact", True),
        (12, "12", "exact", False),
        (12, 112, "exact", False),
        (True, 1, "exact", False),
        (4.199999999999999, 4.2, "exact", True),
        (4.19, 4.2, "exact", False),
        ([0.1 + 0.2], [0.3], "set", True),
        ("allergic", "no allergies", "exact", False),
        ("Ada", "ada", "exact", False),
        (["a", "b"], ["a", "b"], "exact", True),
        (["a", "b"], ["b", "a"], "exact", False),
        (["a"], "a", "exact", False),
        (["a"], ["a", "a"], "exact", False),
        ("Ada  Lovelace", " ada lovelace\n", "text", True),
        ("STRASSE", "Straße", "text", True),
        ("Ada", "Ada!", "text", False),
        (["Ada", "Bo"], ["ada", " BO"], "text", True),
        (None, "", "text", False),
        ([1, 2, 3], [3, 2.0, 1], "set", True),
        ([1, 2], [1, 2, 3], "set", False),
        (["Amoxicillin"], [" amoxicillin", "AMOXICILLIN"], "set", True),
        ([1], [True], "set", False),
        ([1], ["1"], "set", False),
        ([], [], "set", True),
        ([], None, "set", False),
        ("a", "a", "set", False),
        ([1.5], [10**400], "set", False),
        ([float("inf")], [1.0], "set", False),
        (["SKU-a", "SKU-A"], ["SKU-A"], "set", False),
        (["SKU-a", "SKU-A"], ["SKU-A", "SKU-a"], "set", True),
        (["b", "b"], ["B"], "set", True),
        ([1, 2, 2], [2, 1, 2.0], "bag", True),
        ([1, 2, 2], [1, 1, 2], "bag", False),
        ([1, 2, 2], [1, 2], "bag", False),
        (["a"], ["A"], "bag", False),
        ([True], [1], "bag", False),
        ([1.0, 2.0], [1.01, 2], {"abs": 0.01}, True),
        ([1.0, 2.0], [1.01, 2.1], {"abs": 0.01}, False),
        (None, None, {"abs": 0.01}, True),
        (None, 0, {"abs": 0.01}, False),
        (5.0, float("nan"), {"abs": 0.01}, False),
        (5.0, float("inf"), {"abs": 0.01}, False),
        (25, 25.0, {"abs": 0}, True),
        ({"a": [1, {"b": 2}]}, {"a": [1.0, {"b": 2.0}]}, "exact", True),
        ({"a": [1]}, {"a": [True]}, "exact", False),
        (5.0, 5.01, {"abs": 0.01}, True),
        (5.0, 5.02, {"abs": 0.01}, False),
        (5, "5", {"abs": 0.01}, False),
        (1, True, {"abs": 0.01}, False),
        (5.5, 10**400, {"abs": 0.01}, False),
        (10**400, 10**400 + 1, {"abs": 1}, True),
    ],
)
def test_one_field_compares_under_its_rule(expected: Any, given: Any, rule: Any, same: bool):
    assert same_answer(expected, given, rule) is same


def evidence(submitted: Any, due: Any = None, **changes: Any) -> Evidence:
    fields: dict[str, Any] = {"end": GoldEnd(answer=due)} | changes
    task = Task(id="t", family="f", env="e", prompt="p", gold=[], **ruled(fields))
    return Evidence(task, [], [], submitted)


class TestVerdict:
    def test_every_field_must_agree_and_none_may_be_added(self):
        due = {"value": 12, "day": "2026-01-01"}
        assert AnswerVerifier().verify(evidence(due, due), None).score == 1.0
        wrong = AnswerVerifier().verify(evidence({"value": 112, "extra": 1}, due), None)
        assert wrong.score == 0.0
        assert (
            wrong.reason
            == "value is 112, not 12; day is None, not '2026-01-01'; extra was not asked for"
        )

    def test_an_answer_where_none_was_due_and_none_where_one_was(self):
        assert AnswerVerifier().verify(evidence(None, None), None).score == 1.0
        assert AnswerVerifier().verify(evidence({"value": 1}, None), None).score == 0.0
        assert AnswerVerifier().verify(evidence(None, {"value": 1}), None).score == 0.0

    def test_the_oracle_wins_over_golds_own_words(self):
        """The gate's option says which field an oracle answers for."""
        seen = evidence(
            {"due": [3, 1]}, {"due": [1]}, oracle={"late": [1, 3]}, compare_answer={"due": "set"}
        )
        assert AnswerVerifier().verify(seen, {"due": "late"}).score == 1.0
        assert AnswerVerifier().verify(seen, None).score == 0.0

    def test_an_unproved_task_is_not_judged(self):
        assert AnswerVerifier().verify(evidence({"a": 1}, end=None), None).score is None

    def test_a_giant_answer_gives_a_short_reason(self):
        assert (
            len(AnswerVerifier().verify(evidence({"a": "x" * 10_000}, {"a": "y"}), None).reason)
            <= 1000
        )


class TestReward:
    def test_gates_multiply_and_scores_are_weighed(self):
        gate, shut = Verdict("state", 1.0, ""), Verdict("answer", 0.0, "")
        half, full = (
            Verdict("style", 0.5, "", gate=False),
            Verdict("speed", 1.0, "", gate=False, weight=3.0),
        )
        assert total_reward([gate, gate]) == 1.0
        assert total_reward([gate, shut]) == 0.0
        assert total_reward([gate, half, full]) == pytest.approx((1 + 0.5 + 3.0) / (1 + 4))
        assert total_reward([shut, full]) == 0.0
        assert [solved(each) for each in ([gate, half], [shut, full], [])] == [True, False, False]

    def test_one_verdict_that_could_not_judge_makes_it_null(self):
        assert total_reward([Verdict("state", 1.0, ""), Verdict("judge", None, "")]) is None
        assert total_reward([]) is None

    def test_gates_are_judged_in_their_order_with_their_options(self):
        gates = (Gate("required_calls", ["find"]), Gate("state"), Gate("forbidden_calls", ["drop"]))
        task = Task(id="t", family="f", env="e", prompt="p", gold=[], gates=gates, end=GoldEnd())
        calls = [
            CallRecord("find", {}, ok=False, category="unknown", read_only=True),
            CallRecord("drop", {}, ok=False, category="unknown", read_only=False),
        ]
        verdicts = judge(Evidence(task, [], calls, None))
        assert [(each.verifier, each.score) for each in verdicts] == [
            ("required_calls", 0.0),
            ("state", 1.0),
            ("forbidden_calls", 1.0),
        ], "a call that failed was not made"
        names = {
            "state",
            "reply",
            "reads_only",
            "answer",
            "no_write_before",
            "read_before",
            "required_calls",
            "forbidden_calls",
            "says",
            "declines",
            "injection",
            "sql",
        }
        assert set(REWARDS.builtin) == names
        assert {verifier_of(name).name for name in names} == names
