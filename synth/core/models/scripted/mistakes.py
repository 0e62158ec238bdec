"""The mistakes that the scripted expert can be told to make, and their effect on the reward.

``wrong_argument``
    A call with one argument that the tool's schema accepts and that is wrong.
``forgotten_step``
    A call left out that changed rows in gold.
``stray_write``
    One more write than gold makes: a repetition, or the same with another argument.
``invented_fact``
    Another value in the submitted answer, or a wrong fact put to the user for consent.
``premature_answer``
    The closing words (and the answer, if one is due) before the work.
``wrong_sql``
    A query that fails: an unknown table or column, an extra comma; always corrected.

A rollout holds one mistake at most, and only one that must cost reward unless it is corrected: it
concerns a value in a column that the world compares exactly, or in the answer. Its log is in the
record's ``provider_fields``, in the entry of the completion that makes it, and again in the entry
of the completion that corrects it or states its outcome at the end; the last one holds::

    {
        "mistake": {
            "kind": ..., "step": 2, "turn": 3, "recovered": false, "missing": true,
            "extra": ["call_2"], "detail": ...
        }
    }

``step`` counts gold's calls (its confirmations, if one of those is wrong) and ``turn`` the
rollout's completions, from 0; ``missing`` is true if a part of gold is not done, ``extra`` lists
the ids of calls that gold does not make.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from jsonschema import Draft202012Validator

from synth.core.foundation.hashing import derive_seed
from synth.core.foundation.perturbations import other_values, typo
from synth.core.tasks.yaml.words import SUBMIT, SUBMIT_SQL
from synth.core.types.steps import CallStep, ConfirmStep, every_step
from synth.task import Task

_TOKEN = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|[A-Za-z_]\w*|\S""")
_WORD = re.compile(r"[A-Za-z_]\w*")
_BEFORE_TABLES = frozenset({"from", "join"})


def misspelt(name: str) -> str:
    """Return a similar name: singular for plural, or words run together."""
    if "_" in name.strip("_"):
        rest = name.lstrip("_")
        return name[: len(name) - len(rest)] + rest.replace("_", "", 1)
    return name[:-1] if name.endswith("s") and len(name) > 3 else f"{name}s"


def wrong_queries(sql: str) -> Iterator[str]:
    """Return the query with an unknown table, with an unknown column, and with an extra comma, as
    far as it has these.
    """
    tokens = list(_TOKEN.finditer(sql))
    words = [token[0].lower() for token in tokens]
    table = next(
        (
            index + 1
            for index, word in enumerate(words[:-1])
            if word in _BEFORE_TABLES and _is_name(words[index + 1])
        ),
        None,
    )
    if table is not None:
        yield _exchanged(sql, tokens[table], misspelt(tokens[table][0]))
    column = next((index for index in range(len(words)) if _is_column(words, index)), None)
    if column is not None:
        yield _exchanged(sql, tokens[column], misspelt(tokens[column][0]))
    if words[:1] == ["select"] and "from" in words:
        start = tokens[words.index("from")].start()
        yield f"{sql[:start].rstrip()}, {sql[start:]}"


def _is_name(word: str) -> bool:
    return _WORD.fullmatch(word) is not None and word not in {"select", "lateral"}


def _is_column(words: list[str], index: int) -> bool:
    """Tell whether a word is a column's name: of two words, and neither a table, nor a function,
    nor defined in the query.
    """
    before = words[index - 1] if index else ""
    after = words[index + 1] if index + 1 < len(words) else ""
    named = _WORD.fullmatch(words[index]) is not None and "_" in words[index].strip("_")
    return named and before not in {*_BEFORE_TABLES, "as", "with", ")"} and after != "("


def _exchanged(sql: str, token: re.Match[str], other: str) -> str:
    return sql[: token.start()] + other + sql[token.end() :]


Json = Any


