"""How often the schema linker finds the tables that an expert's solution touches, and the database.

python -m tests.bench.schema_linking shop_sql=200 shop=200 ehr_db=200 library=60 --others tests/schemata

Each world's tasks are proved; what the tools of gold read and write is what is to be found. The
worlds share one index. Families are divided into two halves by a digest of their names: the ranker
was designed on the first, the second was held out.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import sqlglot
from sqlalchemy import Connection
from sqlglot import exp

from envs.audit import traced
from envs.errors import EnvsError
from envs.sandboxes.sqlite.dbapi import ApswCursor
from envs.tools.tool import Executor, Tool
from envs.tools.toolbox import Toolbox
from envs.types import Pins, ToolResult
from envs.world.loader import World, load_world
from envs.world.template_cache import Templates
from synth.core.cli.live_options import world_override
from synth.core.config.compose import compose
from synth.core.foundation.shipped import find_world
from synth.core.validation.prove import prove
from synth.errors import TaskError
from synth.ext.serving.questions.schema_linker import FIRST, SchemaLinker, sampled_texts
from synth.prepare import PreparedRun, prepare

PINS = Pins("2026-01-01T09:00:00", 0)
_ASKS = re.compile(r"\s*(SELECT|WITH|INSERT|REPLACE|UPDATE|DELETE)\b", re.IGNORECASE)
HALVES = ("designed on", "held out")


@dataclass(frozen=True)
class Asked:
    """A request, the database that it is about, and the tables that its gold touches."""

    family: str
    text: str
    database: str
    tables: frozenset[str]

    @property
    def half(self) -> str:
        digest = hashlib.sha256(self.family.encode()).digest()
        return HALVES[digest[0] % 2]


def touched(statements: Collection[str], known: Collection[str]) -> frozenset[str]:
    """The known tables that the statements name."""
    names = {name.lower(): name for name in known}
    found = {
        table.name.lower()
        for sql in statements
        if _ASKS.match(sql)
        for parsed in sqlglot.parse(sql, "sqlite")
        if parsed is not None
        for table in parsed.find_all(exp.Table)
    }
    return frozenset(names[name] for name in found & names.keys())


class Listening:
    """The tools of a world; ``statements`` are those that SQLite executes for them in this process.
    Those of free SQL run in another, and are in a trace.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        self.statements: list[str] = []
        self.toolbox = Toolbox([replace(tool, executor=self._heard(tool)) for tool in tools])

    def _heard(self, tool: Tool) -> Executor:
        execute = ApswCursor.execute

        def keep(cursor: ApswCursor, sql: str, *binds: Any) -> Any:
            self.statements.append(sql)
            return execute(cursor, sql, *binds)

        def run(arguments: dict[str, Any], db: Connection) -> ToolResult:
            with mock.patch.object(ApswCursor, "execute", keep):
                return tool.executor(arguments, db)

        return run


async def questions(run: PreparedRun, database: str) -> list[Asked]:
    """The different requests of a run with their tables; a task that cannot be proved is left out."""
    asked: dict[str, Asked] = {}
    with Templates(run.world, run.spec.engine, place=run.spec.target) as templates:
        for index in range(run.plan.tasks):
            task = run.plan.task(index)
            with templates.use(task.universe) as template:
                tools = Listening(run.world.tools)
                try:
                    with traced() as trace:
                        await prove(
                            task,
                            replace(run.world, toolbox=tools.toolbox),
                            template,
                            run.spec.limits,
                        )
                except (TaskError, EnvsError):
                    continue
                tables = touched(
                    [*tools.statements, *(one.sql for one in trace.statements)], template.tables
                )
            if tables:
                asked.setdefault(task.prompt, Asked(task.family, task.prompt, database, tables))
    return list(asked.values())


