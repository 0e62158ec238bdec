"""Renamings of a world, and the one that each task of a run is shown."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any, cast

from envs.errors import WorldError
from envs.sandboxes.base import Template
from envs.tools.tool import PORTABLE
from envs.tools.toolbox import Toolbox
from envs.world.loader import World
from synth.core.foundation.hashing import canonical, derive_seed, digest
from synth.core.foundation.json_leaves import texts_in
from synth.core.renaming.translator import added_tools, translator_of
from synth.core.tasks.yaml.words import SUBMIT
from synth.core.types.renaming import Renaming, renaming_of, with_renaming
from synth.core.types.steps import CallStep, every_step
from synth.errors import OperatorError
from synth.ext.renamings import RenamingsConfig, renaming_numbers
from synth.ext.renamings.naming import Naming, flat_words
from synth.source import TaskPool
from synth.task import Task
from synth.transform import Block, TaskTransform

MIDDLEWARE_TOOLS = frozenset({"read_tool_output", "grep_tool_output"})
"""Tools that keep their names, because middlewares bring them."""

MOST_LEFT_OUT = 0.5
"""The largest share of the tools without a use in a family that a renaming leaves out."""

SAMPLED = 8
"""Tasks of a family whose gold is looked through for the tools that the family needs."""


class RenamingMaker:
    """The renamings of a world by number. ``names`` are tables and columns of its database,
    ``answers`` the JSON Schemas of the answers that its tasks want.
    """

    def __init__(
        self, world: World, names: Collection[str], answers: Iterable[Mapping[str, Any] | None] = ()
    ) -> None:
        self._world = world
        self.free_sql = any(tool.free_sql for tool in world.tools)
        schemas = [
            schema for tool in world.tools for schema in (tool.parameters, tool.output_schema)
        ]
        schemas += answers
        results = set[str]() if self.free_sql else {*names, *_source_names(world)}
        self.own_names = {name for schema in schemas for name in _schema_names(schema)} | results
        self._words = _by_key(pair for schema in schemas for pair in _schema_words(schema))
        self._shown = "\n".join([world.policy, *(tool.description for tool in world.tools)])
        self._text = flat_words(f"{self._shown}\n{_texts_of(world)}")

    def renaming(self, number: int) -> Renaming:
        """The renaming of a number, without what one family or task has of its own.

        Raises :class:`OperatorError` where its tools would not be valid.
        """
        naming = Naming(number, self._world.name)
        own = [*(tool.name for tool in self._world.tools), SUBMIT]
        added = naming.added() if number % 3 == 0 else []
        added = [tool for tool in added if tool.name not in own]
        words = {} if self.free_sql else self._words
        renaming = Renaming(
            number,
            naming.tools(own, {*MIDDLEWARE_TOOLS, *(tool.name for tool in added)}),
            _changed(naming.names(self.own_names, ())),
            _values(naming, words, {}, self._text),
            naming.wording(self._shown),
            naming.openings(),
            added=tuple(added),
            results=not self.free_sql,
        )
        self._check(renaming)
        return renaming

    def for_task(self, renaming: Renaming, task: Task, needed: Collection[str]) -> Renaming:
        """The renaming of one task: with the names of its answer, and, in every third renaming,
        without some tools that are not ``needed``.
        """
        naming, answer = Naming(renaming.number, self._world.name), task.submit_parameters
        extra = set(_schema_names(answer)) - self.own_names
        taken = {*self.own_names, *renaming.names.values()}
        words = {} if self.free_sql else _by_key(_schema_words(answer))
        names = {**renaming.names, **_changed(naming.names(extra, taken))}
        values = _values(naming, words, renaming.values, self._text)
        left_out = self._left_out(naming, task.family, needed) if renaming.number % 3 == 2 else []
        return replace(renaming, names=names, values=values, left_out=tuple(left_out))

    def _left_out(self, naming: Naming, family: str, needed: Collection[str]) -> list[str]:
        """Tools that a family does without, and that no rule and no tool that stays names."""
        tools = self._world.tools
        kept = {tool.name for tool in tools if tool.free_sql or tool.name in needed}
        kept |= {tool.name for tool in tools if tool.name in self._world.policy}
        before = -1
        while before != len(kept):
            before = len(kept)
            text = " ".join(tool.description for tool in tools if tool.name in kept)
            kept |= {tool.name for tool in tools if tool.name in text}
        idle = [tool.name for tool in tools if tool.name not in kept]
        return naming.chosen(idle, int(len(idle) * MOST_LEFT_OUT), "left_out", family)

    def _check(self, renaming: Renaming) -> None:
        translator = translator_of(renaming)
        try:
            Toolbox([*map(translator.show_tool, self._world.tools), *added_tools(renaming)])
        except WorldError as error:
            raise OperatorError(
                f"tasks.renamings: variant {renaming.number} of {self._world.name} has no valid"
                f" tools: {error}"
            ) from None


class Renamings(TaskTransform):
    """The renamings of a run, spread over its tasks; 0 is the world's own.

    Tasks take them in turns, in an order that is drawn anew for each round. Tasks of the first
    split are never shown one that is held out.
    """

    Options = RenamingsConfig

    def __init__(self, options: RenamingsConfig) -> None:
        super().__init__(options)
        self._numbers = renaming_numbers(options.renamings)
        self._held_out = frozenset(options.held_out_renamings or ())
        self._names = set[str]()
        self._needed: dict[str, frozenset[str]] = {}
        self._made: dict[tuple[int, str, str, frozenset[str]], Renaming] = {}

    def look(self, template: Template) -> None:
        self._names |= database_names(template)

    def choose(
        self, blocks: Sequence[Block], opening: Callable[[Block, Task], str]
    ) -> Sequence[Block]:
        pools = sorted((block.source for block in blocks), key=lambda pool: pool.universe)
        self._pools, self._seed = pools, blocks[0].seed
        self._maker = RenamingMaker(pools[0].world, self._names, _answers_of(pools, self._seed))
        self._renamings = {one: self._maker.renaming(one) for one in self._numbers if one}
        return blocks

    def notes(self, blocks: Sequence[Block], asked: int) -> Iterator[str]:
        if self._maker.free_sql:
            yield (
                f"tasks.renamings: {self._pools[0].world.name} takes SQL of the agent's own,"
                " so only tools and parameters have other names; tables, columns and results keep"
                " theirs"
            )

    def digest(self) -> str:
        """Of everything that decides which task is shown what."""
        return digest(
            list(self._numbers),
            sorted(self._held_out),
            [renaming.to_json() for renaming in self._renamings.values()],
        )

    def changed(self, task: Task, index: int, *, first: bool) -> Task:
        open_to = [number for number in self._numbers if not (first and number in self._held_out)]
        turn, place = divmod(index, len(open_to))
        dice = Random(derive_seed("surface", self._seed, turn))
        number = dice.sample(open_to, len(open_to))[place]
        return with_renaming(task, self._of(number, task)) if number else task

    def again(self, task: Task, recorded: Task) -> Task:
        return with_renaming(task, renaming_of(recorded))

    def _of(self, number: int, task: Task) -> Renaming:
        needed = _tools(task).union(*map(self._tools_of, task.parts or (task,)))
        key = number, task.family, canonical(task.submit_parameters), needed
        if key not in self._made:
            self._made[key] = self._maker.for_task(self._renamings[number], task, needed)
        return self._made[key]

    def _tools_of(self, task: Task) -> frozenset[str]:
        """The tools that gold calls in tasks of a family, and those that its gates name."""
        if task.family not in self._needed:
            found = _tools(task)
            for pool in self._pools:
                if any(family.id == task.family for family in pool.families):
                    for index in range(min(pool.capacity(task.family), SAMPLED)):
                        found |= _tools(pool.task(task.family, index, self._seed))
            self._needed[task.family] = found
        return self._needed[task.family]


def _answers_of(pools: Iterable[TaskPool], seed: int) -> list[Mapping[str, Any] | None]:
    """The schemas of the answers of one task of each family and case."""
    return [
        pool.task(family.id, index, seed).submit_parameters
        for pool in pools
        for family in pool.families
        for index in range(min(len(pool.cases(family.id)), pool.capacity(family.id)))
    ]


def _tools(task: Task) -> frozenset[str]:
    """Tools that gold calls, and every name in the gates and in what the user agrees to."""
    called = {step.tool for step in every_step(task.gold) if isinstance(step, CallStep)}
    gates = {word for gate in task.gates for word in texts_in(gate.options)}
    covered = {name for consent in task.role.every_consent for name in consent.covers}
    return frozenset(called | gates | covered)


def _by_key(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for key, word in pairs:
        if word not in out.setdefault(key, []):
            out[key].append(word)
    return out


def _values(
    naming: Naming,
    words: Mapping[str, Sequence[str]],
    before: Mapping[str, Mapping[str, str]],
    text: str,
) -> dict[str, dict[str, str]]:
    """Words of enumerations by key, ``before`` first; a word is the same everywhere."""
    known = {own: shown for found in before.values() for own, shown in found.items()}
    fresh = {word for found in words.values() for word in found} - known.keys()
    every = known | _changed(naming.values(fresh, {*known, *known.values()}, text))
    out = {key: dict(found) for key, found in before.items()}
    for key, found in words.items():
        out.setdefault(key, {}).update((word, every[word]) for word in found if word in every)
    return {key: found for key, found in out.items() if found}


def _changed(names: Mapping[str, str]) -> dict[str, str]:
    return {own: shown for own, shown in names.items() if own != shown}


_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]{1,40}")
_ALIAS = re.compile(r"\bAS\s+([A-Za-z]\w*)", re.IGNORECASE)


def database_names(template: Template) -> set[str]:
    """Tables and columns of a database: keys of results are mostly these."""
    columns = {column.name for table in template.tables.values() for column in table.columns}
    return {name for name in (*template.tables, *columns) if _KEY.fullmatch(name)}


def _source_names(world: World) -> set[str]:
    """Keys that the Python of a world's tools gives its results, as far as they stand there as
    text: keys of dicts, and aliases in SQL.
    """
    tools = {tool.name for tool in world.tools}
    return {
        name
        for file in sorted(world.path.glob("*.py"))
        if not file.name.startswith(("seed", "tasks", "rewards"))
        for name in _keys(ast.parse(file.read_text("utf-8")))
        if _KEY.fullmatch(name) and name not in PORTABLE and name not in tools
    }


def _texts_of(world: World) -> str:
    """Everything that is written in a world's folder but its rows."""
    files = [
        file
        for file in sorted(world.path.iterdir())
        if file.suffix in {".py", ".yaml", ".md"} and not file.name.startswith("seed")
    ]
    return "\n".join(file.read_text("utf-8", "replace") for file in files)