@dataclass(frozen=True, slots=True)
class Slip:
    """One mistake that a task allows. ``at`` is the index of gold's call (of its confirmation, if
    ``tool`` is empty).

    ``arguments`` are all the arguments of the wrong call, ``field`` names the wrong one. ``mends``
    is True if the expert corrects it unprompted, ``draw`` selects its words.
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
        """True if it is a wrong fact told to the user, and no call."""
        return not self.tool


STANDARD_GATES = frozenset({"state", "answer", "no_write_before", "reply", "reads_only"})
"""Gates whose verdict on a mistake follows from what it does to gold."""


def implied_failure(row: Mapping[str, Json]) -> bool:
    """Tell from a row's log and ``call_changes`` alone whether it cannot have earned the full
    reward.

    That is the case if a part of gold is missing, if a call that gold does not make has changed
    rows, or if a fact was invented where replies are judged, and not set right when the user
    objected.
    """
    log = [entry["mistake"] for entry in row["provider_fields"] if "mistake" in entry]
    if not log:
        return False
    changed = {change["id"] for change in row["call_changes"]}
    judged = any(verdict["verifier"] == "reply" for verdict in row["verdicts"] or ())
    invented = judged and log[-1]["kind"] == "invented_fact" and not log[-1]["recovered"]
    return bool(invented or log[-1]["missing"] or not changed.isdisjoint(log[-1]["extra"]))


def draw_slip(
    task: Task, tools: Sequence[Json], seed: int, kinds: Sequence[str], rate: float
) -> Slip | None:
    """Draw the mistake of one rollout of a proved task, a function of the seed; None for a rollout
    without one.
    """
    dice = random.Random(derive_seed("mistake", seed))
    if dice.random() >= rate or task.end is None:
        return None
    gold = Gold(task, tools)
    for kind in dice.sample(sorted(kinds), len(kinds)):
        places: dict[tuple[int, str], list[Slip]] = {}
        for mistake in _SLIPS[kind](gold):
            places.setdefault((mistake.at, mistake.tool), []).append(mistake)
        for place in dice.sample(sorted(places), len(places)):
            for slip in dice.sample(places[place], len(places[place])):
                if gold.takes(slip):
                    return replace(
                        slip, mends=slip.mends and dice.random() < 0.5, draw=dice.randrange(1000)
                    )
    return None


class Gold:
    """The solution of a proved task: its calls, and the calls and arguments that count."""

    def __init__(self, task: Task, tools: Sequence[Json] = ()) -> None:
        assert task.end is not None, "the task is proved"
        self.task = task
        self.end = task.end
        self.calls: list[tuple[str, Mapping[str, Json]]] = [
            (step["tool"], step["arguments"]) for step in task.end.played
        ]
        self.writes = (
            [index for index in task.end.writes if index < len(self.calls)]
            if "state" in task.gate_names
            else []
        )
        self.submits = (
            [index for index, (tool, _) in enumerate(self.calls) if tool == SUBMIT]
            if "answer" in task.gate_names
            else []
        )
        self._schemas: dict[str, Mapping[str, Json]] = {
            tool["function"]["name"]: tool["function"]["parameters"] for tool in tools
        }
        self._cells = set(_cells(task))
        self._values = {value for _, value in self._cells}

    @property
    def heeded(self) -> bool:
        """True if the result of a wrong look-up may be right, or wrong, for a reason other than
        gold's calls.
        """
        other_gates = self.task.gate_names - STANDARD_GATES
        return bool(self.task.rules.alternatives or other_gates)

    @property
    def counted(self) -> list[int]:
        """Indices of the calls that the reward depends on."""
        return sorted([*self.writes, *self.submits])

    def lands(self, name: str, value: Json) -> bool:
        """Tell whether an argument appears in gold's changes, in a column that compares exactly."""
        if value is None or isinstance(value, (list, dict)):
            return False
        plain = _plain(value)
        telling = len(plain) >= 3 if isinstance(plain, str) else abs(plain) >= 10
        return (name, plain) in self._cells or (telling and plain in self._values)

    def matters(self, index: int) -> bool:
        """Tell whether gold's end state reveals whether this write was made."""
        return any(self.lands(name, value) for name, value in self.calls[index][1].items())

    def takes(self, slip: Slip) -> bool:
        """Tell whether the tool's schema accepts the wrong arguments."""
        schema = self._schemas.get(slip.tool)
        if slip.arguments is None or schema is None:
            return True
        validator: Any = Draft202012Validator(schema)
        return not any(validator.iter_errors(dict(slip.arguments)))

    def others(self, index: int, name: str) -> list[Json]:
        """Return wrong values for an argument of a call."""
        tool, arguments = self.calls[index]
        return _wrong(
            arguments[name], self._schemas.get(tool, {}).get("properties", {}).get(name, {})
        )

    def surely_other(
        self, tool: str, arguments: Mapping[str, Json], due: Mapping[str, Json]
    ) -> bool:
        """Tell whether a call must end otherwise than gold's call with the arguments ``due``."""
        rules: Mapping[str, Json] = self.task.rules.compare_answer if tool == SUBMIT else {}
        return any(
            name in arguments
            and (tool == SUBMIT or self.lands(name, value))
            and surely_differ(value, arguments[name], rules.get(name, "exact"))
            for name, value in due.items()
        )


def _wrong(value: Json, schema: Mapping[str, Json]) -> list[Json]:
    """Return values that could be confused with this one."""
    if isinstance(value, list):
        items = cast("list[Json]", value)
        if not items:
            return [["unknown"], [1]]
        more = [wrong for wrong in _wrong(items[0], schema.get("items", {})) if wrong not in items]
        return [*([*items, wrong] for wrong in more[:1]), items[:-1]]
    others = [item for item in other_values(value, schema) if item is not None]
    return [typo(value)] if isinstance(value, str) and others == [f"{value} x"] else others


def has_number(text: str) -> bool:
    return any(map(str.isdigit, text))


def surely_differ(left: Json, right: Json, rule: Json = "exact") -> bool:
    """Tell whether two values differ under the most lenient comparison."""
    if isinstance(left, list) and isinstance(right, list):
        return {str(_plain(item)) for item in cast("list[Json]", left)} != {
            str(_plain(item)) for item in cast("list[Json]", right)
        }
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        bound: float = (
            cast("Mapping[str, float]", rule).get("abs", 0) if isinstance(rule, Mapping) else 0
        )
        return abs(left - right) > 2 * bound
    return isinstance(left, str) and isinstance(right, str) and _plain(left) != _plain(right)


