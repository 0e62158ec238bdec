"""Task families: a world's tasks.yaml, parsed and checked. Every mistake names file, line and the nearest valid word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from synth.canonical import canonical, derive_seed
from synth.errors import TaskError
from synth.tasks.body import Body, WorldRules, read_body, read_world_rules
from synth.tasks.domains import Domain, parse_domain
from synth.tasks.ground import combination, distinct_sorted
from synth.tasks.queries import Queries
from synth.tasks.scope import Scope, nearest
from synth.tasks.words import FAMILY_ID, FAMILY_KEYS, NAME, WORDS, WORLD_KEYS
from synth.tasks.yaml_source import Map, Seq, load_yaml

Json = Any

SAMPLES = 50
"""Grounding rows that a confirmation's text is tried on while it is parsed."""


@dataclass(frozen=True)
class Family:
    """One family of tasks.yaml: the rows that it is about, and what it says about each."""

    id: str
    file: str
    line: int
    about: str
    key: str
    sql: str
    ground_line: int
    vary: Mapping[str, Domain]
    twins: Mapping[str, str]
    twin_lines: Mapping[str, int]
    body: Body

    def fail(self, message: str, line: int | None = None) -> TaskError:
        return TaskError(message, self.file, line or self.line, self.id)


@dataclass(frozen=True)
class TaskFile:
    """A whole tasks.yaml."""

    file: str
    rules: WorldRules
    families: Sequence[Family]


def read_tasks(file: Path, world: str, tools: Mapping[str, Mapping[str, Json]], queries: Queries) -> TaskFile:
    """Parse and check the tasks.yaml of a world. Raises :class:`~synth.errors.TaskError` for the first mistake.

    ``world`` names the world, and the universe where it is not the first, whose faked values differ by it; ``tools``
    maps each tool's name to its parameters' JSON Schema.
    """
    scope = Scope(str(file), tools=tools)
    top = scope.mapping(load_yaml(file), "tasks.yaml", 1, WORLD_KEYS)
    check_tools(scope)
    rules = read_world_rules(top, scope, queries)
    entries = top.get("families")
    if not isinstance(entries, Seq) or not entries:
        raise scope.fail("needs `families`, a list with at least one family", top.lines.get("families", 1))
    families: list[Family] = []
    for at, entry in enumerate(entries):
        raw = scope.mapping(entry, "a family", entries.lines[at], FAMILY_KEYS)
        families.append(_Reader(raw, world, scope, queries, rules).family())
        if any(each.id == families[-1].id for each in families[:-1]):
            raise families[-1].fail("two families have this id")
    return TaskFile(str(file), rules, families)


def check_tools(scope: Scope) -> None:
    if taken := sorted(WORDS & set(scope.tools)):
        message = (
            f"a tool cannot be named {taken[0]!r}, a word of this notation: give it another name where it is defined"
        )
        raise scope.fail(message, 1)


class _Reader:
    """Reads one family."""

    def __init__(self, raw: Map, world: str, scope: Scope, queries: Queries, rules: WorldRules) -> None:
        name = scope.text(raw, "id", "a family")
        if not FAMILY_ID.fullmatch(name):
            raise scope.fail(f"the id {name[:80]!r} must match {FAMILY_ID.pattern}", raw.lines["id"])
        self.raw, self.world, self.name, self.queries, self.rules = raw, world, name, queries, rules
        self.scope = replace(scope, family=name)

    def family(self) -> Family:
        raw, scope = self.raw, self.scope
        if not isinstance(raw.get("about", ""), str):
            raise scope.fail("`about` is a text", raw.lines["about"])
        for key in ("ground", "user", "gold"):
            if key not in raw and (key != "gold" or "sql" not in raw):
                raise scope.fail(f"needs `{key}`", raw.line)
        ground = scope.mapping(raw["ground"], "ground", raw.lines["ground"], {"key", "sql"})
        sql, key = scope.text(ground, "sql", "ground").strip().rstrip(";"), scope.text(ground, "key", "ground")
        rows = self.rows(sql, ground.lines["sql"], "")
        columns = frozenset(rows[0])
        if key not in columns:
            raise scope.fail(f"the grounding has no column {key!r}; {nearest(key, columns)}", ground.lines["key"])
        whole = distinct_sorted(rows)
        if twice := [value for value, count in Counter(canonical(row[key]) for row in whole).items() if count > 1]:
            alone = [name for name in rows[0] if len({canonical(row[name]) for row in whole}) == len(whole)]
            better = f"{', '.join(alone)} would" if alone else "select a column that does, such as `a || '-' || b`"
            message = f"`key` must tell the rows apart, and {key} = {twice[0]} stands in several; {better}"
            raise scope.fail(message, ground.lines["key"])
        vary, twins = self.vary(columns), self.twins()
        scope = replace(scope, slots=columns | frozenset(vary), branches=frozenset(twins))
        first = combination(0, vary)
        samples = [{**row, **first} for row in islice(whole, SAMPLES)]
        body = read_body(raw, scope, self.queries, self.rules, samples)
        if idle := [slot for slot in vary if slot not in body.uses]:
            message = f"the slot {idle[0]!r} is used nowhere: it would make the same task many times"
            raise scope.fail(message, raw["vary"].lines[idle[0]])
        if twins and not any(step["do"] == "branch" for step in body.gold):
            message = f"gold has no step of its own for any twin: write `- {next(iter(twins))}: [steps]`"
            raise scope.fail(message, raw.lines["twins"])
        return Family(
            id=self.name,
            file=scope.file,
            line=raw.line,
            about=raw.get("about", ""),
            key=key,
            sql=sql,
            ground_line=ground.lines["sql"],
            vary=vary,
            twins=twins,
            twin_lines=raw["twins"].lines if twins else {},
            body=body,
        )

    def rows(self, sql: str, line: int, what: str) -> list[dict[str, Json]]:
        rows = self.queries.rows(sql, TaskError(what, self.scope.file, line, self.name))
        if not rows and not what:
            raise self.scope.fail("the grounding yields no row", line)
        return rows

    def vary(self, columns: frozenset[str]) -> dict[str, Domain]:
        scope, vary = self.scope, self.scope.part(self.raw, "vary")
        out: dict[str, Domain] = {}
        for slot, domain in vary.items():
            line = vary.lines[slot]
            if not NAME.fullmatch(slot):
                raise scope.fail(f"the slot {slot!r} must match {NAME.pattern}", line)
            if slot in columns:
                raise scope.fail(f"{slot!r} is a grounding column already", line)

            def values(sql: str, line: int = line, slot: str = slot) -> list[Json]:
                rows = self.rows(sql, line, f"vary {slot}")
                if rows and len(rows[0]) != 1:
                    raise ValueError(f"the query must select one column, not {len(rows[0])}")
                return [next(iter(row.values())) for row in rows]

            try:
                out[slot] = parse_domain(domain, values, derive_seed(self.world, self.name, slot))
            except ValueError as error:
                raise scope.fail(f"vary {slot}: {error}", line) from None
        return out

    def twins(self) -> dict[str, str]:
        scope, twins = self.scope, self.scope.part(self.raw, "twins")
        if len(twins) == 1:
            raise scope.fail("twins come in two or more", self.raw.lines["twins"])
        for word, condition in twins.items():
            if word in WORDS or word in scope.tools:
                raise scope.fail(f"a twin cannot be named {word!r}: the word is taken", twins.lines[word])
            if not isinstance(condition, str):
                raise scope.fail(f"twin {word}: its condition is SQL over the grounding", twins.lines[word])
        return dict(twins)
