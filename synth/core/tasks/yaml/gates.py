"""The `gates` of a family: what a rollout has to pass, each either a word or a word with
options.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from envs.world.loader import World
from envs.world.world_file import NOT_PERSONAL
from synth.core.tasks.yaml.answer import field_rule
from synth.core.tasks.yaml.base import Question
from synth.core.tasks.yaml.models import GateModel, keys_of
from synth.core.tasks.yaml.scope import Scope, listed_of, nearest
from synth.core.tasks.yaml.source_map import Map
from synth.core.tasks.yaml.step_templates import StepTemplate
from synth.core.tasks.yaml.template import fill, text_of
from synth.core.tasks.yaml.words import SUBMIT_SQL
from synth.core.types.checks import Gate, find_gate
from synth.core.types.steps import CallStep, every_step
from synth.errors import ConfigProblems
from synth.plugins import QUESTIONS, REWARDS, PluginError

Json = Any


@dataclass(frozen=True)
class Judged:
    """The parts of a family that its gates refer to.

    A rule that the answer gate gives for a field is written into ``compare``.

    ``question`` is the key that takes the place of gold, compiled.
    """

    gold: Sequence[StepTemplate]
    answer: Mapping[str, Mapping[str, Json]]
    compare: dict[str, Json]
    oracle: frozenset[str]
    question: Question | None = None

    @property
    def steps(self) -> frozenset[str]:
        """The words of the steps in gold."""
        return frozenset(step.do for step in every_step(self.gold))


def read_gates(raw: Map, scope: Scope, judged: Judged) -> list[Gate]:
    """The gates in order; by default ``state``, and ``answer`` where gold submits, ``sql`` where it
    submits a query. The gate ``reply`` is the last one of every family.
    """
    return [*_listed_gates(raw, scope, judged), *_reply_gate(raw, scope, judged)]


def _reply_gate(raw: Map, scope: Scope, judged: Judged) -> list[Gate]:
    """The gate `reply`, which every family has; the key `reply` has its options."""
    calls = [step.tool for step in every_step(judged.gold) if isinstance(step, CallStep)]
    acts = list(dict.fromkeys(calls))
    options: dict[str, Json] = {"acts": acts}
    given = scope.part(raw, "reply")
    for key in ("must", "never", "forbid"):
        if texts := scope.listed(given, key, f"reply {key}"):
            options[key] = texts
    if given.get("unjudged") is not None:
        options["unjudged"] = given["unjudged"]
    return [Gate("reply", options)]


def _listed_gates(raw: Map, scope: Scope, judged: Judged) -> list[Gate]:
    entries = raw.get("gates")
    question = judged.question
    if entries is None and question is not None:
        options = question.gate_options(None, scope, raw.line)
        return [Gate("state"), Gate(question.key, options)]
    if entries is None:
        answer = [Gate("answer")] if "submit" in judged.steps else []
        return [Gate("state"), *answer]
    line = raw.lines["gates"]
    gates: list[Gate] = []
    for entry, where in zip(entries, entries.lines, strict=True):
        name, value = _name_and_options(entry, scope, where)
        if find_gate(gates, name) is not None:
            raise scope.fail(f"the gate {name!r} stands there twice", where)
        gates.append(Gate(name, _options(name, value, scope, judged, where)))
    if question is not None and find_gate(gates, question.key) is None:
        message = f"the gates leave out `{question.key}`, so that nobody would look at the answer"
        raise scope.fail(message, line)
    return gates


def _name_and_options(entry: Json, scope: Scope, line: int) -> tuple[str, Json]:
    """The name of an entry of `gates` and its raw options."""
    pair = isinstance(entry, Map) and len(entry) == 1
    name, value = cast("tuple[Json, Json]", next(iter(entry.items())) if pair else (entry, None))
    if not isinstance(name, str):
        raise scope.fail(f"unknown gate {name!r}; {nearest(str(name), REWARDS.builtin)}", line)
    return name, value


def _extension_options(name: str, value: Json, scope: Scope, line: int) -> Json:
    """The options of a gate that does not ship, checked by the gate itself."""
    raw = json.loads(json.dumps(value))
    try:
        made = REWARDS.load(name)
        gate: Any = made() if callable(made) else made
        if not hasattr(gate, "parse_options"):
            raise PluginError(f"{name} is not a gate, a subclass of synth.rewards.Verifier")
        gate.parse_options(raw)
    except PluginError as error:
        raise scope.fail(f"gates: {error}", line) from None
    except ConfigProblems as error:
        first, keys = error.problems[0], value if isinstance(value, Map) else Map()
        key = next((key for key in keys if f".{key}:" in first or f".{key}." in first), None)
        where = line if key is None else keys.lines[key]
        raise scope.fail(f"gates: {'; '.join(error.problems)}", where) from None
    return raw


def _options(name: str, value: Json, scope: Scope, judged: Judged, line: int) -> Json:
    """The checked options of a gate; None for a gate without options."""
    if name not in REWARDS.builtin:
        return _extension_options(name, value, scope, line)
    if name == "answer":
        return _answer_gate(value, scope, judged, line)
    if name in QUESTIONS.builtin:
        if judged.question is None or judged.question.key != name:
            message = f"the gate `{name}` judges a family that has `{name}`, its right query"
            raise scope.fail(message, line)
        return judged.question.gate_options(value, scope, line)
    if name == "state":
        if value is not None:
            raise scope.fail(
                "the gate `state` takes no options; `compare` says how columns compare", line
            )
        return None
    if value is None and name in keys_of(GateModel) - {"answer"} - set(QUESTIONS.builtin):
        raise scope.fail(f"the gate `{name}` needs options", line)
    if name == "says":
        return _says_gate(value, scope, line)
    if name == "reads_only":
        return cast("Map", value).copy()
    if name == "reply":
        message = (
            "every family has the gate `reply`: its options are under the family's key `reply`"
        )
        raise scope.fail(message, line)
    if name == "read_before":
        raise scope.fail("`read_before` is a key of the file and holds for all families", line)
    if name == "no_write_before":
        return _no_write_before_gate(value, scope, judged, line)
    return _call_gate(name, value, scope, line)


def _says_gate(phrases: Json, scope: Scope, line: int) -> Json:
    if not phrases:
        raise scope.fail("the gate `says` needs `all` or `none`, phrases of the last reply", line)
    return {key: scope.listed(phrases, key, f"says {key}") for key in phrases}


def _no_write_before_gate(value: Json, scope: Scope, judged: Judged, line: int) -> Json:
    if idle := [word for word in value if word not in judged.steps]:
        raise scope.fail(
            f"no_write_before names {idle[0]!r}, and gold has no `{idle[0]}` step", line
        )
    return list(value)


def _call_gate(name: str, value: Json, scope: Scope, line: int) -> Json:
    """The tools of `required_calls` and `forbidden_calls`."""
    if unknown := [tool for tool in value if tool not in scope.tools]:
        raise scope.fail(
            f"{name} takes a list of tools, and {unknown[0]!r} is none;"
            f" {nearest(unknown[0], scope.tools)}",
            line,
        )
    return list(value)


def read_lookups(top: Map, scope: Scope) -> Mapping[str, Json]:
    """The key `read_before` of a world, the options of the gate of that name."""
    raw = scope.part(top, "read_before")
    for tool in raw:
        where, reads = raw.lines[tool], raw[tool]
        if tool not in scope.tools:
            raise scope.fail(f"read_before: no tool {tool!r}; {nearest(tool, scope.tools)}", where)
        known = scope.tools[tool].get("properties", {})
        for lookup in (one for read in reads for one in listed_of(read)):
            name, argument = _name_and_options(lookup, scope, where)
            for word, choices in ((name, scope.tools), (argument, known)):
                if word is not None and word not in choices:
                    message = f"read_before {tool}: no {'tool' if word == name else 'argument'}"
                    raise scope.fail(f"{message} {word!r}; {nearest(str(word), choices)}", where)
    return json.loads(json.dumps(raw))


def _answer_gate(value: Json, scope: Scope, judged: Judged, line: int) -> Json:
    """``{field: $oracle.name}`` or ``{field: {rule: $oracle.name}}``: the field's value comes from
    an oracle.
    """
    if "submit" not in judged.steps:
        raise scope.fail("the gate `answer` needs a `submit` in gold", line)
    if value is None:
        return None
    out: dict[str, str] = {}
    for name, wanted in value.items():
        if name not in judged.answer:
            message = f"answer gate: no field {name!r}; {nearest(name, judged.answer)}"
            raise scope.fail(message, value.lines[name])
        source = wanted
        if isinstance(wanted, Map) and len(wanted) == 1:
            rule, source = next(iter(wanted.items()))
            rule = field_rule(rule, name, judged.answer[name]["type"], line, scope)
            if judged.compare[name] not in {"exact", rule}:
                message = (
                    f"answer gate {name}: `{rule}` here, `compare: {judged.compare[name]}`"
                    " in the answer"
                )
                raise scope.fail(message, line)
            judged.compare[name] = rule
        label = str(source).removeprefix("$oracle.")
        if not str(source).startswith("$oracle.") or label not in judged.oracle:
            raise scope.fail(
                f"answer gate {name}: write $oracle.NAME; {nearest(label, judged.oracle)}", line
            )
        out[name] = label
    return out


def with_defaults(
    gates: Sequence[Gate], world: World, read_before: Mapping[str, Json]
) -> Sequence[Gate]:
    """The gates of a family, with `reads_only` where the world declares personal columns and
    `read_before` where it demands reads.

    A question that a query answers may be about everybody. Where the agent hands the query in, the
    reply need not repeat what it gives.
    """
    asked = [gate for gate in gates if gate.name in QUESTIONS.builtin]
    if asked:
        told = asked[0].options.get("tool") != SUBMIT_SQL
        return [
            Gate(gate.name, {**(gate.options or {}), "outcome": told})
            if gate.name == "reply"
            else gate
            for gate in gates
        ]
    declared = any(traits.pii != NOT_PERSONAL for traits in world.columns.values())
    asked = any(gate.name == "reads_only" for gate in gates)
    reads = [Gate("read_before", read_before)] if read_before else []
    own = [] if asked or not declared else [Gate("reads_only")]
    return [*gates, *reads, *own]


def realise_gates(gates: Sequence[Gate], slots: Mapping[str, Json]) -> tuple[Gate, ...]:
    """The gates of one task: the phrases of `says` have its slots in them, and so has the query of
    `sql`.
    """
    return tuple(_realised(gate, slots) for gate in gates)


def _realised(gate: Gate, slots: Mapping[str, Json]) -> Gate:
    if gate.name == "says":
        return Gate(gate.name, _phrases(gate.options, slots))
    if gate.name == "reply":
        texts = {key: gate.options[key] for key in ("must", "never") if key in gate.options}
        return Gate(gate.name, {**gate.options, **_phrases(texts, slots)})
    if gate.name in QUESTIONS.builtin:
        return Gate(gate.name, fill(gate.options, "$slot", slots))
    return gate


def _phrases(lists: Mapping[str, Sequence[Json]], slots: Mapping[str, Json]) -> Json:
    return {
        key: [text_of(fill(item, "$slot", slots)) for item in some] for key, some in lists.items()
    }