def _keys(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        keys: Iterable[ast.expr | None] = ()
        if isinstance(node, ast.Dict):
            keys = node.keys
        elif isinstance(node, ast.Subscript):
            keys = [node.slice]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "dict":
                yield from (item.arg for item in node.keywords if item.arg is not None)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _ALIAS.findall(node.value)
        for key in keys:
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value


def _schema_names(schema: Mapping[str, Any] | None) -> Iterator[str]:
    """Names of the properties of a JSON Schema, at any depth."""
    for name, inner in properties(schema):
        yield name
        yield from _schema_names(inner)


def _schema_words(schema: Mapping[str, Any] | None, key: str = "") -> Iterator[tuple[str, str]]:
    """The words of a schema's enumerations, each with the property that it is for."""
    schema = schema or {}
    words = [*schema.get("enum", ()), schema.get("const")]
    yield from ((key, word) for word in words if isinstance(word, str))
    if isinstance(items := schema.get("items"), Mapping):
        yield from _schema_words(cast("Mapping[str, Any]", items), key)
    for name, inner in cast("Mapping[str, Any]", schema.get("properties", {})).items():
        yield from _schema_words(inner, name)


def properties(schema: Mapping[str, Any] | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The properties of a schema, of the items of arrays too."""
    schema = schema or {}
    yield from cast("Mapping[str, Any]", schema.get("properties", {})).items()
    if isinstance(items := schema.get("items"), Mapping):
        yield from properties(cast("Mapping[str, Any]", items))