def _plain(value: Json) -> Any:
    """Return a value without differences of form: 5.0 is 5, true is 1, case and white space do not
    count.
    """
    if isinstance(value, str):
        return " ".join(value.casefold().split())
    if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()):
        return int(value)
    return value


def _cells(task: Task) -> Iterator[tuple[str, Json]]:
    """Yield column and value of gold's changes, in columns that the world compares exactly."""
    assert task.end is not None
    for change in task.end.changes:
        images: list[Mapping[str, Json]] = [
            change["key"],
            change.get("after") or change.get("before") or {},
        ]
        for column, value in ((name, cell) for image in images for name, cell in image.items()):
            rule = task.rules.compare.get(
                f"{change['table']}.{column}", task.rules.compare.get(f"*.{column}", "exact")
            )
            if rule == "exact" and value is not None and not isinstance(value, (list, dict)):
                yield column, _plain(value)


def _wrong_arguments(gold: Gold) -> Iterator[Slip]:
    meant_to_fail = {
        step.tool
        for step in every_step(gold.task.gold)
        if isinstance(step, CallStep) and step.fails
    }
    last = max(gold.counted, default=-1)
    for index, (tool, arguments) in enumerate(gold.calls):
        if tool in meant_to_fail or tool == SUBMIT or index > last:
            continue
        for name, value in arguments.items():
            if isinstance(value, (list, dict)) or value is None:
                continue
            if _may_end_well(gold, index, name, value):
                continue
            for other in gold.others(index, name):
                yield Slip("wrong_argument", index, tool, {**arguments, name: other}, name)


def _may_end_well(gold: Gold, index: int, name: str, value: Json) -> bool:
    """Tell whether a write with another value for this argument may still lead to a right end."""
    if gold.task.end is None or index not in gold.task.end.writes:
        return False
    return (
        index not in gold.writes
        or bool(gold.task.rules.alternatives)
        or not gold.lands(name, value)
    )


def _forgotten_steps(gold: Gold) -> Iterator[Slip]:
    for index in gold.writes:
        if gold.matters(index):
            yield Slip(
                "forgotten_step", index, gold.calls[index][0], mends=index + 1 < len(gold.calls)
            )


def _stray_writes(gold: Gold) -> Iterator[Slip]:
    """Yield writes made right after gold's last write, so that no later one covers them up."""
    for index in gold.writes:
        tool, arguments = gold.calls[index]
        if gold.matters(index):
            yield Slip("stray_write", gold.writes[-1], tool, arguments)
            for name, value in arguments.items():
                if gold.lands(name, value) and not gold.task.rules.alternatives:
                    for other in gold.others(index, name):
                        yield Slip(
                            "stray_write", gold.writes[-1], tool, {**arguments, name: other}, name
                        )


def _invented_facts(gold: Gold) -> Iterator[Slip]:
    for index in gold.submits[:1]:
        arguments = gold.calls[index][1]
        for name, value in arguments.items():
            rule = gold.task.rules.compare_answer.get(name, "exact")
            bound = cast("Mapping[str, float]", rule)["abs"] if isinstance(rule, Mapping) else 0
            others = (
                [value + 3 * bound]
                if bound and isinstance(value, (int, float))
                else gold.others(index, name)
            )
            for other in others:
                if surely_differ(value, other, rule):
                    yield Slip("invented_fact", index, SUBMIT, {**arguments, name: other}, name)
    consent = None if gold.task.user is None else gold.task.user.consent
    if consent is not None and any(map(has_number, consent.mentions)):
        confirms = [step for step in every_step(gold.task.gold) if isinstance(step, ConfirmStep)]
        yield from (Slip("invented_fact", index) for index in range(len(confirms)))


def _premature_answers(gold: Gold) -> Iterator[Slip]:
    if any(gold.matters(index) for index in gold.writes):
        first = gold.writes[0]
        yield from (
            Slip("premature_answer", index, gold.calls[index][0]) for index in sorted({0, first})
        )
    elif gold.submits:
        yield Slip("premature_answer", gold.submits[0], SUBMIT)


def _wrong_sql(gold: Gold) -> Iterator[Slip]:
    for index, (tool, arguments) in enumerate(gold.calls):
        sql = arguments.get("sql")
        if isinstance(sql, str) and tool != SUBMIT_SQL and index not in gold.end.writes:
            for wrong in wrong_queries(sql):
                yield Slip("wrong_sql", index, tool, {**arguments, "sql": wrong}, "sql", mends=True)


_SLIPS = {
    "wrong_argument": _wrong_arguments,
    "forgotten_step": _forgotten_steps,
    "stray_write": _stray_writes,
    "invented_fact": _invented_facts,
    "premature_answer": _premature_answers,
    "wrong_sql": _wrong_sql,
}
