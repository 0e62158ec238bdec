"""Task families: a world's tasks.yaml, parsed and checked. Every mistake names file, line and the
nearest valid word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from envs.ledger import Ledger
from synth.core.foundation.hashing import canonical, derive_seed
from synth.core.tasks.domains import Domain, parse_domain
from synth.core.tasks.grounding import combination
from synth.core.tasks.queries import Queries
from synth.core.tasks.readers import FileFamilies, ReaderContext
from synth.core.tasks.yaml.base import has_question
from synth.core.tasks.yaml.body import Body, WorldRules, read_body, read_world_rules, unsubmitted
from synth.core.tasks.yaml.models import STEP_WORDS, FamilyModel, RulesModel
from synth.core.tasks.yaml.scope import Scope, nearest
from synth.core.tasks.yaml.source_map import Map, load_yaml
from synth.core.tasks.yaml.step_templates import CaseTemplate, tools_called
from synth.errors import EmptyFamilyError, TaskError, raise_task_errors
from synth.source import TaskFamily

SAMPLES = 50
"""Grounding rows that a confirmation's text is tried on while it is parsed."""


@dataclass(frozen=True)
class Family(TaskFamily):
    """One family of tasks.yaml: its grounding rows, and the body that holds for each of them."""

    key: str
    sql: str
    ground_line: int
    vary: Mapping[str, Domain]
    cases: Mapping[str, str]
    case_lines: Mapping[str, int]
    body: Body

    @property
    def talks(self) -> bool:
        return self.body.user.answers

    @property
    def calls(self) -> frozenset[str]:
        return tools_called(self.body.gold)

    @property
    def honest_except(self) -> Mapping[str, str]:
        return self.body.honest_except

    def fail(self, message: str, line: int | None = None) -> TaskError:
        return TaskError(message, self.file, line or self.line, self.id)


def read_file(context: ReaderContext) -> FileFamilies:
    """The families of a world's tasks.yaml. Raises what :func:`read_tasks` raises."""
    return read_tasks(context.file, context.universe, context.tools, context.queries)


def read_tasks(
    file: Path, universe: int, tools: Mapping[str, Mapping[str, object]], queries: Queries
) -> FileFamilies:
    """Parse and check the tasks.yaml of a world, for one of its universes.

    ``tools`` maps each tool's name to its parameters' JSON Schema. Raises
    :class:`~synth.errors.TaskError` for the first mistake of each family; a family without a row is
    one in universe 0. A family that cannot be asked of an attached database is left out.
    """
    scope, top = _read_top(file, tools)
    rules = read_world_rules(top, scope, queries)
    if not (entries := top.get("families")):
        raise scope.fail(
            "needs `families`, a list with at least one family", top.lines.get("families", 1)
        )
    families: list[Family] = []
    absent: dict[str, str] = {}
    account = Ledger()
    errors: list[TaskError] = []
    for entry, line in zip(entries, entries.lines, strict=True):
        try:
            named = replace(scope, family=_id(entry))
            named.check(entry, FamilyModel, "a family", line)
            families.append(_Reader(entry, universe, named, queries, rules).family())
            if any(family.id == families[-1].id for family in families[:-1]):
                raise families[-1].fail("two families have this id")
        except TaskError as error:
            if universe and isinstance(error, EmptyFamilyError):
                absent[str(error.family)] = error.message
            elif queries.attached and error.family:
                account.found("family", 1)
                account.leave_out("family", error.family, error.message)
            else:
                errors.append(error)
    raise_task_errors(errors)
    return FileFamilies(families, rules, absent, account)


def read_rules(
    file: Path, tools: Mapping[str, Mapping[str, object]], queries: Queries
) -> WorldRules:
    """The rules for all families of a tasks.yaml, which may have none. Raises
    :class:`~synth.errors.TaskError` for a mistake in them.
    """
    scope, top = _read_top(file, tools)
    return read_world_rules(top, scope, queries)


def _read_top(file: Path, tools: Mapping[str, Mapping[str, object]]) -> tuple[Scope, Map]:
    scope = Scope(str(file), tools=tools)
    top = load_yaml(file)
    scope.check(top, RulesModel, "tasks.yaml", 1)
    check_tools(scope)
    return scope, top


def _id(entry: object) -> str | None:
    """The id of a family, if it has one."""
    found: object = entry.get("id") if isinstance(entry, Map) else None
    return found if isinstance(found, str) else None


def check_tools(scope: Scope) -> None:
    if taken := sorted(STEP_WORDS & set(scope.tools)):
        message = (
            f"a tool cannot be named {taken[0]!r}, a word of this notation: give it another"
            " name where it is defined"
        )
        raise scope.fail(message, 1)


