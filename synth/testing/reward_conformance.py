"""Contract tests of :class:`synth.rewards.Verifier`, on evidence that has to pass and evidence that
has not.
"""

from __future__ import annotations

import copy
import json
import pickle
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from envs.plugins import resolve
from synth.core.validation.base import GateValidation
from synth.errors import ConfigProblems
from synth.rewards import Evidence, Verifier
from synth.verdict import Verdict

UNKNOWN_OPTION = "no_such_option"


class RewardConformance(ABC):
    """Subclass it and provide a verifier, its options and two pieces of evidence."""

    options: ClassVar[Any] = None
    """The options as a family's ``gates`` give them, with all slots filled in."""

    @abstractmethod
    def verifier(self) -> Verifier:
        """A new verifier."""

    @abstractmethod
    def passing(self) -> Evidence:
        """Evidence that earns the full score under ``options``."""

    @abstractmethod
    def failing(self) -> Evidence:
        """Evidence that earns less under ``options``."""

    def judged(self, evidence: Evidence) -> Verdict:
        verifier = self.verifier()
        return verifier.verify(evidence, verifier.parse_options(copy.deepcopy(self.options)))

    def test_it_is_constructed_without_arguments_and_has_a_name(self) -> None:
        assert type(self.verifier())().name == self.verifier().name
        assert self.verifier().name

    def test_evidence_that_passes_earns_the_full_score(self) -> None:
        verdict = self.judged(self.passing())
        assert verdict.score == 1.0, verdict.reason

    def test_evidence_that_fails_earns_less_and_a_gate_nothing(self) -> None:
        verdict = self.judged(self.failing())
        assert verdict.score is not None
        assert 0.0 <= verdict.score < 1.0
        assert verdict.score == 0.0 or not verdict.gate, "a gate is 1.0 or 0.0"

    def test_a_verdict_names_its_verifier_and_says_why(self) -> None:
        for evidence in (self.passing(), self.failing()):
            verdict = self.judged(evidence)
            assert verdict.verifier == self.verifier().name
            assert verdict.reason.strip()
            assert verdict.weight > 0

    def test_a_verdict_is_plain_data(self) -> None:
        for evidence in (self.passing(), self.failing()):
            verdict = self.judged(evidence)
            assert json.loads(json.dumps(verdict.to_json())) == verdict.to_json()
            assert pickle.loads(pickle.dumps(verdict)) == verdict  # noqa: S301 - our own bytes

    def test_equal_evidence_gives_equal_verdicts_and_is_left_as_it_was(self) -> None:
        for evidence in (self.passing(), self.failing()):
            before = copy.deepcopy(_plain(evidence))
            assert self.judged(evidence) == self.judged(evidence)
            assert _plain(evidence) == before

    def test_a_rollout_that_did_nothing_is_judged(self) -> None:
        idle = replace(self.passing(), changes=(), calls=(), submitted=None, turns=(), said="")
        verdict = self.judged(idle)
        assert verdict.score is None or 0.0 <= verdict.score <= 1.0

    def test_the_attacks_that_it_names_can_be_made(self) -> None:
        verifier = self.verifier()
        if not verifier.validation:
            pytest.skip("it brings no checks or attacks of its own")
        validation = resolve(verifier.validation)()
        assert isinstance(validation, GateValidation)
        assert validation.key

    def test_an_option_that_it_does_not_have_is_refused(self) -> None:
        verifier = self.verifier()
        if verifier.options is None:
            pytest.skip("its options are checked where tasks.yaml is read, or it has none")
        with pytest.raises(ConfigProblems, match=f"{verifier.name}.{UNKNOWN_OPTION}"):
            verifier.parse_options({UNKNOWN_OPTION: 1})
        with pytest.raises(ConfigProblems):
            verifier.parse_options([UNKNOWN_OPTION])


def _plain(evidence: Evidence) -> tuple[object, ...]:
    return (
        evidence.task,
        list(evidence.changes),
        list(evidence.calls),
        evidence.submitted,
        list(evidence.turns),
        evidence.said,
    )