def gathered(
    counts: Mapping[str, int], others: Sequence[str]
) -> tuple[SchemaLinker, list[Asked], dict[Path, str]]:
    """An index of all databases, the requests of those that are counted, and the databases' names."""
    linker, asked, indexed = SchemaLinker(), list[Asked](), dict[Path, str]()

    def index(world: World) -> None:
        if world.database in indexed:  # worlds may share one
            return
        with world.template() as template, template.open(PINS) as sandbox:
            texts = sampled_texts(sandbox, template.tables)
            linker.add(world.database.name, template.tables, texts)
        indexed[world.database] = world.database.name

    with tempfile.TemporaryDirectory() as scratch:
        for other in others:
            for folder in distractors(Path(other), Path(scratch)):
                try:
                    index(load_world(folder))
                except EnvsError as error:  # a schema that is wrong on purpose
                    print(f"left out: {folder.name}: {error}", file=sys.stderr)
    for name, count in counts.items():
        folder = find_world(name)
        overrides = [world_override(name), f"tasks.count={count}", "tasks.universes=[0]"]
        if (folder / "actions.json").is_file():
            overrides += ["tasks=actions", f"tasks.path={folder / 'actions.json'}"]
        run = prepare(compose(overrides)[0].config)
        index(run.world)
        asked += asyncio.run(questions(run, indexed[run.world.database]))
    return linker, asked, indexed


def main(counts: Mapping[str, int], others: Sequence[str], show: int) -> None:
    linker, asked, indexed = gathered(counts, others)
    print(f"{len(indexed)} databases: {', '.join(sorted(indexed.values()))}\n")
    report(linker, asked, show)


def distractors(path: Path, scratch: Path) -> Iterator[Path]:
    """Worlds of the schemas for SQLite in a folder; a folder that is a world is its own."""
    if (path / "schema.sql").is_file():
        yield path
        return
    for file in sorted(path.glob("**/*.sql")):
        if re.search("AUTO_INCREMENT|SERIAL|ENGINE=", file.read_text()):
            continue
        folder = scratch / f"{file.parent.name}_{file.stem}"
        folder.mkdir()
        shutil.copy(file, folder / "schema.sql")
        (folder / "seed.sql").touch()
        (folder / "tools.yaml").write_text("- builtin: [list_tables]\n")
        yield folder


def report(linker: SchemaLinker, asked: Sequence[Asked], show: int) -> None:
    """Print a row for each database and half; ``show`` requests that failed, of the first half."""
    rows = defaultdict[tuple[str, str], list[tuple[bool, float, bool, bool]]](list)
    few = defaultdict[tuple[str, str], list[bool]](list)
    for one in asked:
        everywhere = {(found.database, found.table) for found in linker.tables(one.text)}
        inside = {found.table for found in linker.tables(one.text, database=one.database)}
        wanted = {(one.database, table) for table in one.tables}
        right = linker.databases(one.text)[:1] == [one.database]
        figures = (
            one.tables <= inside,
            len(one.tables & inside) / len(one.tables),
            wanted <= everywhere,
            right,
        )
        for place in (one.database, "all"):
            rows[place, one.half].append(figures)
            if len(one.tables) <= FIRST:
                few[place, one.half].append(figures[0])
        if show and one.half == HALVES[0] and not (right and one.tables <= inside):
            show -= 1
            ranked = [f"{found.database}.{found.table}" for found in linker.tables(one.text, 8)]
            print(f"{one.text[:400]}\n  wanted {sorted(one.tables)}\n  ranked {ranked}")
    print(
        "| database | half | requests | all of gold's tables among the first five | share of gold's"
        " tables there | among the first five of all databases | right database first |"
        " all, where gold touches five at most |"
        "\n|---|---|---|---|---|---|---|---|"
    )
    for (place, half), figures in sorted(rows.items()):
        shares = [f"{sum(column) / len(figures):.1%}" for column in zip(*figures, strict=True)]
        found = few[place, half]
        of_few = f"{sum(found) / len(found):.1%} of {len(found)}" if found else "none"
        print(f"| {place} | {half} | {len(figures)} | {' | '.join(shares)} | {of_few} |")


if __name__ == "__main__":
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("worlds", nargs="+", metavar="WORLD=TASKS")
    reader.add_argument("--others", nargs="*", default=[], help="worlds, or folders of schemas")
    reader.add_argument("--show", type=int, default=0, help="failures to show, of the first half")
    given = reader.parse_args()
    pairs = (word.partition("=") for word in given.worlds)
    main({name: int(count) for name, _, count in pairs}, given.others, given.show)
