"""Families in Python, for what data cannot say: the public functions of a world's tasks.py.

    def reorder_low_stock(db: sqlalchemy.Connection) -> Iterator[dict]:
        for product_id, name in db.execute(text("SELECT product_id, name FROM products WHERE stock < 5")):
            yield {
                "slots": {"name": name},
                "key": product_id,
                "user": {"says": "We are running low on {name}, please reorder."},
                "gold": [{"reorder": {"product_id": product_id}}, {"say": "Ordered."}],
            }

A function's name is its family's id. ``db`` reads the template of the universe. Each dict is a family in the notation
of tasks.yaml with its slots in the place of ``ground``, ``vary`` and ``twins``, and is checked as one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, cast

from envs.folder import World
from synth.canonical import canonical
from synth.errors import TaskError
from synth.tasks.body import Body, WorldRules, read_body
from synth.tasks.domains import keys_in
from synth.tasks.family import check_tools
from synth.tasks.queries import Queries, json_value
from synth.tasks.scope import Scope
from synth.tasks.words import NAME, YIELDED_KEYS
from synth.tasks.yaml_source import INT64, Map, Seq

Json = Any

MOST = 100_000
"""Tasks that one function may yield."""


@dataclass(frozen=True)
class Yielded:
    """One task that a function yielded."""

    slots: Mapping[str, Json]
    key: Json
    branch: str | None
    body: Body


@dataclass(frozen=True)
class PythonFamily:
    """One function, and the tasks that it yielded, each once and in its order. ``line`` is the function's."""

    id: str
    file: str
    line: int
    about: str
    tasks: Sequence[Yielded]


def read_python(
    world: World, tools: Mapping[str, Mapping[str, Json]], queries: Queries, rules: WorldRules, taken: set[str]
) -> list[PythonFamily]:
    """The families of a world's tasks.py, in the order of their definition; ``taken`` are ids of tasks.yaml.

    Raises :class:`~synth.errors.TaskError` with the function's line, :class:`~envs.errors.WorldError` for a file that
    cannot be imported.
    """
    file = world.path / "tasks.py"
    module = world.module("tasks")
    check_tools(Scope(str(file), tools=tools))
    functions = [
        each
        for name, each in vars(module).items()
        if inspect.isfunction(each) and each.__module__ == module.__name__ and not name.startswith("_")
    ]
    if not functions:
        raise TaskError("defines no family: a family is a public function that yields tasks", str(file))
    return [_Function(each, file, tools, queries, rules).family(taken) for each in functions]


class _Function:
    """Reads one function's tasks."""

    def __init__(
        self,
        function: Callable[..., Any],
        file: Path,
        tools: Mapping[str, Mapping[str, Json]],
        queries: Queries,
        rules: WorldRules,
    ) -> None:
        self.function, self.file, self.queries, self.rules = function, file, queries, rules
        self.line = function.__code__.co_firstlineno
        self.scope = Scope(str(file), function.__name__, tools)

    def fail(self, message: str, line: int | None = None) -> TaskError:
        return self.scope.fail(message, line or self.line)

    def family(self, taken: set[str]) -> PythonFamily:
        if inspect.iscoroutinefunction(self.function) or inspect.isasyncgenfunction(self.function):
            raise self.fail("is async; write a plain function that yields")
        if self.function.__name__ in taken:
            raise self.fail("tasks.yaml has a family of this id")
        tasks: dict[str, Yielded] = {}
        said: dict[str, str] = {}
        for raw in self.yielded():
            one = self.task(raw)
            name, content = canonical([one.branch, one.slots]), canonical(raw)
            if said.setdefault(name, content) != content:
                message = f"two tasks have the slots {dict(one.slots)!r}; the slots have to tell them apart"
                raise self.fail(message)
            tasks[name] = one
        if not tasks:
            raise self.fail("yields no task")
        about = inspect.getdoc(self.function) or ""
        return PythonFamily(self.function.__name__, str(self.file), self.line, about, list(tasks.values()))

    def yielded(self) -> list[Map]:
        """What the function yields, as if it had been read from YAML at the function's line."""
        found = self.queries.during(self.run)
        if len(found) > MOST:
            raise self.fail(f"yields more than {MOST:,} tasks")
        for each in found:
            if not isinstance(each, Mapping):
                raise self.fail(f"yields {each!r:.80}, which is no dict")
        return [cast("Map", self.marked(each, "a task")) for each in found]

    def run(self, db: Any) -> list[Any]:
        try:
            made: Any = self.function(db)
            if not isinstance(made, Iterable):
                raise self.fail(f"returns {made!r:.80}; it should yield dicts")
            return list(islice(cast("Iterable[Any]", made), MOST + 1))
        except TaskError:
            raise
        except Exception as error:
            said = str(getattr(error, "orig", None) or error).partition("\n")[
                0
            ]  # a driver's words, without SQLAlchemy's
            raise self.fail(f"{type(error).__name__}: {said}", self.line_of(error)) from error

    def line_of(self, error: Exception) -> int:
        """The last line of this file that the error came through."""
        trace, line = error.__traceback__, self.line
        while trace is not None:
            if Path(trace.tb_frame.f_code.co_filename) == self.file:
                line = trace.tb_lineno
            trace = trace.tb_next
        return line

    def marked(self, value: Any, where: str) -> Json:
        """Plain Python data as the parser takes it; the line of everything is the function's."""
        if isinstance(value, Mapping):
            items = cast("Mapping[Any, Any]", value)
            if bad := [key for key in items if not isinstance(key, str)]:
                raise self.fail(f"{where}: a key must be text, not {bad[0]!r}")
            out = Map({key: self.marked(each, f"{where}: {key}") for key, each in items.items()})
            out.line, out.lines = self.line, dict.fromkeys(items, self.line)
            return out
        if isinstance(value, (list, tuple)):
            listed = Seq(self.marked(each, where) for each in cast("Sequence[Any]", value))
            listed.line, listed.lines = self.line, [self.line] * len(listed)
            return listed
        try:
            plain = json_value(value)
            canonical(plain).encode()
        except (TypeError, ValueError):
            raise self.fail(f"{where}: {value!r:.80} is no JSON value") from None
        if isinstance(plain, int) and plain not in INT64:
            raise self.fail(f"{where}: {plain} does not fit into 64 bits; write it as text")
        return plain

    def task(self, raw: Map) -> Yielded:
        scope = self.scope
        scope.mapping(raw, "a task", self.line, YIELDED_KEYS)
        for key in ("slots", "key"):
            if key not in raw:
                raise self.fail(f"a task needs `{key}`")
        slots = scope.mapping(raw["slots"], "slots", self.line)
        if bad := [name for name in slots if not NAME.fullmatch(name)]:
            raise self.fail(f"the slot {bad[0]!r} must match {NAME.pattern}")
        if any(key.startswith("$") for each in slots.values() for key in keys_in(each)):
            raise self.fail("a key in a slot's value must not begin with $")
        branch = raw.get("branch")
        if branch is not None and not isinstance(branch, str):
            raise self.fail(f"`branch` is the name of a twin, or None, not {branch!r}")
        branches = frozenset([branch]) if branch is not None else frozenset[str]()
        scope = Scope(scope.file, scope.family, scope.tools, frozenset(slots), branches)
        body = read_body(raw, scope, self.queries, self.rules, [slots])
        return Yielded(dict(slots), raw["key"], branch, body)
