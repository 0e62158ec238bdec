"""SQLite that enforces more: `synth run database.engine=extensions.engine:STRICT`."""

from envs.sandboxes.base import Engine
from envs.sandboxes.sqlite.sandbox import SqliteTemplate


class StrictSqlite(Engine):
    dialect = "sqlite"

    def build(self, load, target):
        def load_and_verify(db):
            load(db)
            for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"):
                values = [v for row in db.execute(f'SELECT * FROM "{table}"') for v in row]
                assert not any(isinstance(v, bytes) for v in values), f"{table} holds bytes"

        return SqliteTemplate.build(load_and_verify)


STRICT = StrictSqlite()
