"""A loaded world: its scripts, universes, tools and policy, and the environments made from it."""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from sqlalchemy.exc import DataError, IntegrityError, NotSupportedError, ProgrammingError

from envs.environments.database import DatabaseExecutableEnvironment
from envs.errors import ScriptError, WorldError
from envs.plugins import ENGINES, Extension, resolve
from envs.quoting import backticked, quoted
from envs.sandboxes.base import DatabaseTarget, Template, TestSuiteDatabases, find_engine
from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.scripts import Dialect
from envs.scripts.run import run_script
from envs.tools.tool import Tool
from envs.tools.toolbox import Toolbox
from envs.types import Limits, Pins
from envs.world.files import find_script, world_digest
from envs.world.package import WorldPackage
from envs.world.sqlite_files import FILE as DATABASES_FILE
from envs.world.sqlite_files import DatabaseFile, database_template
from envs.world.world_file import WORLD_FILE, ColumnTraits

if TYPE_CHECKING:
    from envs.audit import Audit
    from envs.world.seed_rows import SeedRow

SUBPROCESS_SERVICE = "envs.world.subprocess_service"
"""The service (:mod:`envs.processes`) that runs tools of free SQL in processes of their own."""

SUITE_UNIVERSES = 4
"""The most other universes that queries are judged on."""


