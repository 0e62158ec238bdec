"""Databases that a question may be about, and the tools by which an agent finds its tables and asks
them: it only reads.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from envs.closing import Closing
from envs.errors import EnvsError
from envs.sandboxes.base import DatabaseTarget, find_engine
from envs.tools.sql.tool_set import sql_tools
from envs.tools.tool import Executor, Tool
from envs.tools.toolbox import Toolbox
from envs.types import ErrorCategory, Json, Limits, Pins, Table, ToolCall, ToolOutcome, ToolResult
from envs.world.files import database_folder
from envs.world.loader import World, load_world
from envs.world.template_cache import Templates
from synth.core.agent.state import ToolInfo
from synth.core.agent.turn import ToolInterface
from synth.core.foundation.shipped import find_world, world_names
from synth.core.users import AbsentUser
from synth.episode import Episode
from synth.ext.serving.questions.schema_linker import FIRST, SchemaLinker, sampled_texts
from synth.task import Task

READING = ("list_tables", "describe_table", "sample_rows", "run_select_query")
LISTED = 30
"""Tables of one database, and columns of one table, that a list names."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Database:
    world: World
    templates: Templates
    universe: int
    tables: Mapping[str, Table]


class QuestionDatabases(Closing):
    """Databases by name, with an index of their tables. ``scratch`` is an empty folder; ``limits``
    hold for each call.

    One that does not open is in ``broken``, with the reason, and the others are served.
    """

    def __init__(self, scratch: Path, limits: Limits) -> None:
        self._scratch, self._limits = scratch, limits
        self._stack = ExitStack()
        self._open: dict[str, _Database] = {}
        self.linker = self._stack.enter_context(SchemaLinker())
        self.broken: dict[str, str] = {}

    @property
    def names(self) -> list[str]:
        return list(self._open)

    def add(
        self, world: Path, engine: str, place: DatabaseTarget | None = None, universe: int = 0
    ) -> None:
        """Add the database of a world's folder; of a world over SQLite files each of them."""
        try:
            reading = self._reading_world(world, attached=find_engine(engine).attaches)
        except EnvsError as error:
            self._leave_out(world.name, error)
            return
        if not reading.databases:
            self._add(world.name, reading, engine, place, universe)
        for number, file in enumerate(reading.databases):
            self._add(file.name, reading, "sqlite", None, number)

    def _reading_world(self, world: Path, *, attached: bool) -> World:
        """A world over the same database, with SQL tools that read in the place of its own: free
        SQL runs in processes that load a folder.
        """
        folder = self._scratch / f"{len(self._open) + len(self.broken)}" / world.name
        folder.mkdir(parents=True)
        if not attached:
            copy = f"{world.name}-database"
            shutil.copytree(database_folder(world), folder.parent / copy)
            (folder / "world.yaml").write_text(f"database: {json.dumps(f'../{copy}')}\n", "utf-8")
        (folder / "tools.yaml").write_text(f"- builtin: [{', '.join(READING)}]\n", "utf-8")
        return load_world(folder)

    def _add(
        self, name: str, world: World, engine: str, place: DatabaseTarget | None, universe: int
    ) -> None:
        taken = [*self._open, *self.broken]
        if name in taken:
            name = next(
                new for n in range(2, len(taken) + 3) if (new := f"{name}_{n}") not in taken
            )
        templates = self._stack.enter_context(Templates(world, engine, place=place))
        try:
            with templates.use(universe) as template, template.open(_PINS) as sandbox:
                texts = sampled_texts(sandbox, template.tables)
                self._open[name] = _Database(world, templates, universe, template.tables)
        except EnvsError as error:
            self._leave_out(name, error)
            return
        self.linker.add(name, self._open[name].tables, texts)

    def _leave_out(self, name: str, error: EnvsError) -> None:
        self.broken[name] = str(error)

    def tools(self, task: Task, only: str | None = None) -> _DatabaseTools:
        """The tools of one turn of the agent, of all databases or ``only`` one. Close them at its
        end.
        """
        return _DatabaseTools(self, task, self.names if only is None else [only])

    def open(self, name: str, task: Task, stack: ExitStack) -> Episode:
        """A sandbox of the database, open until the stack is closed.

        Raises :class:`~envs.errors.EnvsError` if it does not open.
        """
        found = self._open[name]
        template = stack.enter_context(found.templates.use(found.universe))
        return stack.enter_context(
            Episode(task, found.world, template, self._limits, user=AbsentUser())
        )

    def listed(self, names: Sequence[str]) -> dict[str, Json]:
        """The result of list_databases."""
        tables = {name: list(self._open[name].tables) for name in names}
        known = [
            {"database": name, "tables": found[:LISTED], "count": len(found)}
            for name, found in tables.items()
        ]
        return {"databases": known, **({"not_open": list(self.broken)} if self.broken else {})}

    def found(self, question: str, limit: int, database: str | None) -> dict[str, Json]:
        """The result of find_tables."""
        return {
            "tables": [
                {
                    "database": one.database,
                    "table": one.table,
                    "columns": _columns(self._open[one.database].tables[one.table]),
                }
                for one in self.linker.tables(question, limit, database)
            ]
        }

    def close(self) -> None:
        self._stack.close()


