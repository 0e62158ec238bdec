"""What gold tells the user, and the people whom a task is about: the measure of other replies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

from synth.core.foundation.json_leaves import named_values
from synth.core.language.wording import stem
from synth.core.personal import People, Person
from synth.core.rewards.reply.facts import Spoken
from synth.core.rewards.reply.given import squeeze
from synth.core.tasks.yaml.template import HUNDREDTHS, ROWS_SAID, names_in
from synth.core.tasks.yaml.words import SUBMIT, TODAY
from synth.core.types.reply import Fact, GoldReply
from synth.core.types.steps import Action, CallStep, ReplyStep
from synth.plugins import QUESTIONS
from synth.rewards import Evidence

FEW = 5
"""A result with at most so many people is about each of them."""

_NO_LABEL = frozenset(
    [
        "id",
        "ids",
        "cents",
        "cent",
        "eur",
        "euro",
        "euros",
        "usd",
        "on",
        "at",
        "the",
        "value",
        "amount",
        "date",
        "day",
        "number",
        "no",
        "name",
        "first",
        "last",
        "new",
        "old",
        "all",
        "is",
        "of",
        "as",
        "row",
        "rows",
        "item",
        "list",
    ]
)

Stated = Sequence[tuple[ReplyStep, Mapping[str, object]]]
"""Each ``say`` of gold, with the values that were saved before it."""


def gold_reply(
    evidence: Evidence, oracle: Mapping[str, object], stated: Stated, steps: Sequence[Action]
) -> GoldReply:
    """The words of a playing of gold, what of them every reply must hold, and the people."""
    facts: dict[str, Fact] = {}
    must: dict[str, Fact] = {}
    learned = _Learned(evidence, oracle)
    paths = {
        name: path
        for step in steps
        if isinstance(step, CallStep)
        for name, path in step.save.items()
        if isinstance(path, str)
    }
    for index, (step, names) in enumerate(stated):
        for name in sorted(names_in(step.text, "$") & names.keys() - {TODAY}):
            value, key = names[name], f"{name} {index}"
            if value is None:
                continue
            said = _as_said(value, name in names_in(step.text, "$", HUNDREDTHS))
            label = Fact(name, (said,), None, _label(name, paths.get(name, "")))
            facts[key] = label
            if name in step.always and (fact := learned.fact(label)) is not None:
                must[key] = fact
    for key in must:
        facts.pop(key)
    said = [words.text for words in evidence.spoken]
    concerned = _concerned(evidence, said)
    shown = _shown(evidence) - concerned
    return GoldReply(
        said,
        tuple(must.values()),
        tuple(facts.values()),
        tuple(sorted(concerned)),
        tuple(sorted(shown)),
    )


def _as_said(value: Any, cents: bool) -> Any:
    """A value as it is said: cents, also in listed rows, are amounts of the currency."""
    if isinstance(value, list):
        return [_as_said(item, False) for item in cast("list[Any]", value)]
    if isinstance(value, Mapping):
        row = cast("Mapping[str, Any]", value)
        return {key: _as_said(item, key.endswith("cents")) for key, item in row.items()}
    return value / 100 if cents and isinstance(value, int | float) else value


def _label(name: str, path: str) -> tuple[str, ...]:
    keys = re.findall(r"[A-Za-z_]\w*", path)
    words = re.findall(r"[a-z]+", f"{name} {keys[-1] if keys else ''}".lower().replace("_", " "))
    return tuple(sorted({stem(word) for word in words if word not in _NO_LABEL and len(word) > 2}))


_paragraph = lru_cache(maxsize=1024)(Spoken)
"""A paragraph that the user knows, read once: most of a system prompt is the same in all tasks."""


class _Learned:
    """What the user asked to learn: the answer, keys that the work makes, and in a task that does
    nothing else, all that gold found out.
    """

    def __init__(self, evidence: Evidence, oracle: Mapping[str, object]) -> None:
        task = evidence.task
        answer = dict(evidence.submitted or {})
        asked = {**oracle, **answer}
        outcomes = _outcomes(evidence)
        self.values = [
            leaf
            for name, value in asked.items()
            if name not in outcomes
            for leaf in _scalars(value)
        ]
        self.everything = (
            not evidence.changes
            and not asked
            and not any(call.name == "submit_sql" for call in evidence.calls)
        )
        self.made = {
            str(value): (change.table, column)
            for change in evidence.changes
            if change.op == "insert"
            for column, value in change.key.items()
        }
        told = (task.system, task.prompt, *(turn.text for turn in evidence.turns))
        self.given = [_paragraph(part) for text in told for part in text.split("\n\n")]

    def fact(self, label: Fact) -> Fact | None:
        """The fact that a reply must hold; None if the user did not ask to learn it."""
        (value,) = label.forms
        items = [item for item in _scalars(value) if not self._is_given(item)]
        if not items or (isinstance(value, list) and len(cast("list[Any]", value)) > ROWS_SAID):
            return None
        if self.everything:
            return label
        if len(items) == 1 and str(items[0]) in self.made:
            return replace(label, generated=self.made[str(items[0])])
        return self._asked(label, items)

    def _asked(self, label: Fact, items: Sequence[Any]) -> Fact | None:
        """The items that are part of the answer, in both their forms. A list is due whole: also
        the items that happen to stand in the rules.
        """
        (value,) = label.forms
        if isinstance(value, list):
            whole = cast("list[Any]", value)
            kept = [
                item for item in _scalars(whole) if any(_same(item, one) for one in self.values)
            ]
            return replace(label, forms=(kept,)) if kept else None
        equal = [other for item in items for other in self.values if _same(item, other)]
        others = [item for item in equal if item != value]
        return replace(label, forms=(value, *others)) if equal else None

    def _is_given(self, value: Any) -> bool:
        short = isinstance(value, (int, float)) and abs(value) < 1000
        return not short and any(part.holds(value) for part in self.given)


def _outcomes(evidence: Evidence) -> set[str]:
    """The fields of the answer that hold a word for what came of the request."""
    properties: Mapping[str, Mapping[str, Any]]
    properties = (evidence.task.answer or {}).get("properties", {})
    answer = evidence.submitted or {}
    return {
        name
        for name, spec in properties.items()
        if "enum" in spec and str(answer.get(name)).islower()
    }


def _scalars(value: Any) -> Iterator[Any]:
    for _, leaf in named_values(value):
        if leaf is not None and not isinstance(leaf, bool) and leaf != "":
            yield leaf


def _same(one: Any, other: Any) -> bool:
    """Compare two scalars; an amount may be in cents."""
    try:
        left, right = float(one), float(other)
    except (TypeError, ValueError):
        return squeeze(str(one)) == squeeze(str(other))
    return any(abs(left - right * factor) < 1e-9 for factor in (1, 100, 0.01))


def _concerned(evidence: Evidence, said: Sequence[str]) -> set[Person]:
    """The people of the request, of the user's turns, and of gold's words, writes and answer,
    which is the result of its last query where a query answers.
    """
    people: People | None = evidence.people
    if people is None:
        return set()
    task = evidence.task
    found: set[Person] = set()
    for text in (task.system, task.prompt, *said, *(turn.text for turn in evidence.turns)):
        found |= people.in_text(text)
    found |= people.in_data(evidence.submitted)
    for change in evidence.changes:
        for row in (change.key, change.before, change.after):
            found |= people.in_data(row)
    for call in evidence.calls:
        if call.changes:
            found |= people.in_data(call.arguments)
    asking = next(
        (gate.options["tool"] for gate in task.gates if gate.name in QUESTIONS.builtin), ""
    )
    answers = [call.result for call in evidence.calls if call.name == asking and call.result]
    return found.union(*(people.in_data(answer.payload()) for answer in answers[-1:]))


def _shown(evidence: Evidence) -> set[Person]:
    """The people of gold's calls, and of its results with few people in them."""
    people: People | None = evidence.people
    if people is None:
        return set()
    found: set[Person] = set()
    for call in evidence.calls:
        found |= people.in_data(call.arguments)
        if call.result is None:
            continue
        named = people.in_data(call.result.payload())
        if len(named) <= FEW or call.name in {SUBMIT, "submit_sql"}:
            found |= named
    return found
