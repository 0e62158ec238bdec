"""The gate ``answer``: each submitted field against an oracle's value or gold's."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Hashable, Mapping
from typing import cast

from synth.core.rewards.state.columns import form, same_value, within
from synth.core.tasks.yaml.template import rounded
from synth.evidence import Evidence, Verifier
from synth.verdict import Verdict


class AnswerVerifier(Verifier):
    """Passes if every field of the submitted answer agrees and no other field was submitted.

    The options map fields to names of oracles; the other fields are compared with gold's answer.
    """

    name = "answer"

    def parse_options(self, raw: object) -> Mapping[str, str]:
        return cast("Mapping[str, str]", raw or {})

    def verify(self, evidence: Evidence, options: Mapping[str, str] | None) -> Verdict:
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
        oracles = {field: task.oracle[name] for field, name in (options or {}).items()}
        expected = dict(due) | oracles
        wrong = [
            f"{name} is {given.get(name)!r}, not {value!r}"
            for name, value in expected.items()
            if not same_answer(value, given.get(name), task.rules.compare_answer.get(name, "exact"))
        ]
        wrong += [f"{name} was not asked for" for name in given if name not in expected]
        if wrong:
            return Verdict(self.name, 0.0, "; ".join(wrong)[:1000])
        return Verdict(self.name, 1.0, "the submitted answer agrees")


def same_answer(expected: object, given: object, rule: object) -> bool:
    """Compare the values of one field.

    ``rule`` is exact, text (case and white space do not count), set (neither order nor repetition
    counts), bag (repetition counts), or ``{"abs": x}``. Under the other rules a list is ordered,
    and the rule holds for each of its items. Figures are compared to ten significant digits.
    """
    expected, given = rounded(expected), rounded(given)
    if rule in ("set", "bag"):
        if not isinstance(expected, list) or not isinstance(given, list):
            return False
        ours, theirs = cast("list[object]", expected), cast("list[object]", given)
        if rule == "bag":
            return Counter(map(form, ours)) == Counter(map(form, theirs))
        return _same_set(ours, theirs)
    if isinstance(expected, list):
        if not isinstance(given, list):
            return False
        left, right = cast("list[object]", expected), cast("list[object]", given)
        return len(left) == len(right) and all(map(same_answer, left, right, [rule] * len(left)))
    if isinstance(rule, Mapping):
        return within(expected, given, cast("Mapping[str, float]", rule)["abs"])
    if rule == "text" and isinstance(expected, str) and isinstance(given, str):
        return folded(expected) == folded(given)
    return same_value(expected, given)


def folded(value: str) -> str:
    """Remove differences of case, white space and Unicode composition from a text."""
    return " ".join(unicodedata.normalize("NFC", value).casefold().split())


def _same_set(expected: list[object], given: list[object]) -> bool:
    """Compare as sets. Case and white space of texts do not count, unless two of the expected
    texts differ in nothing else.
    """
    exact = {form(value) for value in expected}
    loose = {_folded_form(value) for value in expected}
    if len(loose) < len(exact) and exact == {form(value) for value in given}:
        return True
    return len(loose) == len(exact) and loose == {_folded_form(value) for value in given}


def _folded_form(value: object) -> Hashable:
    return form(folded(value) if isinstance(value, str) else value)
