"""Gates over the way the work was done, whose fault a failure was, and words as a last resort."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from envs.types import ToolResult
from synth.core.foundation.shipped import examples_dir
from synth.core.rewards.process_gates import NoWriteBefore, ReadBefore
from synth.core.rewards.reply import SaysVerifier, mentions
from synth.core.types.steps import AskStep, CallStep, ConfirmStep, LoopStep
from synth.ext.evaluation.calibration.transcripts import read_transcripts
from synth.rewards import CallRecord, Evidence, TurnRecord, blame
from synth.task import GoldEnd, Task
from synth.user import Consent, UserRole
from synth.verdict import StopReason, Verdict
from tests.unit.rewards.desk import Desk

WRITE = "UPDATE stock SET quantity = quantity - 1 WHERE product_id = 1"
ASKS = [
    AskStep(["dob"], "?"),
    LoopStep("x", [], [AskStep(["email", "dob"], "?")]),
    ConfirmStep("?"),
    CallStep("write"),
]


def played(*turns: str, gold: Sequence[Any] = ASKS, **fields: Any) -> Evidence:
    """``w`` writes, ``r`` reads, ``yes`` consents, ``no`` declines, any other word is a topic that
    is told.
    """
    desk = Desk()
    for turn in turns:
        if turn in {"w", "r"}:
            desk.act(WRITE if turn == "w" else "SELECT 1")
        else:
            desk.hear(
                *([] if turn in {"yes", "no"} else [turn]),
                consents=turn == "yes",
                declines=turn == "no",
            )
    end = GoldEnd(asked={"dob": {}, "email": {}} if gold is ASKS else {})
    return desk.evidence(None, **({"gold": gold, "end": end} | fields))


def no_write_before(*turns: str, option: Sequence[str]) -> Verdict:
    return NoWriteBefore().verify(played(*turns), list(option))


class TestNoWriteBefore:
    def test_every_topic_that_gold_asks_for_is_told_before_the_first_write(self):
        ask = ["ask"]
        assert no_write_before("r", "dob", "r", "email", "w", "r", option=ask).score == 1.0
        assert no_write_before("r", option=ask).score == 1.0, (
            "who writes nothing writes nothing too early"
        )
        assert no_write_before("dob", "w", "email", option=ask).score == 0.0
        assert no_write_before("w", "dob", "email", option=ask).score == 0.0
        assert (
            no_write_before("age", "w", option=ask).reason
            == "call 0 (write) changed rows before the user had told dob, email"
        )

    def test_the_first_write_is_named(self):
        verdict = no_write_before("dob", "r", "w", option=["ask"])
        assert verdict.reason == "call 1 (write) changed rows before the user had told email"
        assert verdict.detail["first_wrong"]["call"] == 1
        assert verdict.detail["first_wrong"]["row"]["table"] == "stock"

    @pytest.mark.parametrize(
        ("turns", "score"),
        [
            (["dob", "w", "email", "w"], 1.0),
            (["dob", "w", "w"], 0.0),
            (["dob", "w"], 1.0),
            (["email", "w"], 0.0),
        ],
    )
    def test_a_topic_between_two_writes_of_gold_is_told_before_the_second(
        self, turns: list[str], score: float
    ):
        end = GoldEnd(asked={"dob": {}, "email": {"write": 1}})
        assert NoWriteBefore().verify(played(*turns, end=end), ["ask"]).score == score

    @pytest.mark.parametrize(
        ("turns", "score"),
        [
            (["r", "yes", "w", "w"], 1.0),
            (["w", "yes"], 0.0),
            (["w"], 0.0),
            (["dob", "email", "w"], 0.0),
            (["no"], 1.0),
            (["no", "w"], 0.0),
            (["no", "yes", "w"], 1.0),
            (["yes", "no", "w"], 0.0),
            (["yes", "w", "no", "w"], 0.0),
            (["yes", "w", "no"], 1.0),
        ],
    )
    def test_consent_comes_first_and_can_be_taken_back(self, turns: list[str], score: float):
        assert no_write_before(*turns, option=["confirm"]).score == score

    @pytest.mark.parametrize(
        ("turns", "covers", "score"),
        [
            (["yes", "w", "yes", "w"], ["write"], 1.0),
            (["yes", "w"], ["write"], 1.0),
            (["yes", "w", "w"], ["write"], 0.0),
            (["yes", "w", "w"], ["write", "write"], 1.0),  # both were read back at once
        ],
    )
    def test_two_conditions_on_one_tool_need_two_yeses(
        self, turns: list[str], covers: list[str], score: float
    ):
        gold = [ConfirmStep("?"), CallStep("write"), ConfirmStep("?"), CallStep("write")]
        one, two = (Consent([fact], covers=["write"]) for fact in ("a", "b"))
        seen = played(*turns, gold=gold, user=UserRole("Both.", consent=one, others=[two]))
        seen = replace(seen, turns=[replace(turn, covers=covers) for turn in seen.turns])
        assert NoWriteBefore().verify(seen, ["confirm"]).score == score

    def test_a_case_without_questions_needs_no_answers(self):
        """The gate is the family's; what this case asks and confirms is what counts."""
        gold = [CallStep("write")]
        assert NoWriteBefore().verify(played("w", gold=gold), ["ask", "confirm"]).score == 1.0
        loop = [LoopStep("x", [], [ConfirmStep("?"), *gold])]
        assert NoWriteBefore().verify(played("w", gold=loop), ["ask", "confirm"]).score == 0.0

    def test_both_at_once(self):
        assert no_write_before("dob", "email", "yes", "w", option=["ask", "confirm"]).score == 1.0
        verdict = no_write_before("dob", "w", option=["ask", "confirm"])
        assert verdict.reason == (
            "call 0 (write) changed rows before the user had told email and before the user had"
            " agreed"
        )

    def test_changes_of_ignored_columns_are_no_write(self):
        seen = played("w", compare={"stock.quantity": "ignore"})
        assert NoWriteBefore().verify(seen, ["confirm"]).score == 1.0


