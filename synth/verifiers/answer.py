"""The answer gate: what was submitted, field by field, against an oracle's value or gold's."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, cast

from synth.canonical import canonical
from synth.types import Verdict
from synth.verifiers.base import Evidence, Verifier
from synth.verifiers.matching import same_scalar

Json = Any


class AnswerVerifier(Verifier):
    """1.0 exactly when every field of the submitted answer agrees. ``option`` maps fields to oracles' names."""

    name = "answer"

    def verify(self, evidence: Evidence, option: Json) -> Verdict:
        task, given = evidence.task, evidence.submitted
        if task.end is None:
            return Verdict(self.name, None, "the task's gold end is not known")
        due = task.end.answer
        if due is None:
            if given is None:
                return Verdict(self.name, 1.0, "no answer was due, and none was given")
            return Verdict(self.name, 0.0, "an answer was submitted where none was due")
        if given is None:
            return Verdict(self.name, 0.0, "no answer was submitted")
        oracles = cast("Mapping[str, str]", option or {})
        expected = dict(due) | {field: task.oracle[name] for field, name in oracles.items()}
        wrong = [
            f"{name} is {given.get(name)!r}, not {value!r}"
            for name, value in expected.items()
            if not same_answer(value, given.get(name), task.compare_answer.get(name, "exact"))
        ]
        wrong += [f"{name} was not asked for" for name in given if name not in expected]
        if wrong:
            return Verdict(self.name, 0.0, "; ".join(wrong)[:1000])
        return Verdict(self.name, 1.0, "the submitted answer agrees")


def same_answer(expected: Json, given: Json, rule: Json) -> bool:
    """Compare one field: exact, text (case and white space do not count), set (order does not), {abs: x}."""
    if isinstance(rule, Mapping):
        bound = cast("Mapping[str, float]", rule)["abs"]
        numbers = all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in (expected, given))
        return numbers and _within(expected, given, bound * (1 + 1e-12))
    if rule == "set":
        both_lists = isinstance(given, list) and isinstance(expected, list)
        return both_lists and _as_set(cast("list[Json]", expected)) == _as_set(cast("list[Json]", given))
    if isinstance(expected, list):
        if not isinstance(given, list):
            return False
        left, right = cast("list[Json]", expected), cast("list[Json]", given)
        return len(left) == len(right) and all(map(same_answer, left, right, [rule] * len(left)))
    if rule == "text" and isinstance(expected, str) and isinstance(given, str):
        return folded(expected) == folded(given)
    return same_scalar(expected, given)


def _within(left: float, right: float, bound: float) -> bool:
    try:
        return abs(left - right) <= bound
    except OverflowError:  # a whole number past the range of floats against a fraction
        return False


def folded(value: str) -> str:
    """Text without differences of case, white space and Unicode composition."""
    return " ".join(unicodedata.normalize("NFC", value).casefold().split())


def _as_set(values: list[Json]) -> set[str]:
    def one(value: Json) -> str:
        if isinstance(value, str):
            return canonical(folded(value))
        return canonical(int(value) if isinstance(value, float) and value.is_integer() else value)

    return {one(each) for each in values}
