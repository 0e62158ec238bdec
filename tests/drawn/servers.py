"""Drawn databases on the tests' servers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import sqlalchemy
from sqlalchemy.exc import DBAPIError

from tests.drawn.databases import DrawnDatabase
from tests.live_schema import own_database

RELATIONS = {
    "postgresql": """
        SELECT CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view'
          WHEN 'S' THEN 'sequence' ELSE 'table' END, COUNT(*)
        FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')
        GROUP BY 1 UNION ALL SELECT 'trigger', COUNT(*) FROM pg_trigger WHERE NOT tgisinternal""",
    "mariadb": """
        SELECT CASE table_type WHEN 'VIEW' THEN 'view' WHEN 'SEQUENCE' THEN 'sequence' ELSE 'table' END, COUNT(*)
        FROM information_schema.tables WHERE table_schema = DATABASE() GROUP BY 1
        UNION ALL SELECT 'trigger', COUNT(*) FROM information_schema.triggers WHERE trigger_schema = DATABASE()""",
}
"""Queries that count what a database has, by the kinds of the account."""


@contextmanager
def on_server(database: DrawnDatabase) -> Iterator[tuple[str, dict[str, int]]]:
    """The database on the engine's server, as far as it takes it: its URL, and what it counts."""
    with own_database(database.engine) as url:
        engine = sqlalchemy.create_engine(url, isolation_level="AUTOCOMMIT")
        plain = {"no_parameters": True}
        try:
            with engine.connect() as db:
                for statement in database.statements:
                    with suppress(DBAPIError):
                        db.exec_driver_sql(statement, execution_options=plain)
                rows = db.exec_driver_sql(RELATIONS[database.engine], execution_options=plain)
                counts = {str(kind): int(count) for kind, count in rows if count}
        finally:
            engine.dispose()
        yield url, counts
