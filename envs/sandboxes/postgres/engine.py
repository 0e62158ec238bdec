"""PostgreSQL as an engine of sandboxes."""

from __future__ import annotations

from envs.sandboxes.server.engine import ServerEngine


class PostgresEngine(ServerEngine):
    """Sandboxes on a PostgreSQL server."""

    dialect = "postgresql"
    driver = "postgresql"
    template = "envs.sandboxes.postgres.sandbox:PostgresTemplate"
    default_url = "postgresql://postgres@127.0.0.1:5432/postgres"


ENGINE = PostgresEngine()