class _DatabaseTools(Closing):
    """The tools of one turn; a database is opened by the first call that names it."""

    def __init__(self, databases: QuestionDatabases, task: Task, names: Sequence[str]) -> None:
        self._databases, self._task = databases, task
        self._stack = ExitStack()
        self._episodes: dict[str, Episode] = {}
        self._box = Toolbox(_offered(databases, names))

    @property
    def interface(self) -> ToolInterface:
        infos = {tool.name: ToolInfo(tool.name, read_only=True) for tool in self._box.tools}
        return ToolInterface(
            self._call, [tool.to_openai() for tool in self._box.tools], infos, self._check
        )

    def _check(self, call: ToolCall) -> ToolResult | None:
        parsed = self._box.parse(call)
        return parsed if isinstance(parsed, ToolResult) else None

    async def _call(self, call: ToolCall) -> ToolOutcome:
        parsed = self._box.parse(call)
        if isinstance(parsed, ToolResult):
            return ToolOutcome(call, parsed, parsed.content())
        arguments = dict(parsed[1])
        if parsed[0].pure:  # asks the index, and no database
            result = parsed[0].executor(arguments, cast("Any", None))
        else:
            name = arguments.pop("database")
            try:
                episode = self._episode(name)
            except EnvsError as error:
                _log.warning("the database %s does not open: %s", name, error)
                result = ToolResult.failure(
                    f"The database {name!r} does not open.",
                    category=ErrorCategory.CONNECTION_ERROR,
                    advice="answer from another database, or say that it cannot be asked",
                )
            else:
                inside = await episode.call(ToolCall.of(call.name, arguments, call.id))
                return replace(inside, call=call, arguments=parsed[1])
        return ToolOutcome(call, result, result.content(), parsed[1])

    def _episode(self, name: str) -> Episode:
        if name not in self._episodes:
            self._episodes[name] = self._databases.open(name, self._task, self._stack)
        return self._episodes[name]

    def close(self) -> None:
        self._stack.close()


_PINS = Pins("2026-01-01T09:00:00", 0)


def worlds_in(names: Sequence[str]) -> Iterator[Path]:
    """The folders of the worlds of these names; a folder of worlds stands for each of them.

    Raises :class:`OperatorError` for what is neither.
    """
    for name in names:
        folder = Path(name).expanduser()
        inside = world_names(folder) if folder.is_dir() else []
        if inside:
            yield from (folder / one for one in inside)
        else:
            yield find_world(name)


def _columns(table: Table) -> list[str]:
    columns = [
        column.name
        + (f" -> {'.'.join(column.references)}" if column.references else "")
        + (f" ({column.about})" if column.about else "")
        for column in table.columns
    ]
    return columns[:LISTED] + (["..."] if len(columns) > LISTED else [])


def _offered(databases: QuestionDatabases, names: Sequence[str]) -> list[Tool]:
    only = names[0] if len(names) == 1 else None
    database = {"type": "string", "enum": list(names), "description": "The name of the database."}
    question = {"type": "string", "description": "What is asked, in words."}
    limit = {
        "type": "integer",
        "minimum": 1,
        "maximum": 20,
        "description": "How many; 5 if absent.",
    }

    def listed(arguments: dict[str, Json], db: object) -> ToolResult:
        return ToolResult(databases.listed(names))

    def found(arguments: dict[str, Json], db: object) -> ToolResult:
        limit = arguments.get("limit", FIRST)
        database = arguments.get("database", only)
        return ToolResult(databases.found(arguments["question"], limit, database))

    own = [
        _own("list_databases", "List the databases and their tables.", _schema({}), listed),
        _own(
            "find_tables",
            "Find the tables that a question is about, the likeliest first, in one database or in"
            " all.",
            _schema({"question": question}, {"limit": limit, "database": database}),
            found,
        ),
    ]
    for tool in sql_tools(READING):
        given: Any = tool.parameters
        properties = {"database": database, **given["properties"]}
        required = ["database", *given["required"]]
        own.append(
            replace(tool, parameters={**given, "properties": properties, "required": required})
        )
    return own


def _schema(
    required: Mapping[str, Json], optional: Mapping[str, Json] | None = None
) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def _own(name: str, about: str, parameters: Mapping[str, Json], run: Executor) -> Tool:
    return Tool(name, about, parameters, run, read_only=True, pure=True)
