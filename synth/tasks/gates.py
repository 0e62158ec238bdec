"""The `gates` of a family: what a rollout has to pass, each either a word or a word with options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from synth.tasks.answer import field_rule
from synth.tasks.scope import Scope, nearest
from synth.tasks.sql_question import read_sql_gate
from synth.tasks.steps import every_step
from synth.tasks.template import fill, text_of
from synth.tasks.words import GATES, SAYS_KEYS, TALK
from synth.tasks.yaml_source import Map, Seq

Json = Any


@dataclass(frozen=True)
class Judged:
    """What gates refer to. A rule that the answer gate gives for a field is written into ``compare``.

    ``sql`` is the compiled query of a question, ``ordered`` whether it has an order.
    """

    gold: Sequence[Json]
    answer: Mapping[str, Mapping[str, Json]]
    compare: dict[str, Json]
    oracle: frozenset[str]
    sql: Json = None
    ordered: bool = False

    @property
    def steps(self) -> frozenset[str]:
        """What gold does, in the words of steps."""
        return frozenset(step["do"] for step in every_step(self.gold))


def read_gates(raw: Map, scope: Scope, judged: Judged) -> list[Json]:
    """The gates in order; by default ``state``, and ``answer`` where gold submits, ``sql`` where it submits a query."""
    entries = raw.get("gates")
    if entries is None and judged.sql is not None:
        return ["state", {"sql": read_sql_gate(None, scope, judged.sql, judged.ordered, raw.line)}]
    if entries is None:
        return ["state", "answer"] if "submit" in judged.steps else ["state"]
    line = raw.lines["gates"]
    if not isinstance(entries, Seq) or not entries:
        raise scope.fail("gates must be a list", line)
    out: list[Json] = []
    for at, entry in enumerate(entries):
        where = entries.lines[at]
        one = isinstance(entry, Map) and len(entry) == 1
        name, value = cast("tuple[Json, Json]", next(iter(entry.items())) if one else (entry, None))
        if not isinstance(name, str) or name not in GATES:
            raise scope.fail(f"unknown gate {name!r}; {nearest(str(name), GATES)}", where)
        if name in {each if isinstance(each, str) else next(iter(each)) for each in out}:
            raise scope.fail(f"the gate {name!r} stands there twice", where)
        options = _options(name, value, scope, judged, where)
        out.append(name if options is None else {name: options})
    if judged.sql is not None and not any(isinstance(gate, dict) and "sql" in gate for gate in out):
        raise scope.fail("the gates leave out `sql`, so that nobody would look at the answer", line)
    return out


def _options(name: str, value: Json, scope: Scope, judged: Judged, line: int) -> Json:
    if name == "answer":
        if "submit" not in judged.steps:
            raise scope.fail("the gate `answer` needs a `submit` in gold", line)
        return None if value is None else _answer_gate(value, scope, judged, line)
    if name == "sql":
        if judged.sql is None:
            raise scope.fail("the gate `sql` judges a family that has `sql`, its right query", line)
        return read_sql_gate(value, scope, judged.sql, judged.ordered, line)
    if name == "state":
        if value is not None:
            raise scope.fail("the gate `state` takes no options; `compare` says how columns compare", line)
        return None
    if name == "says":
        phrases = scope.mapping(value, "says", line, SAYS_KEYS)
        if not phrases:
            raise scope.fail("the gate `says` needs `all` or `none`, phrases of the last reply", line)
        return {key: scope.texts(each, f"says {key}", phrases.lines[key]) for key, each in phrases.items()}
    entries = list(cast("list[Json]", value)) if isinstance(value, list) else []
    if name == "no_write_before":
        if not entries or any(each not in TALK for each in map(str, entries)):
            raise scope.fail(f"no_write_before takes a list of {' and '.join(sorted(TALK))}", line)
        if idle := [each for each in entries if each not in judged.steps]:
            raise scope.fail(f"no_write_before names {idle[0]!r}, and gold has no `{idle[0]}` step", line)
        return entries
    if not entries:
        raise scope.fail(f"{name} takes a list of tools; known are {', '.join(scope.tools)}", line)
    if unknown := [each for each in map(str, entries) if each not in scope.tools]:
        raise scope.fail(
            f"{name} takes a list of tools, and {unknown[0]!r} is none; {nearest(unknown[0], scope.tools)}", line
        )
    return entries


def _answer_gate(value: Json, scope: Scope, judged: Judged, line: int) -> Json:
    """``{field: $oracle.name}`` or ``{field: {rule: $oracle.name}}``: the field's value comes from an oracle."""
    out: dict[str, str] = {}
    for name, wanted in scope.mapping(value, "answer gate", line, judged.answer).items():
        source = wanted
        if isinstance(wanted, Map) and len(wanted) == 1:
            rule, source = next(iter(wanted.items()))
            rule = field_rule(rule, name, judged.answer[name]["type"], line, scope)
            if judged.compare[name] not in {"exact", rule}:
                message = f"answer gate {name}: `{rule}` here, `compare: {judged.compare[name]}` in the answer"
                raise scope.fail(message, line)
            judged.compare[name] = rule
        label = str(source).removeprefix("$oracle.")
        if not str(source).startswith("$oracle.") or label not in judged.oracle:
            raise scope.fail(f"answer gate {name}: write $oracle.NAME; {nearest(label, judged.oracle)}", line)
        out[name] = label
    return out


def realise_gates(gates: Sequence[Json], slots: Mapping[str, Json]) -> list[Json]:
    """The gates of one task: the phrases of `says` have its slots in them, and so has the query of `sql`."""
    return [_realised(gate, slots) for gate in gates]


def _realised(gate: Json, slots: Mapping[str, Json]) -> Json:
    if "says" in gate:
        return {"says": _phrases(gate["says"], slots)}
    if isinstance(gate, dict) and "sql" in gate:
        return {"sql": fill(cast("Json", gate)["sql"], "$slot", slots)}
    return cast("Json", gate)


def _phrases(lists: Mapping[str, Sequence[Json]], slots: Mapping[str, Json]) -> Json:
    return {key: [text_of(fill(each, "$slot", slots)) for each in some] for key, some in lists.items()}
