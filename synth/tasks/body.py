"""The body of a family: all that it says about a task whose slots are known. YAML and Python families share it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from synth.tasks.accept import names_in_end, read_accept
from synth.tasks.answer import read_answer, submit_schema
from synth.tasks.gates import Judged, read_gates
from synth.tasks.queries import Queries, binds_of
from synth.tasks.rules import read_compare
from synth.tasks.scope import Scope, nearest
from synth.tasks.sql_question import question_steps, read_difficulty, read_hint, read_question
from synth.tasks.steps import compile_steps, every_step
from synth.tasks.template import names_in
from synth.tasks.user import UserText, read_user, unmentioned
from synth.tasks.words import NOW, TRANSIENT
from synth.tasks.yaml_source import Map

Json = Any


@dataclass(frozen=True)
class WorldRules:
    """What holds for all families of a world: its date, how columns compare, whether writes may be undone again."""

    now: str = NOW
    compare: Mapping[str, Json] = field(default_factory=dict[str, Any])
    transient: str = "allow"


@dataclass(frozen=True)
class Body:
    """Compiled: values hold notation nodes (see :mod:`synth.tasks.template`). ``uses`` are the slots it names."""

    user: UserText
    answer: Mapping[str, Json] | None
    compare_answer: Mapping[str, Json]
    oracle: Mapping[str, str]
    gold: Sequence[Json]
    gates: Sequence[Json]
    compare: Mapping[str, Json]
    accept: Sequence[Json]
    transient: str
    uses: frozenset[str]
    hint: Json = None
    difficulty: str | None = None


def read_world_rules(top: Map, scope: Scope, queries: Queries) -> WorldRules:
    """The keys of tasks.yaml beside `families`."""
    now = str(top.get("now", NOW))
    try:
        moment = dt.datetime.fromisoformat(now)
    except ValueError:
        raise scope.fail(f"`now` must be an ISO date and time, not {now!r}", top.lines.get("now")) from None
    if moment.tzinfo is not None:
        raise scope.fail(f"`now` is taken as UTC: write {now!r} without its offset", top.lines["now"])
    return WorldRules(now, _compare(top, scope, queries), _transient(top, scope) or "allow")


def read_body(
    raw: Map, scope: Scope, queries: Queries, rules: WorldRules, samples: Sequence[Mapping[str, Json]]
) -> Body:
    """Parse and check a body. ``scope`` has tools, slots and branches; ``samples`` are slots of some of its tasks."""
    for key in ("user", "gold"):
        if key not in raw and (key != "gold" or "sql" not in raw):
            raise scope.fail(f"needs `{key}`", raw.line)
    user = read_user(raw, scope)
    fields, compare_answer = read_answer(raw, scope)
    scope = replace(
        scope,
        fields=frozenset(fields or ()),
        topics=frozenset(user.knows),
        consents=user.consent is not None,
    )
    question = read_question(raw, scope)
    if question is None:
        gold = compile_steps(raw["gold"], scope, raw.lines["gold"], set())
    else:
        gold = question_steps(question[0], question[1]["tables"], scope, raw.lines["sql"])
    _check_confirmations(raw, scope, user, gold, samples)
    oracle = _oracle(raw, scope)
    sql, ordered = (None, False) if question is None else (question[0], question[1]["ordered"])
    gates = read_gates(raw, scope, Judged(gold, fields or {}, compare_answer, frozenset(oracle), sql, ordered))
    hint = read_hint(raw, scope)
    _check_oracles(raw, scope, gates)
    accept, transient = read_accept(raw, scope, queries), _transient(raw, scope)
    for key, there in (("accept", bool(accept)), ("transient", transient == "forbid")):
        if there and "state" not in gates:
            raise scope.fail(f"`{key}` is judged by the gate `state`, which the gates do not have", raw.lines[key])
    used = names_in([user.texts(), gold, gates, hint], "$slot").union(
        *(binds_of(each) for each in oracle.values()), *(names_in_end(each) for each in accept)
    )
    return Body(
        user=user,
        answer=submit_schema(fields, gold),
        compare_answer=compare_answer,
        oracle=oracle,
        gold=gold,
        gates=gates,
        compare={**rules.compare, **_compare(raw, scope, queries)},
        accept=accept,
        transient=transient or rules.transient,
        uses=frozenset(used) & scope.slots,
        hint=hint,
        difficulty=read_difficulty(raw, scope),
    )


def _compare(raw: Map, scope: Scope, queries: Queries) -> dict[str, Json]:
    return read_compare(scope.part(raw, "compare"), queries.tables, scope.fail)


def _transient(raw: Map, scope: Scope) -> str | None:
    word = raw.get("transient")
    if word is not None and (not isinstance(word, str) or word not in TRANSIENT):
        raise scope.fail(f"`transient` is allow or forbid, not {word!r}", raw.lines["transient"])
    return word


def _oracle(raw: Map, scope: Scope) -> dict[str, str]:
    oracle = scope.part(raw, "oracle")
    for each, query in oracle.items():
        if not isinstance(query, str) or not query.strip():
            raise scope.fail(f"oracle {each} must be one SQL query", oracle.lines[each])
    return {each: query.strip().rstrip(";") for each, query in oracle.items()}


def _check_oracles(raw: Map, scope: Scope, gates: Sequence[Json]) -> None:
    options = [cast("dict[str, Json]", gate) for gate in gates if isinstance(gate, dict)]
    asked = {name for gate in options for name in gate.get("answer", {}).values()}
    oracle = scope.part(raw, "oracle")
    if spare := [each for each in oracle if each not in asked and each not in scope.fields]:
        message = f"the oracle {spare[0]!r} checks nothing: no answer field has its name, and no gate asks it"
        raise scope.fail(f"{message}; {nearest(spare[0], scope.fields)}", oracle.lines[spare[0]])


def _check_confirmations(
    raw: Map, scope: Scope, user: UserText, gold: Sequence[Json], samples: Sequence[Mapping[str, Json]]
) -> None:
    if user.consent is None or "gold" not in raw:
        return
    confirms = [step for step in every_step(gold) if step["do"] == "confirm"]
    for step, line in zip(confirms, _confirm_lines(raw["gold"], scope.branches), strict=True):
        missing = unmentioned(user.consent, step["texts"], samples)
        if missing is not None:
            mentions: Json = raw["user"]["agrees_if"]["mentions"]
            words = cast("list[Json]", mentions)[missing] if isinstance(mentions, list) else mentions
            message = f"`confirm` does not mention {words!r}, without which the user does not agree"
            raise scope.fail(message, line)


def _confirm_lines(steps: Json, branches: frozenset[str]) -> Iterator[int]:
    """The lines of the `confirm` steps, in order; they stand in branches too, never in a loop."""
    for step in steps:
        if "confirm" in step:
            yield step.lines["confirm"]
        for branch in branches & set(step):
            yield from _confirm_lines(step[branch], branches)
