"""The mistakes that the scripted expert can be told to make, and what they imply for the reward.

``wrong_argument``    a call with one argument that the tool's schema takes and that is wrong
``forgotten_step``    a call left out that changed rows in gold
``stray_write``       one more write than gold makes: a repetition, or the same with another argument
``invented_fact``     another value in the submitted answer, or a wrong fact put to the user for consent
``premature_answer``  the closing words (and the answer, where one is due) before the work
``wrong_sql``         a query that fails: a table or a column that is not there, a comma too many; always set right

A rollout holds one mistake at most, and only one that must cost reward unless it is set right: it concerns what lands
in a column that the world compares exactly, or in the answer. Its log stands in the record's ``provider_fields``, in
the entry of the completion that makes it, and once more in that of the completion that sets it right or finds at the
end what came of it; the last one holds::

    {"mistake": {"kind": ..., "step": 2, "turn": 3, "recovered": false, "missing": true, "extra": ["call_2"], "detail": ...}}

``step`` counts gold's calls (its confirmations, where one is wrong) and ``turn`` the rollout's completions, from 0;
``missing`` says that something of gold is left undone, ``extra`` are the ids of calls that gold does not make.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from jsonschema import Draft202012Validator

from synth.canonical import derive_seed
from synth.mistaken import other_values, slip_of_the_pen
from synth.models.wrong_sql import wrong_queries
from synth.tasks.words import SUBMIT, SUBMIT_SQL
from synth.types import Task

Json = Any


@dataclass(frozen=True, slots=True)
class Slip:
    """One mistake that a task allows. ``at`` is the place of gold's call (of its confirmation, where ``tool`` is empty).

    ``arguments`` are all the arguments of the wrong call, ``field`` names the one that is wrong. ``mends`` says
    whether the expert sets it right of its own accord, ``draw`` picks its words.
    """

    kind: str
    at: int
    tool: str = ""
    arguments: Mapping[str, Json] | None = None
    field: str = ""
    mends: bool = False
    draw: int = 0

    @property
    def in_words(self) -> bool:
        """Whether it is a wrong fact put to the user, and no call."""
        return not self.tool


def implied_failure(row: Mapping[str, Json]) -> bool:
    """Whether a row's log says that it cannot have earned the full reward: by the log and ``call_changes`` alone.

    Something of gold is missing, or a call that gold does not make has changed rows.
    """
    log = [each["mistake"] for each in row["provider_fields"] if "mistake" in each]
    changed = {each["id"] for each in row["call_changes"]}
    return bool(log) and (log[-1]["missing"] or not changed.isdisjoint(log[-1]["extra"]))


def draw_slip(task: Task, tools: Sequence[Json], seed: int, kinds: Sequence[str], rate: float) -> Slip | None:
    """The mistake of one rollout of a proved task, a function of the seed; None: this rollout makes none."""
    dice = random.Random(derive_seed("mistake", seed))
    if dice.random() >= rate or task.end is None:
        return None
    gold = Gold(task, tools)
    for kind in dice.sample(sorted(kinds), len(kinds)):
        places: dict[tuple[int, str], list[Slip]] = {}
        for each in _SLIPS[kind](gold):
            places.setdefault((each.at, each.tool), []).append(each)
        for place in dice.sample(sorted(places), len(places)):
            for slip in dice.sample(places[place], len(places[place])):
                if gold.takes(slip):
                    return replace(slip, mends=slip.mends and dice.random() < 0.5, draw=dice.randrange(1000))
    return None


class Gold:
    """What a proved task says of its solution: the calls, and which of them and of their arguments count."""

    def __init__(self, task: Task, tools: Sequence[Json] = ()) -> None:
        assert task.end is not None, "the task is proved"
        self.task = task
        self.end = task.end
        self.calls: list[tuple[str, Mapping[str, Json]]] = [
            (each["tool"], each["arguments"]) for each in task.end.played
        ]
        gates = {each if isinstance(each, str) else next(iter(each)) for each in task.gates}
        self.writes = [at for at in task.end.writes if at < len(self.calls)] if "state" in gates else []
        self.submits = [at for at, (tool, _) in enumerate(self.calls) if tool == SUBMIT] if "answer" in gates else []
        self._schemas: dict[str, Mapping[str, Json]] = {
            each["function"]["name"]: each["function"]["parameters"] for each in tools
        }
        self._cells = set(_cells(task))
        self._values = {value for _, value in self._cells}

    @property
    def heeded(self) -> bool:
        """Whether what a wrong look-up leads to may still be right, or wrong, for a reason that is no call of gold's."""
        gates = {each if isinstance(each, str) else next(iter(each)) for each in self.task.gates}
        return bool(self.task.accept or gates - {"state", "answer", "no_write_before"})

    @property
    def counted(self) -> list[int]:
        """The places of the calls that the reward depends on."""
        return sorted([*self.writes, *self.submits])

    def lands(self, name: str, value: Json) -> bool:
        """Whether an argument shows in what gold leaves behind, in a column that compares exactly."""
        if value is None or isinstance(value, (list, dict)):
            return False
        plain = _plain(value)
        telling = len(plain) >= 3 if isinstance(plain, str) else abs(plain) >= 10
        return (name, plain) in self._cells or (telling and plain in self._values)

    def matters(self, at: int) -> bool:
        """Whether gold's end tells whether this write was made."""
        return any(self.lands(name, value) for name, value in self.calls[at][1].items())

    def takes(self, slip: Slip) -> bool:
        """Whether the tool's schema lets the wrong arguments pass."""
        schema = self._schemas.get(slip.tool)
        if slip.arguments is None or schema is None:
            return True
        return not any(Draft202012Validator(schema).iter_errors(dict(slip.arguments)))  # type: ignore[reportUnknownMemberType]

    def others(self, at: int, name: str) -> list[Json]:
        """Wrong values for an argument of a call."""
        tool, arguments = self.calls[at]
        return _wrong(arguments[name], self._schemas.get(tool, {}).get("properties", {}).get(name, {}))

    def surely_other(self, tool: str, arguments: Mapping[str, Json], due: Mapping[str, Json]) -> bool:
        """Whether a call must leave something else behind than gold's call with the arguments ``due``."""
        rules: Mapping[str, Json] = self.task.compare_answer if tool == SUBMIT else {}
        return any(
            name in arguments
            and (tool == SUBMIT or self.lands(name, value))
            and surely_differ(value, arguments[name], rules.get(name, "exact"))
            for name, value in due.items()
        )


