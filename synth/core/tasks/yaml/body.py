"""The body of a family: all that it says about a task whose slots are known. YAML and Python
families share it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from synth.core.tasks.queries import Queries, binds_of
from synth.core.tasks.yaml.answer import read_answer, read_compare, submit_schema
from synth.core.tasks.yaml.base import has_question, read_question
from synth.core.tasks.yaml.gates import Judged, read_gates, read_lookups
from synth.core.tasks.yaml.scope import Scope, listed_of, nearest
from synth.core.tasks.yaml.source_map import Map
from synth.core.tasks.yaml.step_templates import ConfirmTemplate, StepTemplate
from synth.core.tasks.yaml.steps import compile_steps
from synth.core.tasks.yaml.template import names_in
from synth.core.tasks.yaml.user import UserText, read_user, unmentioned
from synth.core.tasks.yaml.words import NOW, TODAY
from synth.core.types.checks import AlternativeEnd, ChangeFrame, Gate, find_gate
from synth.core.types.steps import SubmitStep, every_step
from synth.errors import TaskError
from synth.plugins import HONEST_AGENTS, PluginError


def _names_in_end(end: AlternativeEnd) -> set[str]:
    """The slots and binds that an end's SQL uses."""
    frames = [frame.where for frame in end.may_change.values()]
    return {name for sql in [*end.bind.values(), *end.must, *frames] for name in binds_of(sql)}


def _end(raw: Map, scope: Scope, queries: Queries) -> AlternativeEnd:
    names = set(scope.slots)
    bind: dict[str, str] = {}
    for name, sql in scope.part(raw, "bind").items():
        line = raw["bind"].lines[name]
        if name in names:
            raise scope.fail(f"the bind {name!r} would hide the slot of that name", line)
        bind[name] = _one_column(sql, f"bind {name}", names, line, scope, queries)
        names.add(name)
    frames, line = raw["may_change"], raw.lines["must"]
    return AlternativeEnd(
        bind=bind,
        must=tuple(
            _one_column(sql, "must", names, line, scope, queries) for sql in listed_of(raw["must"])
        ),
        may_change={table: _frame(table, frames, names, scope, queries) for table in frames},
    )


def _one_column(
    sql: str, what: str, names: set[str], line: int, scope: Scope, queries: Queries
) -> str:
    text = _sql(sql, what, names, line, scope)
    columns = queries.columns(text, names, TaskError(what, scope.file, line, scope.family))
    if len(columns) != 1:
        raise scope.fail(
            f"{what} must select one column, not {len(columns)} ({', '.join(columns)})", line
        )
    return text


def _sql(sql: str, what: str, names: set[str], line: int, scope: Scope) -> str:
    if unknown := [item for item in binds_of(sql) if item not in names]:
        message = (
            f"{what}: :{unknown[0]} is neither a slot nor an earlier bind;"
            f" {nearest(unknown[0], names)}"
        )
        raise scope.fail(message, line)
    return sql.strip().rstrip(";")


def _frame(table: str, frames: Map, names: set[str], scope: Scope, queries: Queries) -> ChangeFrame:
    line, raw, what = frames.lines[table], frames[table], f"may_change {table}"
    if table not in queries.tables:
        raise scope.fail(
            f"may_change: unknown table {table!r}; {nearest(table, queries.tables)}", line
        )
    frame = cast("Map", raw if isinstance(raw, Map) else {"where": raw})
    lines = raw.lines if isinstance(raw, Map) else dict.fromkeys(frame, line)
    where = _sql(frame["where"], f"{what}: where", names, lines["where"], scope)
    place = TaskError(what, scope.file, lines["where"], scope.family)
    queries.check_condition(table, where, names, place)
    known = {column.name for column in queries.tables[table].columns}
    if unknown := [word for word in frame.get("columns") or () if word not in known]:
        message = f"{what}: unknown column {unknown[0]!r}; {nearest(unknown[0], known)}"
        raise scope.fail(message, lines["columns"])
    columns, ops = (frame.get(key) and tuple(frame[key]) for key in ("columns", "ops"))
    return ChangeFrame(where=where, columns=columns, ops=ops, at_most=frame.get("at_most"))


