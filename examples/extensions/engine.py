"""SQLite that enforces more: `synth run database.engine=extensions.engine:STRICT`."""

from envs.sandboxes.base import Engine
from envs.sandboxes.sqlite.sandbox import SqliteTemplate


class StrictSqlite(Engine):
    dialect = "sqlite"

    def build(self, load, target):
        def load_and_verify(connection):
            load(connection)
            broken = connection.cursor().execute("PRAGMA foreign_key_check").fetchall()
            assert not broken, f"rows without their parents: {broken}"

        return SqliteTemplate.build(load_and_verify)


STRICT = StrictSqlite()