def _wrong(value: Json, schema: Mapping[str, Json]) -> list[Json]:
    """Values that somebody might take for this one."""
    if isinstance(value, list):
        items = cast("list[Json]", value)
        if not items:
            return [["unknown"], [1]]
        more = [each for each in _wrong(items[0], schema.get("items", {})) if each not in items]
        return [*([*items, each] for each in more[:1]), items[:-1]]
    others = [each for each in other_values(value, schema) if each is not None]
    return [slip_of_the_pen(value)] if isinstance(value, str) and others == [f"{value} x"] else others


def has_number(text: str) -> bool:
    return any(map(str.isdigit, text))


def surely_differ(left: Json, right: Json, rule: Json = "exact") -> bool:
    """Whether two values differ however kindly they are compared."""
    if isinstance(left, list) and isinstance(right, list):
        return {str(_plain(each)) for each in cast("list[Json]", left)} != {
            str(_plain(each)) for each in cast("list[Json]", right)
        }
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        bound: float = cast("Mapping[str, float]", rule).get("abs", 0) if isinstance(rule, Mapping) else 0
        return abs(left - right) > 2 * bound
    return isinstance(left, str) and isinstance(right, str) and _plain(left) != _plain(right)


def _plain(value: Json) -> Any:
    """A value without differences of form: 5.0 is 5, true is 1, case and white space do not count."""
    if isinstance(value, str):
        return " ".join(value.casefold().split())
    if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()):
        return int(value)
    return value


