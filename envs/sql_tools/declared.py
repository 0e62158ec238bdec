"""How a world switches the SQL tools on: an entry ``builtin:`` in tools.yaml."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from sqlalchemy import Connection

from envs.errors import WorldError
from envs.sql_errors import nearest
from envs.sql_tools.catalog import Catalog
from envs.sql_tools.running import MAX_ROWS
from envs.sql_tools.tools import NO_SQL, Critic, Running
from envs.tool import Tool
from envs.types import Json, Limits

BUILTIN = ("list_tables", "describe_table", "sample_rows", "run_select_query", "run_mutation_query", "submit_sql")

_KEYS = ("builtin", "critic", "max_rows", "statement_timeout_ms", "max_result_bytes")


def sql_tools(
    names: Sequence[str] = BUILTIN,
    *,
    critic: bool = False,
    max_rows: int = MAX_ROWS,
    statement_timeout_ms: int | None = None,
    max_result_bytes: int | None = None,
) -> list[Tool]:
    """The built-in tools of these names. ``max_rows`` is how many rows a result shows; the other two are limits of a call.

    ``critic`` has each statement looked through before it runs; what it finds stands in ``notes`` beside the result, or
    in the advice of an error. Raises KeyError for an unknown name.
    """
    running = Running(max_rows, _critic() if critic else None)
    limits = Limits(False, statement_timeout_ms, None, max_result_bytes)
    made: list[Tool] = []
    for name in names:
        own = replace(limits, read_only=name != "run_mutation_query")
        made.append(replace(NO_SQL[name], limits=own) if name in NO_SQL else running.tool(name, own))
    return made


def _critic() -> Critic:
    """The critic over a connection's own tables and views; imported only where a world wants it, as sqlglot is heavy."""
    module: Any = importlib.import_module("envs.sql_critic")

    def look(sql: str, db: Connection, reading: bool) -> list[str]:
        catalog = Catalog(db)
        relations = {
            name: module.Relation(name, tuple(each.name for each in table.columns), table.primary_key)
            for name, table in catalog.tables.items()
        }
        for name in catalog.views:
            spoken_of = name.lower() in sql.lower()
            relations[name] = module.Relation(name, catalog.columns(name) if spoken_of else None)
        return module.criticise(sql, relations, db.dialect.name, reading=reading)

    return look


def tools_of_entry(entry: Mapping[Any, Json], fail: Callable[[str, str], WorldError]) -> list[Tool]:
    """The tools of one ``builtin:`` entry; ``fail(message, key)`` makes the error for what is wrong with a key."""
    for key in entry:
        if key not in _KEYS:
            raise fail(f"unknown key {key!r} beside `builtin`; {_near(str(key), _KEYS)}", str(key))
    names: Json = entry["builtin"]
    listed = cast("list[Json]", names if isinstance(names, list) else [names])
    for name in listed or [None]:
        if not isinstance(name, str) or name not in BUILTIN:
            raise fail(f"`builtin` lists tools, and {name!r} is none; {_near(str(name), BUILTIN)}", "builtin")
    if twice := [name for name in listed if listed.count(name) > 1]:
        raise fail(f"`builtin` lists {twice[0]} twice", "builtin")
    critic: Json = entry.get("critic", False)
    if not isinstance(critic, bool):
        raise fail(f"`critic` is true or false, not {critic!r}", "critic")
    caps: dict[str, int] = {}
    for key in ("max_rows", "statement_timeout_ms", "max_result_bytes"):
        cap: Json = entry.get(key)
        if cap is not None and (isinstance(cap, bool) or not isinstance(cap, int) or cap <= 0):
            raise fail(f"`{key}` is a whole number above 0, not {cap!r}", key)
        if cap is not None:
            caps[key] = cap
    return sql_tools(cast("list[str]", listed), critic=critic, **caps)


def _near(word: str, known: Sequence[str]) -> str:
    near = nearest(word, known)
    return f"did you mean {', '.join(near)}?" if near else f"known are {', '.join(known)}"
