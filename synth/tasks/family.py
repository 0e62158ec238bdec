"""Task families: a world's tasks.yaml, parsed and checked. Every mistake names file, line and the nearest valid word."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from envs.tool import PROPERTY
from envs.types import Table
from synth.errors import TaskError
from synth.tasks.ground import Domain, parse_domain
from synth.tasks.rules import check_tolerance, read_compare
from synth.tasks.steps import WORDS, Scope, compile_steps, nearest
from synth.tasks.template import Unknown, compile_value, names_in
from synth.tasks.yaml_source import Map, Seq, load_yaml

Json = Any

WORLD_KEYS = frozenset({"now", "compare", "families"})
FAMILY_KEYS = frozenset(
    {"id", "about", "ground", "vary", "user", "answer", "twins", "oracle", "gold", "gates", "compare"}
)
FIELD_KEYS = frozenset({"type", "enum", "items", "description", "compare"})
FIELD_TYPES = frozenset({"string", "integer", "number", "boolean", "array"})
FIELD_COMPARE = frozenset({"exact", "text", "set"})
FIELD_VALUES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
}
GATES = frozenset({"state", "answer", "required_calls", "forbidden_calls"})
FAMILY_ID = re.compile(r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$")
SLOT = re.compile(r"^[A-Za-z_]\w*$")
_BOUND = re.compile(r":([A-Za-z_]\w*)")


@dataclass(frozen=True)
class Family:
    """One family, compiled: values hold notation nodes (see :mod:`synth.tasks.template`)."""

    id: str
    file: str
    line: int
    about: str
    key: str
    sql: str
    vary: Mapping[str, Domain]
    says: Sequence[Json]
    answer: Mapping[str, Json] | None
    compare_answer: Mapping[str, Json]
    twins: Mapping[str, str]
    oracle: Mapping[str, str]
    gold: Sequence[Json]
    gates: Sequence[Json]
    compare: Mapping[str, Json]
    ground_line: int = 1
    raw: Mapping[str, Json] = field(default_factory=dict[str, Any])

    def fail(self, message: str, line: int | None = None) -> TaskError:
        return TaskError(message, self.file, line or self.line, self.id)


@dataclass(frozen=True)
class TaskFile:
    """A whole tasks.yaml."""

    file: str
    now: str
    families: Sequence[Family]


class _Reader:
    """Reads one file with the tools' parameter names, the tables and the groundings' column names at hand."""

    def __init__(
        self, file: Path, tools: Mapping[str, frozenset[str]], tables: Mapping[str, Table], columns: ColumnsOf
    ) -> None:
        self.file, self.tools, self.tables, self.columns = str(file), tools, tables, columns
        self.family: str | None = None

    def fail(self, message: str, line: int | None) -> TaskError:
        return TaskError(message, self.file, line, self.family)

    def mapping(self, value: Json, what: str, line: int, known: frozenset[str] | None = None) -> Map:
        if not isinstance(value, Map):
            raise self.fail(f"{what} must be a mapping", line)
        for key in value:
            if known is not None and key not in known:
                raise self.fail(f"{what} has no key {key!r}; {nearest(key, known)}", value.lines[key])
        return value

    def text(self, owner: Map, key: str, what: str) -> str:
        value = owner.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self.fail(f"{what} needs `{key}`, a text", owner.lines.get(key, owner.line))
        return value

    def read(self, root: Json) -> TaskFile:
        top = self.mapping(root, "tasks.yaml", 1, WORLD_KEYS)
        if taken := sorted(WORDS & set(self.tools)):
            raise self.fail(f"a tool cannot be named {taken[0]!r}, a word of this notation: give it another name", 1)
        now = str(top.get("now", "2026-01-01T09:00:00"))
        try:
            moment = dt.datetime.fromisoformat(now)
        except ValueError:
            raise self.fail(f"`now` must be an ISO date and time, not {now!r}", top.lines.get("now")) from None
        if moment.tzinfo is not None:
            raise self.fail(f"`now` is taken as UTC: write {now!r} without its offset", top.lines["now"])
        compare = self.compare(top.get("compare"), top.lines.get("compare", 1))
        entries = top.get("families")
        if not isinstance(entries, Seq) or not entries:
            raise self.fail("needs `families`, a list with at least one family", top.lines.get("families", 1))
        families: list[Family] = []
        for at, entry in enumerate(entries):
            self.family = None
            family = self.one(self.mapping(entry, "a family", entries.lines[at], FAMILY_KEYS), compare)
            if any(each.id == family.id for each in families):
                raise self.fail("two families have this id", family.line)
            families.append(family)
        return TaskFile(self.file, now, families)

    def compare(self, raw: Json, line: int) -> dict[str, Json]:
        if raw is None:
            return {}
        return read_compare(self.mapping(raw, "compare", line), self.tables, self.fail)

    def one(self, raw: Map, compare: Mapping[str, Json]) -> Family:
        name = self.text(raw, "id", "a family")
        if not FAMILY_ID.fullmatch(name):
            raise self.fail(f"the id {name[:80]!r} must match {FAMILY_ID.pattern}", raw.lines["id"])
        self.family = name
        if not isinstance(raw.get("about", ""), str):
            raise self.fail("`about` is a text", raw.lines["about"])
        for key in ("ground", "user", "gold"):
            if key not in raw:
                raise self.fail(f"needs `{key}`", raw.line)
        ground = self.mapping(raw["ground"], "ground", raw.lines["ground"], frozenset({"key", "sql"}))
        sql, key = self.text(ground, "sql", "ground").strip().rstrip(";"), self.text(ground, "key", "ground")
        columns = self.columns(sql, self.file, ground.lines["sql"], name)
        if key not in columns:
            raise self.fail(f"the grounding has no column {key!r}; {nearest(key, set(columns))}", ground.lines["key"])
        vary_raw = self.mapping(raw.get("vary") or Map(), "vary", raw.lines.get("vary", raw.line))
        vary: dict[str, Domain] = {}
        for slot, domain in vary_raw.items():
            if not SLOT.fullmatch(slot):
                raise self.fail(f"the slot {slot!r} must match {SLOT.pattern}", vary_raw.lines[slot])
            if slot in columns:
                raise self.fail(f"{slot!r} is a grounding column already", vary_raw.lines[slot])
            try:
                vary[slot] = parse_domain(domain)
            except ValueError as error:
                raise self.fail(f"vary {slot}: {error}", vary_raw.lines[slot]) from None
        slots = frozenset(columns) | frozenset(vary)
        twins = self.twins(raw)
        answer, compare_answer = self.answer(raw)
        scope = Scope(self.file, name, slots, self.tools, frozenset(twins), frozenset(answer or ()))
        gold = compile_steps(raw["gold"], scope, raw.lines["gold"], set())
        oracle = self.mapping(raw.get("oracle") or Map(), "oracle", raw.lines.get("oracle", raw.line))
        for each, query in oracle.items():
            if not isinstance(query, str):
                raise self.fail(f"oracle {each} must be one SQL query", oracle.lines[each])
        own = self.compare(raw.get("compare"), raw.lines.get("compare", raw.line))
        says = self.says(raw, slots)
        used = names_in([says, gold], "$slot").union(*(_BOUND.findall(str(each)) for each in oracle.values()))
        if idle := [slot for slot in vary if slot not in used]:
            message = f"the slot {idle[0]!r} is used nowhere: it would make the same task many times"
            raise self.fail(message, vary_raw.lines[idle[0]])
        if twins and not any(step["do"] == "branch" for step in gold):
            message = f"gold has no step of its own for any twin: write `- {next(iter(twins))}: [steps]`"
            raise self.fail(message, raw.lines["twins"])
        gates = self.gates(raw, bool(submitted_fields(gold)), answer or {}, compare_answer, frozenset(oracle))
        options = [cast("dict[str, Json]", gate) for gate in gates if isinstance(gate, dict)]
        asked = {name for gate in options for name in gate.get("answer", {}).values()}
        if spare := [each for each in oracle if each not in asked and each not in (answer or {})]:
            message = f"the oracle {spare[0]!r} checks nothing: no answer field has its name, and no gate asks it"
            raise self.fail(f"{message}; {nearest(spare[0], set(answer or ()))}", oracle.lines[spare[0]])
        return Family(
            id=name,
            file=self.file,
            line=raw.line,
            about=raw.get("about", ""),
            key=key,
            sql=sql,
            vary=vary,
            says=says,
            answer=_answer_schema(answer, gold),
            compare_answer=compare_answer,
            twins=twins,
            oracle={each: query.strip().rstrip(";") for each, query in oracle.items()},
            gold=gold,
            gates=gates,
            compare={**compare, **own},
            ground_line=ground.lines["sql"],
            raw=raw,
        )

    def twins(self, raw: Map) -> dict[str, str]:
        twins = self.mapping(raw.get("twins") or Map(), "twins", raw.lines.get("twins", raw.line))
        if len(twins) == 1:
            raise self.fail("twins come in two or more", raw.lines["twins"])
        for word, condition in twins.items():
            if word in WORDS or word in self.tools:
                raise self.fail(f"a twin cannot be named {word!r}: the word is taken", twins.lines[word])
            if not isinstance(condition, str):
                raise self.fail(f"twin {word}: its condition is SQL over the grounding", twins.lines[word])
        return dict(twins)

    def says(self, raw: Map, slots: frozenset[str]) -> list[Json]:
        user = self.mapping(raw["user"], "user", raw.lines["user"], frozenset({"says", "knows", "agrees_if"}))
        for later in ("knows", "agrees_if"):
            if later in user:
                raise self.fail(f"`{later}` needs a user who answers, and rollouts have none yet", user.lines[later])
        says = user.get("says")
        texts = cast("list[Json]", says) if isinstance(says, list) else [says]
        line = user.lines.get("says", user.line)
        if not texts or not all(isinstance(each, str) and each.strip() for each in texts):
            raise self.fail("`says` is a text, or a list of texts", line)
        out: list[Json] = []
        for each in texts:
            try:
                out.append(compile_value(each, slots, frozenset()))
            except Unknown as error:
                message = f"says: there is no slot {error.name!r}; {nearest(error.name, slots)}"
                raise self.fail(message, line) from None
            except ValueError as error:
                raise self.fail(f"says: {error}", line) from None
        return out

    def answer(self, raw: Map) -> tuple[dict[str, Mapping[str, Json]] | None, dict[str, Json]]:
        """The answer's fields as JSON Schema properties, and how each compares."""
        if raw.get("answer") is None:
            return None, {}
        fields = self.mapping(raw["answer"], "answer", raw.lines["answer"])
        properties: dict[str, Mapping[str, Json]] = {}
        compare: dict[str, Json] = {}
        for name, entry in fields.items():
            line = fields.lines[name]
            if not PROPERTY.fullmatch(name):
                raise self.fail(f"answer {name[:80]!r}: a field's name must match {PROPERTY.pattern}", line)
            spec = self.mapping(entry, f"answer {name}", line, FIELD_KEYS)
            kind: Json = spec.get("type", "string")
            if not isinstance(kind, str) or kind not in FIELD_TYPES:
                raise self.fail(f"answer {name}: unknown type {kind!r}; {nearest(str(kind), FIELD_TYPES)}", line)
            schema: dict[str, Json] = {"type": kind}
            if "enum" in spec:
                if not isinstance(spec["enum"], Seq) or not spec["enum"]:
                    raise self.fail(f"answer {name}: enum must be a list of values", line)
                for value in spec["enum"]:
                    boolean = isinstance(value, bool) is not (kind == "boolean")
                    if kind == "array" or boolean or not isinstance(value, FIELD_VALUES[kind]):
                        raise self.fail(f"answer {name}: {value!r} in enum is no {kind}", line)
                schema["enum"] = list(spec["enum"])
            if kind == "array":
                items: Json = spec.get("items", "string")
                if not isinstance(items, str) or items not in FIELD_TYPES - {"array"}:
                    raise self.fail(f"answer {name}: items must be a scalar type, not {items!r}", line)
                schema["items"] = {"type": items}
            properties[name] = schema | {"description": self.text(spec, "description", f"answer {name}")}
            compare[name] = self.field_rule(spec.get("compare", "exact"), name, kind, line)
        return properties, compare

    def field_rule(self, rule: Json, name: str, kind: str, line: int) -> Json:
        if isinstance(rule, Map):
            check_tolerance(rule, line, self.fail)
            if kind not in {"integer", "number"}:
                raise self.fail(f"answer {name}: a tolerance goes with numbers, not with {kind}", line)
            return dict(rule)
        if not isinstance(rule, str) or rule not in FIELD_COMPARE:
            raise self.fail(f"answer {name}: unknown compare {rule!r}; {nearest(str(rule), FIELD_COMPARE)}", line)
        if rule == "set" and kind != "array":
            raise self.fail(f"answer {name}: `set` goes with an array", line)
        if rule == "text" and kind not in {"string", "array"}:
            raise self.fail(f"answer {name}: `text` goes with strings", line)
        return rule

    def gates(
        self, raw: Map, submits: bool, answer: Json, compare_answer: dict[str, Json], oracle: frozenset[str]
    ) -> list[Json]:
        """The gates in order; a rule that the answer gate gives for a field goes into ``compare_answer``."""
        entries = raw.get("gates")
        if entries is None:
            return ["state", "answer"] if submits else ["state"]
        line = raw.lines["gates"]
        if not isinstance(entries, Seq) or not entries:
            raise self.fail("gates must be a list", line)
        out: list[Json] = []
        for entry in entries:
            one = isinstance(entry, Map) and len(entry) == 1
            name, value = cast("tuple[Json, Json]", next(iter(entry.items())) if one else (entry, None))
            if not isinstance(name, str) or name not in GATES:
                raise self.fail(f"unknown gate {name!r}; {nearest(str(name), GATES)}", line)
            if name == "answer" and not submits:
                raise self.fail("the gate `answer` needs a `submit` in gold", line)
            if name in {each if isinstance(each, str) else next(iter(each)) for each in out}:
                raise self.fail(f"the gate {name!r} stands there twice", line)
            if name == "state" and value is not None:
                raise self.fail("the gate `state` takes no options; `compare` says how columns compare", line)
            if name == "answer" and value is not None:
                value = self.answer_gate(value, answer, compare_answer, oracle, line)
            if name in {"required_calls", "forbidden_calls"}:
                calls = list(cast("list[Json]", value)) if isinstance(value, list) else []
                if not calls or any(str(each) not in self.tools for each in calls):
                    raise self.fail(f"{name} takes a list of tools; known are {', '.join(self.tools)}", line)
                value = calls
            out.append(name if value is None else {name: value})
        return out

    def answer_gate(
        self, value: Json, answer: Json, compare_answer: dict[str, Json], oracle: frozenset[str], line: int
    ) -> Json:
        """``{field: $oracle.name}`` or ``{field: {rule: $oracle.name}}``: the field's value comes from an oracle."""
        out: dict[str, str] = {}
        for name, wanted in self.mapping(value, "answer gate", line, frozenset(answer)).items():
            source = wanted
            if isinstance(wanted, Map) and len(wanted) == 1:
                rule, source = next(iter(wanted.items()))
                rule = self.field_rule(rule, name, answer[name]["type"], line)
                if compare_answer[name] not in {"exact", rule}:
                    message = f"answer gate {name}: `{rule}` here, `compare: {compare_answer[name]}` in the answer"
                    raise self.fail(message, line)
                compare_answer[name] = rule
            label = str(source).removeprefix("$oracle.")
            if not str(source).startswith("$oracle.") or label not in oracle:
                raise self.fail(f"answer gate {name}: write $oracle.NAME; {nearest(label, oracle)}", line)
            out[name] = label
        return out


def submitted_fields(steps: Sequence[Json]) -> list[set[str]]:
    """The fields of each ``submit`` in compiled steps, whatever its branch."""
    out: list[set[str]] = []
    for step in steps:
        if step["do"] == "submit":
            out.append(set(step["fields"]))
        out += submitted_fields(step.get("steps", ()))
    return out


def _answer_schema(fields: Mapping[str, Json] | None, gold: Sequence[Json]) -> dict[str, Json] | None:
    """The submit tool's parameters: a field is required where every branch hands it in."""
    if fields is None:
        return None
    submits = submitted_fields(gold)
    required = [name for name in fields if submits and all(name in each for each in submits)]
    return {"type": "object", "properties": fields, "required": required, "additionalProperties": False}


ColumnsOf = Any
"""``(sql, file, line, family) -> tuple of column names``; raises TaskError where the database refuses the query."""


def read_tasks(
    file: Path, tools: Mapping[str, frozenset[str]], tables: Mapping[str, Table], columns: ColumnsOf
) -> TaskFile:
    """Parse and check a tasks.yaml. Raises :class:`~synth.errors.TaskError` for the first mistake."""
    return _Reader(file, tools, tables, columns).read(load_yaml(file))
