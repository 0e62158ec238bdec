"""The critic over the tables and views of a live connection."""

from __future__ import annotations

from sqlalchemy import Connection

from envs.tools.sql.catalog import Catalog
from envs.tools.sql.critic.critic import Relation, criticise
from envs.tools.sql.findings import Finding


def criticise_on(sql: str, db: Connection, reading: bool) -> list[Finding]:
    """Findings about a statement, with the names that the connection's database has.

    ``reading`` says that the tool only reads.
    """
    catalog = Catalog(db)
    relations = {
        name: Relation(name, tuple(column.name for column in table.columns), table.primary_key)
        for name, table in catalog.tables.items()
    }
    for name in catalog.views:
        named = name.lower() in sql.lower()
        relations[name] = Relation(name, catalog.columns(name) if named else None)
    return criticise(sql, relations, db.dialect.name, reading=reading)