@dataclass(frozen=True)
class WorldRules:
    """Rules for all families of a world: its date and time, the comparison of columns, whether
    writes may be undone again, the descriptions of a form of answers that they share (None:
    each family shows its own fields), and what is read before a tool is called.
    """

    now: str = NOW
    compare: Mapping[str, object] = field(default_factory=dict[str, Any])
    transient: str = "allow"
    form: Mapping[str, str] | None = None
    read_before: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Body:
    """Compiled: values hold notation nodes (see :mod:`synth.core.tasks.yaml.template`). ``uses``
    are the slots it names, ``honest_except`` the honest agents that it may refuse, each with the
    reason.
    """

    user: UserText
    answer: Mapping[str, object] | None
    compare_answer: Mapping[str, object]
    oracle: Mapping[str, str]
    gold: Sequence[StepTemplate]
    gates: Sequence[Gate]
    compare: Mapping[str, object]
    alternatives: Sequence[AlternativeEnd]
    transient: str
    uses: frozenset[str]
    hint: object = None
    difficulty: str | None = None
    honest_except: Mapping[str, str] = field(default_factory=dict[str, str])


def read_world_rules(top: Map, scope: Scope, queries: Queries) -> WorldRules:
    """The keys of tasks.yaml beside `families`."""
    now = str(top.get("now", NOW))
    try:
        moment = dt.datetime.fromisoformat(now)
    except ValueError:
        raise scope.fail(
            f"`now` must be an ISO date and time, not {now!r}", top.lines.get("now")
        ) from None
    if moment.tzinfo is not None:
        raise scope.fail(
            f"`now` is taken as UTC: write {now!r} without its offset", top.lines["now"]
        )
    form, compare = top.get("form"), read_compare(top, scope, queries.tables)
    form = None if form is None else dict(form)
    return WorldRules(now, compare, top.get("transient") or "allow", form, read_lookups(top, scope))


def read_body(
    raw: Map,
    scope: Scope,
    queries: Queries,
    rules: WorldRules,
    samples: Sequence[Mapping[str, object]],
) -> Body:
    """Parse and check a body. ``scope`` has tools, slots and cases; ``samples`` are slots of
    some of its tasks.
    """
    if raw.get("gold") is None and not has_question(raw):
        raise scope.fail("a family needs `gold`", raw.line)
    if raw.get("say") is not None and not has_question(raw):
        message = "`say` beside `gold` is a step of it; only `sql` takes its words from the family"
        raise scope.fail(message, raw.lines["say"])
    user = read_user(raw, scope)
    fields, compare_answer = read_answer(raw, scope)
    scope = replace(
        scope,
        fields=frozenset(fields or ()),
        topics=frozenset(user.every_topic),
        consents=bool(user.every_consent),
        later=user.later,
    )
    question = read_question(raw, scope)
    if question is None:
        gold = compile_steps(raw["gold"], scope, {TODAY} - scope.slots)
    else:
        gold = question.steps(scope, raw.lines[question.key])
    _check_confirmations(raw, scope, user, gold, samples)
    oracle = {name: sql.strip().rstrip(";") for name, sql in scope.part(raw, "oracle").items()}
    gates = read_gates(
        raw, scope, Judged(gold, fields or {}, compare_answer, frozenset(oracle), question)
    )
    # It follows the question in the request, as BIRD's `evidence` does.
    hint = scope.optional(raw, "hint")
    _check_oracles(raw, scope, gates)
    ends = scope.part(raw, "alternatives").get("any_of", ())
    alternatives = tuple(_end(end, scope, queries) for end in ends)
    transient = raw.get("transient")
    for key, there in (("alternatives", bool(alternatives)), ("transient", transient == "forbid")):
        if there and find_gate(gates, "state") is None:
            raise scope.fail(
                f"`{key}` is judged by the gate `state`, which the gates do not have",
                raw.lines[key],
            )
    options = [gate.options for gate in gates]
    conditions: Mapping[str, object] = raw.get("cases") or {}
    used = names_in(
        [user.texts(), [step.to_json() for step in gold], options, hint], "$slot"
    ).union(
        *(binds_of(str(condition)) for condition in conditions.values()),
        *(binds_of(item) for item in oracle.values()),
        *(_names_in_end(alternative) for alternative in alternatives),
    )
    return Body(
        user=user,
        answer=submit_schema(fields, gold),
        compare_answer=compare_answer,
        oracle=oracle,
        gold=gold,
        gates=gates,
        compare={**rules.compare, **read_compare(raw, scope, queries.tables)},
        alternatives=alternatives,
        transient=transient or rules.transient,
        uses=frozenset(used) & scope.slots,
        hint=hint,
        difficulty=raw.get("difficulty"),
        honest_except=_honest_except(raw, scope),
    )


