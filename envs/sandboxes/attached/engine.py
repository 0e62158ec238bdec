"""Existing databases as an engine: `database=attached database.dsn_env_var=NAME`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from envs.plugins import resolve
from envs.sandboxes.base import DatabaseTarget, Engine, Template


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedOptions:
    """``sql`` is the name of the SQL that a model is told to write (None: the URL's
    dialect). A worker holds at most so many ``connections`` to the database. ``schemas`` are read
    (empty: all that the account may use; on MariaDB the URL's database).

    ``writes`` are the tables that tools may write, in one transaction per rollout that is always
    rolled back (empty: none). The server ends a transaction that is not spoken to for ``idle_s``
    seconds.
    """

    sql: str | None = None
    connections: Annotated[int, Field(strict=True, ge=1, le=64)] = 4
    schemas: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    idle_s: Annotated[int, Field(strict=True, ge=1, le=86_400)] = 900


class _AttachedEngine(Engine):
    """A database that stays where it is. All rollouts share it. What they write to the tables of
    ``writes`` is rolled back, and else they cannot write.

    Any SQLAlchemy URL will do whose dialect is installed.
    """

    needs_server = True
    attaches = True
    Options = AttachedOptions

    def settled(self, url: str) -> str:
        return resolve("envs.sandboxes.attached.access:settled")(url)

    def build(self, load: Callable[[Any], object], target: DatabaseTarget) -> Template:
        """Attach the database of the target's URL. ``load`` is not called."""
        options = TypeAdapter(AttachedOptions).validate_python(dict(target.options))
        attach = resolve("envs.sandboxes.attached.template:attach")
        return attach(target, options)


ENGINE = _AttachedEngine()
