"""Source: rows of a seed.sql whose columns have DEFAULT now() or a random key.

Each template that is built from them has the same rows, so that a replay shows no difference.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from envs.errors import WorldError
from envs.sandboxes.base import DatabaseTarget
from envs.world.loader import load_world
from tests.servers import VARIABLES, server

SCHEMAS = {
    "sqlite": (
        """CREATE TABLE visit (id INTEGER PRIMARY KEY, name TEXT, at TEXT DEFAULT CURRENT_TIMESTAMP,
        draw INTEGER DEFAULT (random()), token BLOB DEFAULT (randomblob(8)));""",
        """INSERT INTO visit (id, name) VALUES (1, 'CURRENT_DATE'), (2, 'b');
        INSERT INTO visit (id, name, at) VALUES (3, 'c', CURRENT_DATE);""",
    ),
    "postgresql": (
        """CREATE TABLE visit (id int PRIMARY KEY, name text, at timestamptz DEFAULT now(),
        seen timestamp(3) DEFAULT LOCALTIMESTAMP(3), day date DEFAULT CURRENT_DATE,
        written timestamptz DEFAULT CURRENT_TIMESTAMP,
        draw float DEFAULT random(), token uuid DEFAULT gen_random_uuid());""",
        """INSERT INTO visit (id, name) VALUES (1, 'CURRENT_DATE'), (2, $$CURRENT_DATE$$);
        INSERT INTO visit (id, name, day) VALUES (3, 'c', CURRENT_DATE - 1);
        UPDATE visit SET at = CURRENT_TIMESTAMP WHERE id = 2;
        CREATE TABLE days AS SELECT id, CURRENT_DATE FROM visit WHERE false;""",
    ),
    "mariadb": (
        """CREATE TABLE visit (id int PRIMARY KEY, name varchar(20),
        at timestamp(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
        seen datetime DEFAULT NOW(), draw double DEFAULT (RAND()));""",
        """INSERT INTO visit (id, name) VALUES (1, 'CURRENT_DATE'), (2, 'b');
        UPDATE visit SET name = 'c' WHERE id = 2;""",
    ),
}
"""By engine, a schema and rows."""

TOOLS = """from sqlalchemy import Connection, text

from envs import tool


@tool(read_only=True)
def count_visits(db: Connection) -> int:
    \"\"\"Count the visits.\"\"\"
    return db.execute(text("SELECT count(*) FROM visit")).scalar_one()
"""


def world(folder: Path, schema: str, seed: str) -> Path:
    (folder / "schema.sql").write_text(schema)
    (folder / "seed.sql").write_text(seed)
    (folder / "executors.py").write_text(TOOLS)
    (folder / "policy.md").write_text("Be kind.\n")
    return folder


@pytest.mark.parametrize("engine", sorted(SCHEMAS))
def test_rows_that_are_left_to_clock_and_chance_are_the_same_in_each_template(
    engine: str, tmp_path: Path
):
    loaded = load_world(world(tmp_path, *SCHEMAS[engine]))
    target = DatabaseTarget(server(engine)) if engine in VARIABLES else None
    with (
        closing(loaded.template(engine, 0, target)) as one,
        closing(loaded.template(engine, 0, target)) as other,
    ):
        assert one.digest == other.digest


UNPINNED = {
    "postgresql": (
        """CREATE FUNCTION key_of() RETURNS text LANGUAGE sql VOLATILE AS
        $$ SELECT 'k' || txid_current() $$;
        CREATE TABLE visit (id int PRIMARY KEY, name text DEFAULT lower('A'),
        token text DEFAULT key_of());""",
        "INSERT INTO visit (id) VALUES (1), (2);",
        "INSERT INTO visit (id, token) VALUES (1, 'x'), (2, 'y');",
    ),
    "mariadb": (
        """CREATE TABLE visit (id int PRIMARY KEY, name varchar(20) DEFAULT (lower('A')),
        token varchar(36) DEFAULT (UUID()));""",
        "INSERT INTO visit (id) VALUES (1), (2);",
        "INSERT INTO visit (id, token) VALUES (1, 'x'), (2, 'y');",
    ),
}
"""By engine, a schema with a default that nothing pins, rows that take it, and rows that do not."""


@pytest.mark.parametrize("engine", sorted(UNPINNED))
def test_a_column_that_gets_other_values_at_each_load_is_named(engine: str, tmp_path: Path):
    schema, taken, given = UNPINNED[engine]
    target = DatabaseTarget(server(engine))
    with pytest.raises(WorldError, match=r"^visit\.token: .*write the values into the rows"):
        load_world(world(tmp_path, schema, taken)).template(engine, 0, target)
    load_world(world(tmp_path, schema, given)).template(engine, 0, target).close()