def _cells(task: Task) -> Iterator[tuple[str, Json]]:
    """Column and value of what gold changes, where the world compares exactly."""
    assert task.end is not None
    for change in task.end.changes:
        images: list[Mapping[str, Json]] = [change["key"], change.get("after") or change.get("before") or {}]
        for column, value in ((name, cell) for image in images for name, cell in image.items()):
            rule = task.compare.get(f"{change['table']}.{column}", task.compare.get(f"*.{column}", "exact"))
            if rule == "exact" and value is not None and not isinstance(value, (list, dict)):
                yield column, _plain(value)


def _wrong_arguments(gold: Gold) -> Iterator[Slip]:
    meant_to_fail = {step["tool"] for step in _flat(gold.task.gold) if step.get("fails")}
    last = max(gold.counted, default=-1)
    for at, (tool, arguments) in enumerate(gold.calls):
        if tool in meant_to_fail or tool == SUBMIT or at > last:
            continue
        written = at in gold.task.end.writes if gold.task.end else False
        for name, value in arguments.items():
            if isinstance(value, (list, dict)) or value is None:
                continue
            # Where many ends are right, another argument may lead to one of them.
            if written and (at not in gold.writes or gold.task.accept or not gold.lands(name, value)):
                continue
            for other in gold.others(at, name):
                yield Slip("wrong_argument", at, tool, {**arguments, name: other}, name)


def _forgotten_steps(gold: Gold) -> Iterator[Slip]:
    for at in gold.writes:
        if gold.matters(at):
            yield Slip("forgotten_step", at, gold.calls[at][0], mends=at + 1 < len(gold.calls))


def _stray_writes(gold: Gold) -> Iterator[Slip]:
    """Made right after gold's last write, so that no later one covers them up."""
    for at in gold.writes:
        tool, arguments = gold.calls[at]
        if gold.matters(at):
            yield Slip("stray_write", gold.writes[-1], tool, arguments)
            for name, value in arguments.items():
                if gold.lands(name, value) and not gold.task.accept:
                    for other in gold.others(at, name):
                        yield Slip("stray_write", gold.writes[-1], tool, {**arguments, name: other}, name)


def _invented_facts(gold: Gold) -> Iterator[Slip]:
    for at in gold.submits[:1]:
        arguments = gold.calls[at][1]
        for name, value in arguments.items():
            rule = gold.task.compare_answer.get(name, "exact")
            bound = cast("Mapping[str, float]", rule)["abs"] if isinstance(rule, Mapping) else 0
            others = [value + 3 * bound] if bound and isinstance(value, (int, float)) else gold.others(at, name)
            for other in others:
                if surely_differ(value, other, rule):
                    yield Slip("invented_fact", at, SUBMIT, {**arguments, name: other}, name)
    consent = None if gold.task.user is None else gold.task.user.consent
    if consent is not None and any(map(has_number, consent.mentions)):
        confirms = [step for step in _flat(gold.task.gold) if step["do"] == "confirm"]
        yield from (Slip("invented_fact", at) for at in range(len(confirms)))


def _premature_answers(gold: Gold) -> Iterator[Slip]:
    if any(gold.matters(at) for at in gold.writes):
        first = gold.writes[0]
        yield from (Slip("premature_answer", at, gold.calls[at][0]) for at in sorted({0, first}))
    elif gold.submits:
        yield Slip("premature_answer", gold.submits[0], SUBMIT)


def _wrong_sql(gold: Gold) -> Iterator[Slip]:
    for at, (tool, arguments) in enumerate(gold.calls):
        sql = arguments.get("sql")
        if isinstance(sql, str) and tool != SUBMIT_SQL and at not in gold.end.writes:
            for wrong in wrong_queries(sql):
                yield Slip("wrong_sql", at, tool, {**arguments, "sql": wrong}, "sql", mends=True)


def _flat(steps: Sequence[Json]) -> Iterator[Json]:
    for step in steps:
        yield step
        yield from _flat(step.get("steps", ()))


_SLIPS = {
    "wrong_argument": _wrong_arguments,
    "forgotten_step": _forgotten_steps,
    "stray_write": _stray_writes,
    "invented_fact": _invented_facts,
    "premature_answer": _premature_answers,
    "wrong_sql": _wrong_sql,
}