@dataclass(frozen=True)
class World:
    """A loaded world. It holds functions, so its folder travels to workers, never the object.

    ``database`` holds the scripts and seed.py: the world's own folder, or the folder of
    the world whose database it shares (:mod:`envs.world.files`). ``databases`` are its SQLite
    files, if it has any in the place of scripts. ``extensions`` are the sets of tools that
    its tools.yaml switches on. ``user_toolbox`` holds the user's own tools,
    ``whole_toolbox`` all. ``columns`` are the
    declared traits of columns, by ``table.column``. ``environment_class`` makes its environments.
    """

    name: str
    path: Path
    digest: str
    policy: str
    toolbox: Toolbox
    database: Path
    databases: tuple[DatabaseFile, ...] = ()
    extensions: tuple[Extension, ...] = ()
    user_toolbox: Toolbox = field(default_factory=lambda: Toolbox(()))
    whole_toolbox: Toolbox = field(default_factory=lambda: Toolbox(()))
    columns: Mapping[str, ColumnTraits] = field(default_factory=dict[str, ColumnTraits])
    environment_class: type[DatabaseExecutableEnvironment] = DatabaseExecutableEnvironment
    _open: WeakValueDictionary[tuple[str, int], SqliteTemplate] = field(
        default_factory=WeakValueDictionary[Any, Any], init=False, repr=False, compare=False
    )

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(self.toolbox.tools)

    def script(self, stem: str, engine: str) -> Path:
        """Return the world's ``schema`` or ``seed`` script for an engine.

        A script for the engine is preferred to one for its SQL dialect, and that to the plain one.
        Raises :class:`~envs.errors.WorldError` where the world has no such script.
        """
        script = find_script(self.database, stem, engine)
        if script is None:
            raise WorldError(f"a world needs a {stem}.sql", self.database / f"{stem}.sql")
        return script

    def module(self, name: str) -> types.ModuleType:
        """A Python file of the folder, imported as part of the world.

        Raises :class:`~envs.errors.WorldError` with file and line where its code fails.
        """
        return WorldPackage(self.path, self.digest).load(name)

    @property
    def universes(self) -> bool:
        """True where a seed.py makes more universes than number 0."""
        return (self.database / "seed.py").is_file()

    def seed_rows(self, universe: int) -> Iterator[SeedRow]:
        """The rows of a universe from 1 on, as seed.py yields them.

        Raises :class:`~envs.errors.WorldError` where seed.py is missing or wrong.
        """
        file = self.database / "seed.py"
        if universe < 1:
            raise WorldError(
                f"unknown universe {universe}: universes are numbered from 0, which is seed.sql"
            )
        if not self.universes:
            raise WorldError(
                "this world has universe 0 only; a seed.py with rows(universe, random) makes more",
                file,
            )
        shared = self.database != self.path
        digest = world_digest(self.database) if shared else self.digest
        module = WorldPackage(self.database, digest).load("seed")
        return resolve("envs.world.seed_rows:universe_rows")(module, universe, file)

    def template(
        self, engine: str = "sqlite", universe: int = 0, place: DatabaseTarget | None = None
    ) -> Template:
        """Build the template that sandboxes are copied from: the schema, then seed.sql (universe 0)
        or the rows of seed.py.

        ``place`` names the server, or the database that an engine attaches: nothing is built
        then. Raises :class:`~envs.errors.ScriptError` with file and line
        where a statement fails, :class:`~envs.errors.WorldError` likewise for a refused row, and
        :class:`~envs.errors.DatabaseConfigError` for a missing server or driver.
        """
        kind = find_engine(engine)
        dialects = self.environment_class.dialects
        if dialects is not None and getattr(kind, "dialect", None) not in dialects:
            raise WorldError(
                f"{self.environment_class.__name__}, this world's environment, does not run on"
                f" {ENGINES.find(engine).name}; it runs on {', '.join(sorted(dialects))}",
                self.database / WORLD_FILE,
            )
        if kind.attaches:
            return self._attached_template(engine, universe, place)
        if self.databases:
            template = self._file_template(engine, universe)
        else:
            known = self._open.get((engine, universe))  # as another universe's further database
            template = (known and known.twin()) or self._build(engine, universe, place)
            if isinstance(template, SqliteTemplate):
                self._open[engine, universe] = template
        template.siblings = TestSuiteDatabases(
            partial(self._sibling, template, engine, universe, place)
        )
        return template

    def _build(
        self,
        engine: str,
        universe: int,
        place: DatabaseTarget | None,
        alter: Callable[[Any, Dialect], None] | None = None,
    ) -> Template:
        """A template from the world's scripts. ``alter`` changes what they have loaded."""
        kind = find_engine(engine)
        schema, seed = self.script("schema", engine), self.script("seed", engine)

        def load(connection: Any) -> None:
            rows = self.seed_rows(universe) if universe else None
            run_script(schema, connection, kind.dialect)
            if rows is None:
                run_script(seed, connection, kind.dialect)
                if kind.dialect == "sqlite":
                    check_keys(connection, schema, seed)
                else:
                    check_server_keys(connection, kind.dialect, seed)
            else:
                insert_rows = resolve("envs.world.seed_rows:insert_rows")
                insert_rows(connection, rows, kind.dialect)
            if alter is not None:
                alter(connection, kind.dialect)

        return kind.build(load, place or DatabaseTarget())

    def _attached_template(
        self, engine: str, universe: int, place: DatabaseTarget | None
    ) -> Template:
        if universe:
            raise WorldError(
                f"unknown universe {universe}: an attached database has universe 0 only", self.path
            )
        if self.databases:
            raise WorldError(
                "this world brings SQLite files of its own; tasks=questions asks an attached"
                " database",
                self.database / DATABASES_FILE,
            )
        return find_engine(engine).build(lambda _: None, place or DatabaseTarget())

    def _file_template(self, engine: str, universe: int) -> Template:
        file = self.database / DATABASES_FILE
        if ENGINES.find(engine).name != "sqlite":
            raise WorldError(
                f"these databases are SQLite files, which do not run on {engine}", file
            )
        if universe not in range(len(self.databases)):
            raise WorldError(
                f"there are {len(self.databases)} databases, and none is number {universe}", file
            )
        return database_template(self.databases[universe])

    def _sibling(
        self,
        template: Template,
        engine: str,
        universe: int,
        place: DatabaseTarget | None,
        index: int,
    ) -> Template | None:
        """The database of a test suite with this number, counted from 0; None after the last.

        Other universes come first, then copies with fewer rows or other values. A server's database
        that cannot be changed so ends the suite.
        """
        if self.universes and index < SUITE_UNIVERSES:
            other = index + 1 if index + 1 < universe or not universe else index + 2
            return self.template(engine, other, place)
        copy = index - (SUITE_UNIVERSES if self.universes else 0)
        if isinstance(template, SqliteTemplate):
            copies = resolve("envs.sandboxes.sqlite.altered_images:COPIES")
            if copy >= len(copies):
                return None
            image = copies[copy](template.image)
            return SqliteTemplate.from_image(image, loose_quotes=bool(self.databases))
        if not find_engine(engine).needs_server:
            return None
        alterations = resolve("envs.sandboxes.server.altered_rows:ALTERATIONS")
        if copy >= len(alterations):
            return None
        try:
            return self._build(engine, universe, place, alterations[copy])
        except (DataError, IntegrityError, NotSupportedError, ProgrammingError):
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
        """Open an environment on a fresh sandbox; the caller closes it. ``audit`` logs calls."""
        sandbox = template.open(pins, unordered=unordered)
        pool = None
        if sandbox.out_of_process and any(tool.free_sql for tool in self.tools):
            pool_of = resolve("envs.processes:pool_of")
            pool = pool_of(SUBPROCESS_SERVICE, (str(self.path), self.digest))
            pool.start()
        return self.environment_class(self.toolbox, sandbox, template.tables, limits, pool, audit)


