"""A world from its folder: scripts, policy, tools and the digest that names them all.

    schema.sql  seed.sql      required; ``schema.postgresql.sql`` beside it wins for that engine
    databases.json            SQLite files in the place of both scripts (:mod:`envs.databases`)
    seed.py                   rows of more universes than the one that seed.sql holds (:mod:`envs.seed_rows`)
    policy.md                 the rules that the agent works under
    executors.py              tools under ``@tool``, and functions that tools.yaml names
    tools.yaml                tools as data: name, description, parameters, executor, ...; or `builtin`, SQL tools
    tasks.yaml                task families; read by the pipeline, not here

The folder's Python is loaded by path as a package of its own with a unique name, so that two worlds never
meet and relative imports work.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import inspect
import sys
import threading
import types
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import yaml

from envs.audit import Audit
from envs.connection import require_driver
from envs.database import DatabaseExecutableEnvironment
from envs.databases import FILE as DATABASES_FILE
from envs.databases import DatabaseFile, database_template, read_databases
from envs.errors import WorldError
from envs.processes import pool_of
from envs.sandboxes.base import Place, Siblings, Template
from envs.sandboxes.sqlite import SqliteTemplate
from envs.sandboxes.thinned import thinned
from envs.seed_rows import SeedRow, insert_rows, rows_function, seed_rows
from envs.sql_script import Dialect, run_script
from envs.sql_tools import tools_of_entry
from envs.tool import ANNOTATED_ADVICE, UNHASHABLE, Executor, Tool, kind_of_function, lint
from envs.toolbox import Toolbox
from envs.types import Json, Limits, Pins

ENGINES: Mapping[str, str] = {
    "sqlite": "envs.sandboxes.sqlite:build",
    "postgresql": "envs.sandboxes.postgres:build",
    "mysql": "envs.sandboxes.mysql:build",
}
"""Engines that a world's sandboxes run on: each a function ``(load, place) -> Template``. They are imported when
they are asked for, since their drivers are extras."""

APART = "envs.apart"
"""The service (:mod:`envs.processes`) that runs tools of free SQL; it stands on the floor above."""

SUFFIXES = frozenset({".sql", ".py", ".yaml", ".yml", ".md", ".json", ".csv", ".txt"})
"""Files that make a world; everything else (databases, caches, keys) neither counts nor travels."""

TOOL_KEYS = frozenset(
    {"name", "description", "parameters", "output_schema", "read_only", "risk", "free_sql", "secret", "executor"}
    | {"statement_timeout_ms", "max_rows", "max_result_bytes"}
)

_importing = threading.RLock()


@dataclass(frozen=True)
class World:
    """A world at rest. Holds functions, hence a resident: its folder travels, never the object."""

    name: str
    path: Path
    digest: str
    policy: str
    toolbox: Toolbox
    databases: tuple[DatabaseFile, ...] = ()

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(self.toolbox.tools)

    def script(self, stem: str, engine: str) -> Path:
        """The world's ``schema`` or ``seed`` script for an engine; WorldError where there is none."""
        for name in (f"{stem}.{engine}.sql", f"{stem}.sql"):
            if (self.path / name).is_file():
                return self.path / name
        raise WorldError(f"a world needs a {stem}.sql", self.path / f"{stem}.sql")

    def module(self, stem: str) -> types.ModuleType:
        """A Python file of the folder, imported as part of the world; WorldError with file and line where its code fails."""
        return _module(self.path, _package(self.path, package_name(self.digest)), stem)

    @property
    def universes(self) -> bool:
        """Whether a seed.py makes more universes than number 0."""
        return (self.path / "seed.py").is_file()

    def seed_rows(self, universe: int) -> Iterator[SeedRow]:
        """The rows of a universe from 1 on, as seed.py gives them; WorldError where there is no seed.py, or it is wrong."""
        file = self.path / "seed.py"
        if universe < 1:
            raise WorldError(f"universes are numbered from 0, which is seed.sql's; there is no universe {universe}")
        if not self.universes:
            raise WorldError("universe 0 is all there is: a seed.py with rows(universe, random) makes more", file)
        module = _module(self.path, _package(self.path, package_name(self.digest)), "seed")
        return seed_rows(rows_function(module, file), universe, self.name, file)

    def template(self, engine: str = "sqlite", universe: int = 0, place: Place | None = None) -> Template:
        """Build what sandboxes are copied from: the schema, then seed.sql (universe 0) or the rows of seed.py.
        ``place`` says on which server.

        Raises :class:`~envs.errors.ScriptError` with file and line where a statement fails, WorldError with those of a
        row that is refused, and :class:`~envs.errors.DatabaseConfigError` where there is no such server or no driver.
        """
        if engine not in ENGINES:
            raise WorldError(f"sandboxes run on {', '.join(ENGINES)}, not on {engine!r}")
        if self.databases:
            return self._of_file(engine, universe)
        schema, seed = self.script("schema", engine), self.script("seed", engine)
        rows = self.seed_rows(universe) if universe else None

        dialect = cast("Dialect", engine)

        def load(connection: Any) -> None:
            run_script(schema, connection, dialect)
            if rows is None:
                run_script(seed, connection, dialect)
            else:
                insert_rows(connection, rows, dialect)

        module, _, attribute = ENGINES[engine].partition(":")
        require_driver(engine)
        template: Template = getattr(importlib.import_module(module), attribute)(load, place or Place())
        template.siblings = Siblings(partial(self._sibling, template, universe, place))
        return template

    def _of_file(self, engine: str, universe: int) -> Template:
        """The template of one of the databases."""
        file = self.path / DATABASES_FILE
        if engine != "sqlite":
            raise WorldError(f"these databases are SQLite files, which do not run on {engine}", file)
        if universe not in range(len(self.databases)):
            raise WorldError(f"there are {len(self.databases)} databases, and none is number {universe}", file)
        template = database_template(self.databases[universe])
        template.siblings = Siblings(partial(self._sibling, template, universe, None))
        return template

    def _sibling(self, template: Template, universe: int, place: Place | None, at: int, count: int) -> Template | None:
        """The ``at``-th of ``count`` further databases: another universe, or where there is none a copy with rows gone."""
        if self.universes:
            other = at + 1 if at + 1 < universe or not universe else at + 2
            return self.template(template.engine, other, place)
        if isinstance(template, SqliteTemplate):
            return SqliteTemplate.from_image(
                thinned(template.image, at, max(count, 2)), loose_quotes=bool(self.databases)
            )
        return None

    def environment(
        self,
        template: Template,
        pins: Pins,
        limits: Limits | None = None,
        *,
        unordered: bool = False,
        audit: Audit | None = None,
    ) -> DatabaseExecutableEnvironment:
        """The world alive on a fresh sandbox; the caller closes it. ``audit`` logs each call."""
        sandbox = template.open(pins, unordered=unordered)
        pool = None
        if sandbox.apart and any(each.free_sql for each in self.tools):
            pool = pool_of(APART, (str(self.path), self.digest))
            pool.start()
        return DatabaseExecutableEnvironment(self.toolbox, sandbox, template.tables, limits, pool, audit)


