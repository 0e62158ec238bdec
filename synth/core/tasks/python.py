"""Families in Python, for what data cannot say: the public functions of a world's tasks.py.

    def reorder_low_stock(db: sqlalchemy.Connection) -> Iterator[dict]:
        low = text("SELECT product_id, name FROM products WHERE stock < 5")
        for product_id, name in db.execute(low):
            yield {
                "slots": {"name": name},
                "key": product_id,
                "user": {"says": "We are running low on {name}, please reorder."},
                "gold": [{"reorder": {"product_id": product_id}}, {"say": "Ordered."}],
            }

A function's name is its family's id. ``db`` reads the template of the universe. Each dict is a
family in the notation of tasks.yaml with its slots in the place of ``ground``, ``vary`` and
``cases``, and is checked as one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, cast

from envs.ledger import Ledger
from envs.sandboxes.base import Template
from envs.world.loader import World
from synth.core.foundation.hashing import canonical
from synth.core.foundation.json_leaves import named_values
from synth.core.tasks.domains import keys_in
from synth.core.tasks.families import FamilyTasks
from synth.core.tasks.pools import ListedFamily, TaskInstance
from synth.core.tasks.queries import Queries, json_value
from synth.core.tasks.readers import FileFamilies, ReaderContext
from synth.core.tasks.yaml.body import WorldRules, read_body, unsubmitted
from synth.core.tasks.yaml.family import check_tools
from synth.core.tasks.yaml.models import YieldedModel
from synth.core.tasks.yaml.scope import Scope
from synth.core.tasks.yaml.source_map import INT64, Map, Seq
from synth.errors import EmptyFamilyError, TaskError, raise_task_errors

MOST = 100_000
"""Tasks that one function may yield."""


def read_file(context: ReaderContext) -> FileFamilies:
    """The families of a world's tasks.py, in the order of their definition.

    Raises :class:`~synth.errors.TaskError` with the function's line, and
    :class:`~envs.errors.WorldError` for a file that cannot be imported.
    """
    module = context.world.module("tasks")
    check_tools(Scope(str(context.file), tools=context.tools))
    functions = [
        value
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and not name.startswith("_")
    ]
    if not functions:
        raise TaskError(
            "defines no family: a family is a public function that yields tasks", str(context.file)
        )
    errors: list[TaskError] = []
    readers = [_Function(function, context) for function in functions]
    families: list[ListedFamily] = []
    absent: dict[str, str] = {}
    for reader in readers:
        try:
            families.append(reader.family())
        except TaskError as error:
            if isinstance(error, EmptyFamilyError) and context.universe:
                absent[reader.function.__name__] = error.message
            else:
                errors.append(error)
    raise_task_errors(errors)
    account = Ledger()
    for reader in readers:
        account.add(reader.account)
    return FileFamilies(families, absent=absent, account=account)


def read_function(function: Callable[..., Any], context: ReaderContext) -> ListedFamily:
    """The family that a function yields. Raises :class:`~synth.errors.TaskError`."""
    return _Function(function, context).family()


def function_tasks(
    functions: Sequence[Callable[..., Any]],
    world: World,
    template: Template,
    families: Sequence[str] | None = None,
    universe: int = 0,
    *,
    identity: str = "",
) -> FamilyTasks:
    """The tasks that functions yield, each as a function of a world's tasks.py does.

    A function's name is its family's id; it takes a connection to the universe's database.
    ``identity`` is a digest of what else decides the tasks (see :class:`TaskPool`). Raises
    :class:`~synth.errors.TaskError` with the function's line.
    """

    def read(queries: Queries) -> FileFamilies:
        found: dict[str, ListedFamily] = {}
        for function in functions:
            file = Path(inspect.getsourcefile(function) or "")
            taken = frozenset(found)
            context = ReaderContext(world, file, universe, queries, WorldRules(), taken)
            family = read_function(function, context)
            found[family.id] = family
        return FileFamilies(list(found.values()))

    return FamilyTasks(world, template, families, universe, given=read, identity=identity)


def _texts_in(raw: Map) -> str:
    """All texts of a task except in its slots and key, one below the other."""
    own = {key: raw[key] for key in raw if key not in {"slots", "key"}}
    return "\n".join(leaf for _, leaf in named_values(own) if isinstance(leaf, str))


class _Function:
    """Reads one function's tasks."""

    def __init__(self, function: Callable[..., Any], context: ReaderContext) -> None:
        self.function, self.context, self.file = function, context, context.file
        self.line = function.__code__.co_firstlineno
        self.scope = Scope(str(context.file), function.__name__, context.tools)
        self.account = Ledger()

    def fail(self, message: str, line: int | None = None) -> TaskError:
        return self.scope.fail(message, line or self.line)

    def empty(self, message: str) -> EmptyFamilyError:
        return EmptyFamilyError(message, str(self.file), self.line, self.scope.family)

    def family(self) -> ListedFamily:
        if inspect.iscoroutinefunction(self.function) or inspect.isasyncgenfunction(self.function):
            raise self.fail("is async; write a plain function that yields")
        try:
            inspect.signature(self.function).bind(None)
        except TypeError:
            raise self.fail(
                "must take one argument, (db); a helper's name begins with an underscore"
            ) from None
        if self.function.__name__ in self.context.taken:
            raise self.fail("another family has this id")
        tasks: dict[str, TaskInstance] = {}
        contents: dict[str, str] = {}
        errors: list[TaskError] = []
        for raw in self.yielded():
            self.account.found("task")
            try:
                one = self.task(raw)
            except TaskError as error:
                errors.append(error)
                name = f"{self.scope.family} {raw.get('key')!r}"
                self.account.leave_out("task", name, str(error))
                continue
            name, content = canonical([one.case, one.slots]), canonical(raw)
            if contents.setdefault(name, content) != content:
                message = (
                    f"two tasks have the slots {dict(one.slots)!r}; the slots have to tell"
                    " them apart"
                )
                raise self.fail(message)
            tasks[name] = one
            self.account.use("task")
        if not tasks and errors:
            raise errors[0]
        if not tasks:
            raise self.empty("yields no task")
        cases = {task.case for task in tasks.values()}
        if len(cases) == 1 and None not in cases:
            raise self.empty(f"all tasks have the case {cases.pop()!r}: cases come in two or more")
        if spare := unsubmitted([task.body for task in tasks.values()]):
            message = f"gold never submits the answer's field {spare[0]!r}: submit it, or leave it"
            raise self.fail(f"{message} out of `answer`")
        about = inspect.getdoc(self.function) or ""
        return ListedFamily(
            self.function.__name__, str(self.file), self.line, about, list(tasks.values())
        )

    def yielded(self) -> list[Map]:
        """The yielded dicts as if they had been read from YAML at the function's line."""
        found = self.context.queries.during(self.run)
        if len(found) > MOST:
            raise self.fail(f"yields more than {MOST:,} tasks")
        for item in found:
            if not isinstance(item, Mapping):
                raise self.fail(f"must yield dicts, not {item!r:.80}")
        return [cast("Map", self.marked(item, "a task")) for item in found]

    def run(self, db: Any) -> list[Any]:
        try:
            made: Any = self.function(db)
            if not isinstance(made, Iterable):
                raise self.fail(f"returns {made!r:.80}; it should yield dicts")
            return list(islice(cast("Iterable[Any]", made), MOST + 1))
        except TaskError:
            raise
        except Exception as error:
            driver = getattr(error, "orig", None) or error  # without SQLAlchemy's own words
            text = (
                str(driver)
                .partition("\n")[0]
                .replace("this tool", "a family")
                .partition(" (Background on")[0]
            )
            raise self.fail(f"{type(error).__name__}: {text}", self.line_of(error)) from error

    def line_of(self, error: Exception) -> int:
        """The last line of this file that the error came through."""
        trace, line = error.__traceback__, self.line
        while trace is not None:
            if Path(trace.tb_frame.f_code.co_filename) == self.file:
                line = trace.tb_lineno
            trace = trace.tb_next
        return line

    def marked(self, value: Any, where: str) -> object:
        """Plain Python data as the parser takes it; the line of everything is the function's."""
        if isinstance(value, Mapping):
            items = cast("Mapping[Any, Any]", value)
            if bad := [key for key in items if not isinstance(key, str)]:
                raise self.fail(f"{where}: a key must be text, not {bad[0]!r}")
            out = Map({key: self.marked(item, f"{where}: {key}") for key, item in items.items()})
            out.line, out.lines = self.line, dict.fromkeys(items, self.line)
            return out
        if isinstance(value, (list, tuple)):
            listed = Seq(self.marked(item, where) for item in cast("Sequence[Any]", value))
            listed.line, listed.lines = self.line, [self.line] * len(listed)
            return listed
        try:
            plain = json_value(value)
            canonical(plain).encode()
        except (TypeError, ValueError):
            raise self.fail(f"{where}: {value!r:.80} is not a JSON value") from None
        if isinstance(plain, int) and plain not in INT64:
            raise self.fail(f"{where}: {plain} does not fit into 64 bits; write it as text")
        return plain

    def as_slot(self, error: TaskError, raw: Map, slots: Map) -> TaskError:
        """The error; with the way out if a slot's value stands where its name should."""
        pasted = next(
            (
                name
                for name, value in slots.items()
                if isinstance(value, str) and set(value) & set("{}$") and value in _texts_in(raw)
            ),
            None,
        )
        if pasted is None:
            return error
        message = f'{error.message}: write the slot, "{{{pasted}}}", in the place of its value'
        return TaskError(message, error.file, error.line, error.family)

    def task(self, raw: Map) -> TaskInstance:
        scope = self.scope
        scope.check(raw, YieldedModel, "a task", self.line)
        slots = raw["slots"]
        if any(key.startswith("$") for slot in slots.values() for key in keys_in(slot)):
            raise self.fail("a key in a slot's value must not begin with $")
        case = raw.get("case")
        cases = frozenset([case]) if case is not None else frozenset[str]()
        scope = Scope(scope.file, scope.family, scope.tools, frozenset(slots), cases)
        try:
            body = read_body(raw, scope, self.context.queries, self.context.rules, [slots])
        except TaskError as error:
            raise self.as_slot(error, raw, slots) from None
        return TaskInstance(dict(slots), raw["key"], body, case)
