"""The answer gate: what was submitted, field by field, against an oracle's value or gold's."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any, cast

from synth.types import Verdict
from synth.verifiers.base import Evidence, Verifier
from synth.verifiers.columns import form, same_value, within

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
    """Compare one field: exact, text (case and white space do not count), set (neither order nor repetition counts), bag
    (repetition counts), ``{abs: x}``. A list is ordered under the other rules, which hold for each of its items.
    """
    if rule in ("set", "bag"):
        if not isinstance(expected, list) or not isinstance(given, list):
            return False
        ours, theirs = cast("list[Json]", expected), cast("list[Json]", given)
        return Counter(map(form, ours)) == Counter(map(form, theirs)) if rule == "bag" else _same_set(ours, theirs)
    if isinstance(expected, list):
        if not isinstance(given, list):
            return False
        left, right = cast("list[Json]", expected), cast("list[Json]", given)
        return len(left) == len(right) and all(map(same_answer, left, right, [rule] * len(left)))
    if isinstance(rule, Mapping):
        return within(expected, given, cast("Mapping[str, float]", rule)["abs"])
    if rule == "text" and isinstance(expected, str) and isinstance(given, str):
        return folded(expected) == folded(given)
    return same_value(expected, given)


def folded(value: str) -> str:
    """Text without differences of case, white space and Unicode composition."""
    return " ".join(unicodedata.normalize("NFC", value).casefold().split())


def _same_set(expected: list[Json], given: list[Json]) -> bool:
    """Case and white space of texts do not count either, unless they tell two of the expected texts apart."""
    exact = {form(each) for each in expected}
    loose = {_folded_form(each) for each in expected}
    if len(loose) < len(exact) and exact == {form(each) for each in given}:
        return True
    return len(loose) == len(exact) and loose == {_folded_form(each) for each in given}


def _folded_form(value: Json) -> Hashable:
    return form(folded(value) if isinstance(value, str) else value)