def load_world(path: str | Path) -> World:
    """Read a world's folder. Raises :class:`~envs.errors.WorldError` naming the file for anything amiss."""
    folder = Path(path).resolve()
    if not folder.is_dir():
        raise WorldError("there is no such world folder", folder)
    databases = read_databases(folder)
    for name in () if databases else ("schema.sql", "seed.sql"):
        if not (folder / name).is_file() and not any(folder.glob(f"{name[:-4]}.*.sql")):
            raise WorldError(f"a world needs a {name}", folder / name)
    digest = world_digest(folder)
    package = _package(folder, package_name(digest))
    decorated = _decorated(folder, package)
    tools = [*decorated, *_declared(folder, package, {each.name for each in decorated})]
    if not tools:
        raise WorldError("a world needs tools: executors.py with @tool functions, or tools.yaml", folder)
    policy = folder / "policy.md"
    return World(
        name=folder.name,
        path=folder,
        digest=digest,
        policy=_text(policy).strip() if policy.is_file() else "",
        toolbox=Toolbox(tools, str(folder)),
        databases=databases,
    )


def world_files(folder: Path) -> list[Path]:
    """The files that make a world, sorted. Hidden ones are left out, and links that lead elsewhere than into this world or
    one in a folder beside it, whose database it may share so.
    """
    return sorted(
        each
        for each in folder.rglob("*")
        if each.is_file()
        and each.suffix in SUFFIXES
        and _leads_home(each.resolve(), folder.resolve())
        and not any(part.startswith((".", "__pycache__")) for part in each.relative_to(folder).parts)
    )


def _leads_home(file: Path, folder: Path) -> bool:
    beside = file.parent.parent == folder.parent and any(file.parent.glob("schema*.sql"))
    return file.is_relative_to(folder) or beside


