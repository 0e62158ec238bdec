"""Names in SQL, quoted."""

from __future__ import annotations


def quoted(name: str, mark: str = '"') -> str:
    """Quote a name, by default as standard SQL, SQLite and PostgreSQL do."""
    return mark + name.replace(mark, 2 * mark) + mark


def backticked(name: str) -> str:
    """A name as MariaDB and MySQL quote it."""
    return quoted(name, "`")