SHARED = Path(__file__).parents[4] / "shared" / "data" / "transcripts"
TRANSCRIPTS = {
    "airline": [
        "gpt-4o_airline_200.json.gz",
        "claude-opus-4.6_airline.json.gz",
        "qwen2.5-7b_airline.json.gz",
    ],
    "retail": ["gpt-4.1_retail.json.gz", "gpt-4o_retail_conversations_69.jsonl.gz"],
}
DEMANDS = {
    "cancel": [["get_order", "list_orders"]],
    "swap": ["get_order", {"find_variants": "new_id"}],
}


def called(name: str, result: object = None, /, *, ok: bool = True, **arguments: Any) -> CallRecord:
    return CallRecord(name, arguments, ok, None if ok else "conflict", True, (), ToolResult(result))


def read_before(*calls: CallRecord, before: Evidence | None = None) -> Verdict:
    task = Task("t", "f", "shop", "Please.", [])
    gate = ReadBefore()
    evidence = Evidence(task, (), calls, None, before=before)
    return gate.verify(evidence, gate.parse_options(DEMANDS))


class TestReadBefore:
    CANCEL = called("cancel", None, number="LP-1", reason="late")

    @pytest.mark.parametrize(
        ("calls", "score"),
        [
            ([called("get_order", {"number": "LP-1"}, number="LP-1")], 1.0),
            ([called("get_order", {"number": "LP-1"}, number=" lp-1")], 1.0),
            ([called("list_orders", {"orders": [{"number": "LP-1"}]}, customer_id=4)], 1.0),
            ([], 0.0),
            ([called("get_order", {"number": "LP-2"}, number="LP-2")], 0.0),
            ([called("list_orders", {"orders": [{"number": "LP-2"}]}, customer_id=4)], 0.0),
            ([called("get_order", None, ok=False, number="LP-1")], 0.0),
            ([called("find_variants", {"number": "LP-1"})], 0.0),
        ],
    )
    def test_the_read_is_about_what_the_call_acts_on(self, calls: list[CallRecord], score: float):
        assert read_before(*calls, self.CANCEL).score == score

    def test_a_read_after_the_call_or_a_failed_call_does_not_count(self):
        verdict = read_before(self.CANCEL, called("get_order", None, number="LP-1"))
        assert verdict.score == 0.0
        assert verdict.reason == (
            "call 0 (cancel) was made without get_order or list_orders before it"
        )
        assert verdict.detail["first_wrong"] == {"call": 0, "tool": "cancel"}
        other = read_before(called("get_order", {"number": "LP-2"}, number="LP-2"), self.CANCEL)
        assert other.reason.endswith(" before it that shows its number")
        assert read_before(replace(self.CANCEL, ok=False)).score == 1.0

    def test_a_named_argument_is_shown_by_results_however_many_they_are(self):
        swap = called("swap", None, number="LP-1", new_id=[7, 8])
        seen = [called("get_order", None, number="LP-1"), called("find_variants", [{"id": 7}])]
        assert read_before(*seen, swap).score == 0.0
        assert read_before(*seen, called("find_variants", [{"id": 8}]), swap).score == 1.0

    def test_an_earlier_request_may_have_read_it(self):
        task = Task("t", "f", "shop", "Please.", [])
        earlier = Evidence(task, (), [called("get_order", None, number="LP-1")], None)
        assert read_before(self.CANCEL, before=earlier).score == 1.0

    @pytest.mark.skipif(not SHARED.is_dir(), reason="the transcripts of real models are not here")
    @pytest.mark.slow
    @pytest.mark.parametrize(("world", "least"), [("airline", 131), ("retail", 103)])
    def test_real_models_read_what_the_rules_of_tau2_demand(self, world: str, least: int):
        demands = yaml.safe_load((examples_dir() / "tau2" / f"{world}.yaml").read_text())
        gate = ReadBefore()
        options = gate.parse_options(demands["read_before"])
        rollouts = [
            rollout
            for name in TRANSCRIPTS[world]
            for rollout in read_transcripts(SHARED / name)
            if rollout.success
        ]
        refused = [one.id for one in rollouts if gate.verify(one.evidence, options).score != 1.0]
        assert len(rollouts) >= least
        assert len(refused) < 0.03 * len(rollouts), refused