def world_digest(folder: Path) -> str:
    """Digest over the names and bytes of :func:`world_files`."""
    total = hashlib.sha256()
    for each in world_files(folder):
        name = each.relative_to(folder).as_posix()
        total.update(f"{name}\0{hashlib.sha256(each.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()[:16]


def package_name(digest: str) -> str:
    """The package that the Python of a world with that digest is imported as."""
    return f"synth_world_{digest}"


def _package(folder: Path, name: str) -> str:
    """Register the folder as an empty package of that name, so that its modules can import each other."""
    known = sys.modules.get(name)
    if known is None or list(getattr(known, "__path__", [])) != [str(folder)]:
        for stale in [each for each in sys.modules if each == name or each.startswith(name + ".")]:
            del sys.modules[stale]
        package = types.ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    return name


def _module(folder: Path, package: str, stem: str) -> types.ModuleType:
    """Import one of the folder's modules; WorldError names the file and line where its code fails."""
    with _importing:  # a module stands in sys.modules before it is whole
        return _imported(folder, package, stem)


def _imported(folder: Path, package: str, stem: str) -> types.ModuleType:
    dotted = f"{package}.{stem}"
    if dotted in sys.modules:
        return sys.modules[dotted]
    file = folder / f"{stem}.py"
    _refuse_doubles(file)
    spec = importlib.util.spec_from_file_location(dotted, file)
    if spec is None or spec.loader is None:
        raise WorldError("this is no Python file", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[dotted] = module
    try:
        spec.loader.exec_module(module)
    except WorldError as error:
        del sys.modules[dotted]
        if error.file is not None:
            raise
        raise WorldError(error.message, file, _line_in(error, file)) from error
    except (Exception, SystemExit) as error:
        del sys.modules[dotted]
        line = error.lineno if isinstance(error, SyntaxError) else _line_in(error, file)
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        advice = f"; {ANNOTATED_ADVICE}" if isinstance(error, TypeError) and UNHASHABLE in str(error) else ""
        raise WorldError(f"{type(error).__name__}: {said}{advice}", file, line) from error
    return module


def _refuse_doubles(file: Path) -> None:
    """Two functions of one name: of two tools or families the first would be gone without a word."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):  # the import says it better
        return
    seen: set[str] = set()
    for each in tree.body:
        if isinstance(each, ast.FunctionDef) and each.name in seen:
            raise WorldError(
                f"two functions are named {each.name!r}, and the second hides the first", file, each.lineno
            )
        if isinstance(each, ast.FunctionDef):
            seen.add(each.name)


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise WorldError(f"not UTF-8 at byte {error.start}", file) from None


def _line_in(error: BaseException, file: Path) -> int | None:
    line, trace = None, error.__traceback__
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename) == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _decorated(folder: Path, package: str) -> list[Tool]:
    """The ``@tool`` functions of executors.py, in the order of their definition."""
    if not (folder / "executors.py").is_file():
        return []
    module = _module(folder, package, "executors")
    return [value for value in vars(module).values() if isinstance(value, Tool)]


def _declared(folder: Path, package: str, taken: Collection[str]) -> list[Tool]:
    """The tools of tools.yaml; ``taken`` are names of tools in executors.py."""
    file = folder / "tools.yaml"
    if not file.is_file():
        return []
    try:
        node: Any = yaml.compose(_text(file), Loader=yaml.SafeLoader)
        raw: Any = yaml.safe_load(_text(file))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        said = getattr(error, "problem", None) or " ".join(str(error).split())
        raise WorldError(f"not valid YAML: {said}", file, mark.line + 1 if mark else None) from None
    except ValueError as error:  # a date that is none
        raise WorldError(f"not valid YAML: {error}", file) from None
    entries: Any = cast("dict[str, Any]", raw).get("tools") if isinstance(raw, dict) else raw
    if not isinstance(entries, list):
        raise WorldError("must hold a list of tools, or `tools:` with one", file)
    if isinstance(node, yaml.MappingNode):
        node = next(value for key, value in node.value if key.value == "tools")
    listed = zip(cast("list[Any]", entries), node.value, strict=True)
    tools: list[Tool] = []
    for entry, each in listed:
        for made in _from_entry(entry, each, folder, package, file):
            if made.name in {*taken, *(other.name for other in tools)}:
                message = f"two tools are named {made.name!r}"
                raise WorldError(message, file, each.start_mark.line + 1)
            tools.append(made)
    return tools


def _from_entry(entry: Any, node: Any, folder: Path, package: str, file: Path) -> list[Tool]:
    """The tool of an entry of tools.yaml, or the built-in ones that it names; ``node`` knows the lines of ``entry``."""
    item = cast("Mapping[Any, Json]", entry if isinstance(entry, Mapping) else {})
    pairs: list[tuple[Any, Any]] = node.value if isinstance(node, yaml.MappingNode) else []
    keys = [str(key.value) for key, _ in pairs]
    lines: dict[str, int] = {key: pair[0].start_mark.line + 1 for key, pair in zip(keys, pairs, strict=True)}
    name = item.get("name")

    def fail(message: str, key: str = "name") -> WorldError:
        who = f"tool {name}: " if isinstance(name, str) else ""
        return WorldError(f"{who}{message}", file, lines.get(key, node.start_mark.line + 1))

    if twice := [key for key in lines if keys.count(key) > 1]:
        raise fail(f"the key `{twice[0]}` stands there twice", twice[0])
    if "builtin" in item:
        return tools_of_entry(item, fail)
    if not isinstance(name, str):
        raise fail("every tool needs a `name`, a text")
    if unknown := [key for key in item if key not in TOOL_KEYS]:
        raise fail(f"unknown key {unknown[0]!r}; known are {', '.join(sorted(TOOL_KEYS))}", str(unknown[0]))
    for key in ("description", "executor"):
        if not isinstance(item.get(key), str):
            raise fail(f"needs `{key}`, a text", key)
    parameters: Json = item.get("parameters")
    if parameters is None:
        parameters = {"type": "object", "properties": {}, "additionalProperties": False}
    for key, schema in (("parameters", parameters), ("output_schema", item.get("output_schema"))):
        if schema is not None and not isinstance(schema, dict):
            raise fail(f"`{key}` must be a JSON Schema, a mapping", key)
    read_only, free_sql = (_flag(item, key, fail) for key in ("read_only", "free_sql"))
    caps = {key: item.get(key) for key in ("statement_timeout_ms", "max_rows", "max_result_bytes")}
    for key, cap in caps.items():
        if cap is not None and (isinstance(cap, bool) or not isinstance(cap, int) or cap <= 0):
            raise fail(f"`{key}` is a whole number above 0, not {cap!r}", key)
    made = Tool(
        name=name,
        description=item["description"],
        parameters=cast("dict[str, Json]", parameters),
        executor=resolve_executor(item["executor"], folder, package, name, file, lines["executor"]),
        read_only=read_only,
        output_schema=item.get("output_schema"),
        risk=item.get("risk"),
        limits=Limits(read_only=read_only, **caps),
        free_sql=free_sql,
        secret=_names(item, "secret", fail),
    )
    if problems := lint(made):
        told = [each.removeprefix(f"tool {name}: ") for each in problems]
        raise fail("; ".join(told), next((key for key in ("parameters", "secret") if told[0].startswith(key)), "name"))
    return [made]


def _names(item: Mapping[Any, Json], key: str, fail: Callable[[str, str], WorldError]) -> frozenset[str]:
    value: Json = item.get(key) or []
    names = cast("list[Json]", value if isinstance(value, list) else [value])
    if not all(isinstance(each, str) for each in names):
        raise fail(f"`{key}` is the name of a parameter or a list of such, not {value!r}", key)
    return frozenset(cast("list[str]", names))


def _flag(item: Mapping[Any, Json], key: str, fail: Callable[[str, str], WorldError]) -> bool:
    value: Json = item.get(key, False)
    if not isinstance(value, bool):
        raise fail(f"`{key}` is true or false, not {value!r}", key)
    return value


def resolve_executor(
    dotted: str, folder: Path, package: str, tool_name: str, file: Path, line: int | None = None
) -> Executor:
    """The function that ``module.function`` names: in the world's own folder first, then on the import path."""

    def fail(message: str) -> WorldError:
        return WorldError(f"tool {tool_name}: {message}", file, line)

    stem, _, attribute = dotted.rpartition(".")
    if not all(part.isidentifier() for part in (*stem.split("."), attribute)):
        raise fail(f"executor {dotted!r} must be module.function")
    own = folder.joinpath(*stem.split(".")).with_suffix(".py")
    try:
        module = _module(folder, package, stem) if own.is_file() else importlib.import_module(stem)
    except WorldError:
        raise
    except (Exception, SystemExit) as error:
        raise fail(f"executor {dotted!r} cannot be imported: {error}") from None
    found: Callable[..., Any] | Tool | None = getattr(module, attribute, None)
    if isinstance(found, Tool):
        return found.executor
    if not callable(found):
        raise fail(f"{stem} has no function {attribute!r}")
    if sort := kind_of_function(found):
        raise fail(f"executor {dotted!r} is {sort}; write a plain function that returns a ToolResult")
    try:
        inspect.signature(found).bind({}, None)
    except TypeError:
        raise fail(f"executor {dotted!r} must take (arguments, db)") from None
    except ValueError:  # a builtin that does not tell its signature: the call itself will show
        return found
    return found
