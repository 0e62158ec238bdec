"""A generated world on PostgreSQL and MariaDB: its scripts, its queries, the same tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs.sandboxes.base import DatabaseTarget, Template
from envs.world.loader import World, load_world
from synth.core.tasks.families import FamilyTasks
from synth.errors import TaskError
from synth.ext.authoring.checks import translated
from synth.ext.authoring.engines import Unportable, server_files, write_server_seed
from synth.ext.authoring.folder import write_files
from synth.ext.authoring.source import from_files
from synth.ext.authoring.tasks_file import write_tasks
from synth.ext.authoring.world import make_world
from tests.servers import server

SCHEMATA = Path(__file__).parents[3] / "schemata"


@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
def test_every_engine_has_the_same_tasks(engine: str, tmp_path: Path):
    made = make_world("traps", from_files([SCHEMATA / "traps.sql"]), print, proves=False)
    write_files(tmp_path, made.files)
    drafts = list(made.drafts)
    world = load_world(tmp_path)
    with world.template("sqlite", 1) as template:
        while problem := unread(world, template):
            drafts = [draft for draft in drafts if draft.id != problem.family]
            write_files(tmp_path, {"tasks.yaml": write_tasks(drafts, "2026-03-02T09:00:00")})
            world = load_world(tmp_path)
        expected = tasks(world, template)
    assert len(expected) > 20
    with world.template(engine, 1, DatabaseTarget(url=server(engine))) as template:
        assert tasks(world, template) == expected


def unread(world: World, template: Template) -> TaskError | None:
    try:
        FamilyTasks(world, template, universe=1)
    except TaskError as error:
        return error
    return None


def tasks(world: World, template: Template) -> list[tuple[str, str]]:
    pool = FamilyTasks(world, template, universe=1)
    found = [
        pool.task(family.id, index, 0)
        for family in pool.families
        for index in range(min(4, pool.capacity(family.id)))
    ]
    return [(task.id, task.prompt) for task in found]


@pytest.mark.parametrize(
    ("check", "server_sql"),
    [
        ("begins <= ends", '"begins" <= "ends"'),
        ("state IN ('a', 'b') OR n IS NULL", "\"state\" IN ('a', 'b') OR \"n\" IS NULL"),
        ("length(code) = 4", None),
        ("code GLOB 'A*'", None),
        ("((", None),
    ],
)
def test_a_check_is_kept_if_every_engine_knows_it(check: str, server_sql: str | None):
    assert translated(check, "postgresql") == server_sql


def test_a_backslash_is_one_on_mariadb():
    assert write_server_seed("mariadb", "INSERT INTO t VALUES ('a');\n") is None
    own = write_server_seed("mariadb", "INSERT INTO t VALUES ('C:\\x');\n")
    assert own is not None
    assert "NO_BACKSLASH_ESCAPES" in own.splitlines()[0]
    assert write_server_seed("postgresql", "INSERT INTO t VALUES ('C:\\x');\n") is None


def test_what_no_server_can_hold_is_said(tmp_path: Path):
    file = tmp_path / "s.sql"
    file.write_text(
        "CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER AS (a % 2));\nINSERT INTO t VALUES (1);"
    )
    source = from_files([file])
    with pytest.raises(Unportable, match="a column that the database computes"):
        server_files(source.engine, source.seed)