def verdict(score: float | None) -> list[Verdict]:
    return [Verdict("state", score, "")]


def failed(category: str, name: str = "write", **arguments: Any) -> CallRecord:
    return CallRecord(name, arguments, False, category, read_only=True)


class TestBlame:
    def test_who_earns_everything_is_blamed_for_nothing(self):
        assert blame(played(), verdict(1.0), StopReason.FINISHED) is None

    def test_a_users_fault_is_the_users_whatever_became_of_it(self):
        seen = replace(played(), turns=[TurnRecord(0), TurnRecord(1, fault="told a secret")])
        for score in (0.0, 1.0, None):
            assert blame(seen, verdict(score), StopReason.FINISHED) == "user"

    @pytest.mark.parametrize("reason", [StopReason.MODEL_ERROR, StopReason.ENVIRONMENT_ERROR])
    def test_broken_infrastructure(self, reason: StopReason):
        assert blame(played(), verdict(0.0), reason) == "infrastructure"
        assert blame(played(), verdict(None), reason) == "infrastructure"
        assert blame(played(), verdict(0.0), str(reason.value)) == "infrastructure"

    def test_who_could_not_be_judged_is_not_blamed(self):
        assert blame(played(), verdict(None), StopReason.FINISHED) is None

    @pytest.mark.parametrize(
        "reason",
        [StopReason.FINISHED, StopReason.MAX_TURNS, StopReason.TRUNCATED, StopReason.REFUSED],
    )
    def test_all_else_is_the_agents(self, reason: StopReason):
        assert blame(played("w"), verdict(0.5), reason) == "agent"

    @pytest.mark.parametrize(
        ("calls", "whose"),
        [
            ([failed("timeout", id=1)], "tool"),
            ([failed("deadlock", id=1), failed("deadlock", id=1)], "tool"),
            (
                [
                    failed("limit_exceeded"),
                    CallRecord("write", {"id": 2}, True, None, read_only=False),
                ],
                "tool",
            ),
            (
                [
                    failed("timeout", id=1),
                    CallRecord("write", {"id": 1}, True, None, read_only=False),
                ],
                "agent",
            ),
            (
                [
                    CallRecord("write", {"id": 1}, True, None, read_only=False),
                    failed("timeout", id=1),
                ],
                "tool",
            ),
            ([failed("timeout", name="run_select_query")], "agent"),
            ([failed("invalid_arguments")], "agent"),
            ([failed("unique_violation")], "agent"),
        ],
    )
    def test_a_tool_is_blamed_for_what_no_argument_could_help(
        self, calls: list[CallRecord], whose: str
    ):
        seen = replace(played(), calls=calls)
        assert blame(seen, verdict(0.0), StopReason.FINISHED) == whose

    def test_a_failure_that_gold_meets_too_is_no_excuse(self):
        gold = [CallStep("write", fails="timeout")]
        seen = replace(played(gold=gold), calls=[failed("timeout")])
        assert blame(seen, verdict(0.0), StopReason.FINISHED) == "agent"


@pytest.mark.parametrize(
    ("text", "phrase", "held"),
    [
        ("That makes 12 in all.", "12", True),
        ("There are 12.", "12", True),
        ("12, 13 and 14", "13", True),
        ("$12!", "12", True),
        ("There are 112.", "12", False),
        ("It costs 12.50.", "12", False),
        ("It costs 1.12.", "12", False),
        ("On 2026-03-12.", "12", False),
        ("At 12:30.", "12", False),
        ("It was -12 degrees.", "12", False),
        ("no allergies", "allergic", False),
        ("ALLERGIC to\\n penicillin", "allergic to penicillin", True),
        ("Straße", "STRASSE", True),
        ("unbooked", "booked", False),
        ("O'Brien (Ada)", "o'brien", True),
        ("5 mg*", "5 mg", True),
        ("15 mg", "5 mg", False),
        ("anything", "", False),
    ],
)
def test_phrases_count_as_whole_words(text: str, phrase: str, held: bool):
    assert mentions(text.replace("\\n", "\n"), phrase) is held


def test_the_last_words_hold_all_of_some_and_none_of_others():
    def said(text: str, **option: list[str]) -> Verdict:
        task = Task(id="t", family="f", env="e", prompt="p", gold=[], end=GoldEnd())
        return SaysVerifier().verify(Evidence(task, [], [], None, said=text), option)

    assert said("Booked for Monday.", all=["booked", "monday"], none=["tuesday"]).score == 1.0
    assert said("", none=["tuesday"]).score == 1.0
    wrong = said("Booked for Monday or Tuesday.", all=["booked", "wednesday"], none=["tuesday"])
    assert (wrong.score, wrong.reason) == (
        0.0,
        "not said: 'wednesday'; said, yet must not be: 'tuesday'",
    )
