"""SQLite as an engine of sandboxes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from envs.plugins import resolve
from envs.sandboxes.base import DatabaseTarget, Engine, Template


class SqliteEngine(Engine):
    """Sandboxes in memory, in this process; the target is not used."""

    dialect = "sqlite"

    def build(self, load: Callable[[Any], object], target: DatabaseTarget) -> Template:
        return resolve("envs.sandboxes.sqlite.sandbox:SqliteTemplate").build(load)


ENGINE = SqliteEngine()