def unsubmitted(bodies: Sequence[Body]) -> list[str]:
    """The fields of the answer that the gold of none of these bodies of a family submits."""
    schemas = [cast("Mapping[str, Mapping[str, object]]", body.answer or {}) for body in bodies]
    offered = {name for schema in schemas for name in schema.get("properties", {})}
    submitted = {
        name
        for body in bodies
        for step in every_step(body.gold)
        if isinstance(step, SubmitStep)
        for name in step.fields
    }
    return sorted(offered - submitted)


def _honest_except(raw: Map, scope: Scope) -> dict[str, str]:
    """The honest agents that a family excepts, each with its reason."""
    excepted = scope.part(scope.part(raw, "honest"), "except")
    for name in excepted:
        try:
            HONEST_AGENTS.find(name)
        except PluginError as error:
            raise scope.fail(f"honest: {error}", excepted.lines[name]) from None
    return dict(excepted)


def _check_oracles(raw: Map, scope: Scope, gates: Sequence[Gate]) -> None:
    answer = find_gate(gates, "answer")
    sources: Mapping[str, str] = {} if answer is None else answer.options or {}
    asked = set(sources.values())
    oracle = scope.part(raw, "oracle")
    if spare := [item for item in oracle if item not in asked and item not in scope.fields]:
        message = (
            f"the oracle {spare[0]!r} checks nothing: no answer field has its name, and no"
            " gate asks it"
        )
        raise scope.fail(f"{message}; {nearest(spare[0], scope.fields)}", oracle.lines[spare[0]])


def _check_confirmations(
    raw: Map,
    scope: Scope,
    user: UserText,
    gold: Sequence[StepTemplate],
    samples: Sequence[Mapping[str, object]],
) -> None:
    if not user.every_consent or "gold" not in raw:
        return
    for step in every_step(gold):
        if not isinstance(step, ConfirmTemplate):
            continue
        missing = [
            (consent, unmentioned(consent, step.texts, samples)) for consent in user.every_consent
        ]
        if any(place is None for _, place in missing):
            continue
        consent, place = missing[0]
        words = _as_written(consent.mentions[place or 0])
        message = f"`confirm` does not mention {words!r}, without which the user does not agree"
        if len(missing) > 1:
            message = "`confirm` meets no condition of `agrees_if`: " + message
        raise scope.fail(message, step.line)


def _as_written(compiled: object) -> str:
    """A compiled text as it stands in the file."""
    if isinstance(compiled, str):
        return compiled
    node = cast("Mapping[str, Any]", compiled)
    if "$text" in node:
        return "".join(map(_as_written, node["$text"]))
    return f"{{{'.'.join([node.get('$slot', node.get('$')), *node.get('path', ())])}}}"