class _Reader:
    """Reads one family."""

    def __init__(
        self, raw: Map, universe: int, scope: Scope, queries: Queries, rules: WorldRules
    ) -> None:
        self.raw, self.universe, self.name = raw, universe, raw["id"]
        self.queries, self.rules, self.scope = queries, rules, scope

    def family(self) -> Family:
        raw, scope = self.raw, self.scope
        ground = raw["ground"]
        sql, key = ground["sql"].strip().rstrip(";"), ground["key"]
        line = ground.lines["sql"]
        rows = list(self.queries.distinct(sql, TaskError("", scope.file, line, self.name)).values())
        if not rows:
            raise EmptyFamilyError("the grounding yields no row", scope.file, line, self.name)
        self._check_key(key, rows, ground.lines["key"])
        columns = frozenset(rows[0])
        vary, cases = self.vary(columns), self.cases()
        scope = replace(scope, slots=columns | frozenset(vary), cases=frozenset(cases))
        first = combination(0, vary)
        samples = [{**row, **first} for row in islice(rows, SAMPLES)]
        body = read_body(raw, scope, self.queries, self.rules, samples)
        if idle := [slot for slot in vary if slot not in body.uses]:
            message = (
                f"the slot {idle[0]!r} is used nowhere: it would make the same task many times"
            )
            raise scope.fail(message, raw["vary"].lines[idle[0]])
        if cases and not any(isinstance(step, CaseTemplate) for step in body.gold):
            message = (
                f"gold has no step of its own for any case: write `- {next(iter(cases))}: [steps]`"
            )
            raise scope.fail(message, raw.lines["cases"])
        self._check_answer(body)
        return Family(
            id=self.name,
            file=scope.file,
            line=raw.line,
            about=raw.get("about") or "",
            key=key,
            sql=sql,
            ground_line=ground.lines["sql"],
            vary=vary,
            cases=cases,
            case_lines=raw["cases"].lines if cases else {},
            body=body,
        )

    def _check_answer(self, body: Body) -> None:
        """Refuse an answer, or a field of it, that no case hands in."""
        spare = unsubmitted([body])
        if not spare or has_question(self.raw):
            return
        fields = self.raw["answer"]
        if len(spare) == len(fields):
            message = (
                "`answer` offers a `submit` tool that gold never calls: hand the answer in by"
                " `- submit: {...}`, or leave `answer` out"
            )
            raise self.scope.fail(message, self.raw.lines["answer"])
        message = f"gold never submits the answer's field {spare[0]!r}: submit it, or leave it out"
        raise self.scope.fail(message, fields.lines[spare[0]])

    def _check_key(self, key: str, rows: Sequence[Mapping[str, object]], line: int) -> None:
        """Refuse a key that is not a column of the grounding, or does not tell its rows apart."""
        columns = list(rows[0])
        if key not in columns:
            raise self.scope.fail(
                f"the grounding has no column {key!r}; {nearest(key, columns)}", line
            )
        counts = Counter(canonical(row[key]) for row in rows)
        repeated = [text for text, count in counts.items() if count > 1]
        if not repeated:
            return
        alone = [
            name for name in columns if len({canonical(row[name]) for row in rows}) == len(rows)
        ]
        better = (
            f"{', '.join(alone)} would"
            if alone
            else "select a column that does, such as `a || '-' || b`"
        )
        message = (
            f"`key` must tell the rows apart, and {key} = {repeated[0]} stands in several; {better}"
        )
        raise self.scope.fail(message, line)

    def rows(self, sql: str, line: int, what: str) -> list[dict[str, object]]:
        return self.queries.rows(sql, TaskError(what, self.scope.file, line, self.name))

    def vary(self, columns: frozenset[str]) -> dict[str, Domain]:
        scope, vary = self.scope, self.scope.part(self.raw, "vary")
        out: dict[str, Domain] = {}
        for slot, domain in vary.items():
            line = vary.lines[slot]
            if slot in columns:
                raise scope.fail(f"{slot!r} is a grounding column already", line)

            def values(sql: str, line: int = line, slot: str = slot) -> list[object]:
                rows = self.rows(sql, line, f"vary {slot}")
                if rows and len(rows[0]) != 1:
                    raise ValueError(f"the query must select one column, not {len(rows[0])}")
                return [next(iter(row.values())) for row in rows]

            try:
                out[slot] = parse_domain(
                    domain, values, derive_seed(self.universe, self.name, slot)
                )
            except ValueError as error:
                raise scope.fail(f"vary {slot}: {error}", line) from None
        return out

    def cases(self) -> dict[str, str]:
        scope, cases = self.scope, self.scope.part(self.raw, "cases")
        for word in cases:
            if word in STEP_WORDS or word in scope.tools:
                raise scope.fail(
                    f"a case cannot be named {word!r}: the word is taken", cases.lines[word]
                )
        return dict(cases)
