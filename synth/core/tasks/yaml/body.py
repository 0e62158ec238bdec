"""The body of a family: all that it says about a task whose slots are known. YAML and Python
families share it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from synth.core.tasks.queries import Queries, binds_of
from synth.core.tasks.yaml.alternatives import names_in_end, read_alternatives
from synth.core.tasks.yaml.answer import read_answer, submit_schema
from synth.core.tasks.yaml.base import has_question, read_question
from synth.core.tasks.yaml.compare import read_compare
from synth.core.tasks.yaml.gates import Judged, read_gates, read_lookups
from synth.core.tasks.yaml.models import HonestWord, TransientWord, words_of
from synth.core.tasks.yaml.scope import Scope, nearest
from synth.core.tasks.yaml.source_map import Map
from synth.core.tasks.yaml.step_templates import (
    ConfirmTemplate,
    StepTemplate,
    SubmitTemplate,
    every_template,
    values_in,
)
from synth.core.tasks.yaml.steps import compile_steps
from synth.core.tasks.yaml.template import names_in
from synth.core.tasks.yaml.user import UserText, read_user, unmentioned
from synth.core.tasks.yaml.words import DIFFICULTIES, NOW, TODAY
from synth.core.types.checks import AlternativeEnd, Gate, find_gate
from synth.plugins import HONEST_AGENTS, PluginError


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
    form: dict[str, str] | None = None
    if top.get("form") is not None:
        raw = scope.part(top, "form")
        form = {name: scope.text(raw, name, "`form`") for name in raw}
    compare = _compare(top, scope, queries)
    transient = _transient(top, scope) or "allow"
    return WorldRules(now, compare, transient, form, read_lookups(top, scope))


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
    for key in ("user", "gold"):
        if key not in raw and (key != "gold" or not has_question(raw)):
            raise scope.fail(f"needs `{key}`", raw.line)
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
        gold = compile_steps(raw["gold"], scope, raw.lines["gold"], {TODAY} - scope.slots)
    else:
        gold = question.steps(scope, raw.lines[question.key])
    _check_confirmations(raw, scope, user, gold, samples)
    oracle = _oracle(raw, scope)
    gates = read_gates(
        raw, scope, Judged(gold, fields or {}, compare_answer, frozenset(oracle), question)
    )
    hint = _hint(raw, scope)
    _check_oracles(raw, scope, gates)
    alternatives, transient = read_alternatives(raw, scope, queries), _transient(raw, scope)
    for key, there in (("alternatives", bool(alternatives)), ("transient", transient == "forbid")):
        if there and find_gate(gates, "state") is None:
            raise scope.fail(
                f"`{key}` is judged by the gate `state`, which the gates do not have",
                raw.lines[key],
            )
    options = [gate.options for gate in gates]
    conditions: Mapping[str, object] = raw.get("cases") or {}
    used = names_in([user.texts(), values_in(gold), options, hint], "$slot").union(
        *(binds_of(str(condition)) for condition in conditions.values()),
        *(binds_of(item) for item in oracle.values()),
        *(names_in_end(alternative) for alternative in alternatives),
    )
    return Body(
        user=user,
        answer=submit_schema(fields, gold),
        compare_answer=compare_answer,
        oracle=oracle,
        gold=gold,
        gates=gates,
        compare={**rules.compare, **_compare(raw, scope, queries)},
        alternatives=alternatives,
        transient=transient or rules.transient,
        uses=frozenset(used) & scope.slots,
        hint=hint,
        difficulty=_difficulty(raw, scope),
        honest_except=_honest_except(raw, scope),
    )


def unsubmitted(bodies: Sequence[Body]) -> list[str]:
    """The fields of the answer that the gold of none of these bodies of a family submits."""
    schemas = [cast("Mapping[str, Mapping[str, object]]", body.answer or {}) for body in bodies]
    offered = {name for schema in schemas for name in schema.get("properties", {})}
    submitted = {
        name
        for body in bodies
        for step in every_template(body.gold)
        if isinstance(step, SubmitTemplate)
        for name in step.fields
    }
    return sorted(offered - submitted)


def _honest_except(raw: Map, scope: Scope) -> dict[str, str]:
    """The honest agents that a family excepts, each with its reason."""
    honest = scope.part(raw, "honest", words_of(HonestWord))
    excepted = scope.part(honest, "except")
    for name in excepted:
        try:
            HONEST_AGENTS.find(name)
        except PluginError as error:
            raise scope.fail(f"honest: {error}", excepted.lines[name]) from None
        scope.text(excepted, name, "`honest: except:`")
    return dict(excepted)


def _difficulty(raw: Map, scope: Scope) -> str | None:
    """The `difficulty` of a family's tasks."""
    word = raw.get("difficulty")
    if word is not None and word not in DIFFICULTIES:
        message = (
            f"`difficulty` is {', '.join(DIFFICULTIES)}, not {word!r};"
            f" {nearest(str(word), DIFFICULTIES)}"
        )
        raise scope.fail(message, raw.lines["difficulty"])
    return word


def _hint(raw: Map, scope: Scope) -> object:
    """The compiled text that follows the question in the request, as BIRD's `evidence` does."""
    if raw.get("hint") is None:
        return None
    return scope.value(scope.text(raw, "hint", "a family"), "hint", raw.lines["hint"])


def _compare(raw: Map, scope: Scope, queries: Queries) -> dict[str, object]:
    return read_compare(scope.part(raw, "compare"), queries.tables, scope.fail)


def _transient(raw: Map, scope: Scope) -> str | None:
    word = raw.get("transient")
    if word is not None and (not isinstance(word, str) or word not in words_of(TransientWord)):
        raise scope.fail(f"`transient` is allow or forbid, not {word!r}", raw.lines["transient"])
    return word


def _oracle(raw: Map, scope: Scope) -> dict[str, str]:
    oracle = scope.part(raw, "oracle")
    for name, query in oracle.items():
        if not isinstance(query, str) or not query.strip():
            raise scope.fail(f"oracle {name} must be one SQL query", oracle.lines[name])
    return {name: query.strip().rstrip(";") for name, query in oracle.items()}


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


def _confirmations(gold: Sequence[StepTemplate]) -> list[ConfirmTemplate]:
    return [step for step in every_template(gold) if isinstance(step, ConfirmTemplate)]


def _check_confirmations(
    raw: Map,
    scope: Scope,
    user: UserText,
    gold: Sequence[StepTemplate],
    samples: Sequence[Mapping[str, object]],
) -> None:
    if not user.every_consent or "gold" not in raw:
        return
    for step in _confirmations(gold):
        missing = [
            (consent, unmentioned(consent, step.phrasing.texts, samples))
            for consent in user.every_consent
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