_SERVER_KEYS = {
    "postgresql": """
SELECT (pg_identify_object('pg_class'::regclass, k.conrelid, 0)).identity,
  (pg_identify_object('pg_class'::regclass, k.confrelid, 0)).identity,
  string_agg(quote_ident(a.attname), E'\n' ORDER BY o),
  string_agg(quote_ident(p.attname), E'\n' ORDER BY o)
FROM pg_constraint k, unnest(k.conkey, k.confkey) WITH ORDINALITY AS c(child, parent, o),
  pg_attribute a, pg_attribute p
WHERE k.contype = 'f' AND a.attrelid = k.conrelid AND a.attnum = c.child
  AND p.attrelid = k.confrelid AND p.attnum = c.parent
GROUP BY k.oid, k.conrelid, k.confrelid ORDER BY k.conname, k.oid
""",
    "mysql": """
SELECT TABLE_NAME, REFERENCED_TABLE_NAME,
  GROUP_CONCAT(COLUMN_NAME ORDER BY ORDINAL_POSITION SEPARATOR '\n'),
  GROUP_CONCAT(REFERENCED_COLUMN_NAME ORDER BY ORDINAL_POSITION SEPARATOR '\n')
FROM information_schema.KEY_COLUMN_USAGE
WHERE TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_SCHEMA = DATABASE()
GROUP BY CONSTRAINT_NAME, TABLE_NAME, REFERENCED_TABLE_NAME ORDER BY CONSTRAINT_NAME
""",
}
"""Table, parent and their columns of each foreign key."""


def check_server_keys(
    connection: Any, dialect: Dialect, seed: Path, tables: Collection[str] | None = None
) -> None:
    """:func:`check_keys` for a server, where a script may switch its keys off: the error names the
    row, not the line. ``tables`` are those that are checked, by default all.
    """
    cursor = connection.cursor()
    cursor.execute(_SERVER_KEYS[dialect])
    plain = backticked if dialect == "mysql" else str
    for child, parent, own, theirs in cursor.fetchall():
        if tables is not None and child not in tables:
            continue
        columns = own.split("\n")
        pairs = list(zip(map(plain, columns), map(plain, theirs.split("\n")), strict=True))
        there = " AND ".join(f"p.{name} = c.{column}" for column, name in pairs)
        known = " AND ".join(f"c.{column} IS NOT NULL" for column, _ in pairs)
        cursor.execute(
            f"SELECT {', '.join(f'c.{column}' for column, _ in pairs)} FROM {plain(child)} c WHERE"
            f" {known} AND NOT EXISTS (SELECT 1 FROM {plain(parent)} p WHERE {there}) LIMIT 1"
        )
        broken = cursor.fetchone()
        if broken is not None:
            cells = zip(columns, broken, strict=True)
            values = ", ".join(f"{column}={cell!r}" for column, cell in cells)
            raise ScriptError(_broken(child, values, parent), seed)


def _broken(table: str, values: str, parent: str) -> str:
    return f"a row of {table} breaks a foreign key: {values} is in no row of {parent}"


def check_keys(connection: Any, schema: Path, seed: Path) -> None:
    """Raise :class:`ScriptError` with file and line of the statement that wrote the first row whose
    foreign key leads to no row.

    A key that its own declaration makes impossible is left to the tools that need it.
    """
    try:
        broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    except connection.Error:
        return
    if broken is None:
        return
    table, row_id, parent, number = broken
    if row_id is None:  # a table without rowid
        raise ScriptError(f"a row of {table} breaks its foreign key to {parent}", seed)
    keys = connection.execute(f"PRAGMA foreign_key_list({quoted(table)})").fetchall()
    columns = [key[3] for key in sorted(keys, key=lambda key: key[1]) if key[0] == number]
    where = f"FROM {quoted(table)} WHERE rowid = ?"
    listed = ", ".join(map(quoted, columns))
    cells = connection.execute(f"SELECT {listed} {where}", (row_id,)).fetchone()
    values = ", ".join(f"{name}={cell!r}" for name, cell in zip(columns, cells, strict=True))
    message = _broken(table, values, parent)
    raise ScriptError(message, *_written(schema, seed, f"SELECT 1 {where}", row_id))


def _written(schema: Path, seed: Path, query: str, row_id: int) -> tuple[Path, int | None]:
    found: list[tuple[Path, int]] = []

    def load(connection: Any) -> None:
        run_script(schema, connection, "sqlite")
        run_script(seed, connection, "sqlite", partial(watch, connection))

    def watch(connection: Any, file: Path, line: int) -> None:
        if not found and connection.execute(query, (row_id,)).fetchone() is not None:
            found.append((file, line))

    SqliteTemplate.build(load).close()
    return found[0] if found else (seed, None)
