"""Functions of PostgreSQL that compute for minutes in one step, bounded by what they are given.

``strpos``, ``translate``, ``&&`` of arrays and their like take as many steps as the product of
their arguments' sizes, and heed neither a timeout nor the end of their session meanwhile; every
``DROP DATABASE`` on the server waits for them. Inside a sandbox's database each of them has another
name, which nobody may call, and a function of the old name that refuses too much. The template is
changed before the world's scripts come, so that views, defaults and operators call the bounded
ones.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg

from envs.sandboxes.postgres.clock import pin_functions
from envs.sandboxes.postgres.schema import ask

STEPS = 100_000_000
"""Steps of one function call: a tenth of a second to a second."""

_BYTES = "pg_catalog.octet_length({}::pg_catalog.{})::pg_catalog.int8"
_ITEMS = "pg_catalog.cardinality({})::pg_catalog.int8"


@dataclass(frozen=True)
class _Function:
    """A function by name and argument types, and its steps, from the sizes of its arguments."""

    name: str
    types: tuple[str, ...]
    steps: str
    strict: bool = True


def _product(name: str, *types: str, strict: bool = True) -> _Function:
    first, second = (
        _BYTES.format(f"${index}", kind) for index, kind in ((1, types[0]), (2, types[1]))
    )
    return _Function(name, types, f"{first} * {second}", strict)


def _arrays(name: str) -> _Function:
    """Comparing two elements takes about four of the steps."""
    sizes = " * ".join(_ITEMS.format(f"${index}") for index in (1, 2))
    return _Function(name, ("anyarray", "anyarray"), f"4 * {sizes}")


def _square(name: str) -> _Function:
    """Marks that follow each other are sorted in quadratic time."""
    size = _BYTES.format("$1", "text")
    return _Function(name, ("text", "text"), f"{size} * {size}")


_FUNCTIONS = (
    _product("strpos", "text", "text"),
    _product("position", "text", "text"),
    _product("position", "bytea", "bytea"),
    _product("replace", "text", "text", "text"),
    _product("translate", "text", "text", "text"),
    *(_product(f"{side}trim", "text", "text") for side in "blr"),
    *(_product(f"{side}trim", "bytea", "bytea") for side in "blr"),
    _product("split_part", "text", "text", "int4"),
    _product("string_to_array", "text", "text", strict=False),
    _product("string_to_array", "text", "text", "text", strict=False),
    _product("string_to_table", "text", "text", strict=False),
    _product("string_to_table", "text", "text", "text", strict=False),
    *(_arrays(name) for name in ("arrayoverlap", "arraycontains", "arraycontained")),
    *(_square(name) for name in ("normalize", "is_normalized")),
)

_HIDDEN = "envs_unbounded_"


def bound(db: psycopg.Connection[Any], owner: str) -> None:
    """Bound the functions in the database of a superuser's connection; ``owner`` calls the
    originals for whoever calls the bounded ones.
    """
    with db.transaction():
        ask(db, "SET LOCAL allow_system_table_mods = on")
        for function in _FUNCTIONS:
            _bound(db, function, owner)
        pin_functions(db)
        ask(
            db,
            "UPDATE pg_catalog.pg_operator o SET oprcode = new.oid FROM pg_catalog.pg_proc old"
            " JOIN pg_catalog.pg_proc new ON new.pronamespace = old.pronamespace AND"
            f" new.proname = substr(old.proname, {len(_HIDDEN) + 1}) AND"
            " new.proargtypes = old.proargtypes"
            f" WHERE o.oprcode = old.oid AND starts_with(old.proname, '{_HIDDEN}')",
        )


def _bound(db: psycopg.Connection[Any], function: _Function, owner: str) -> None:
    signature = f"{function.name}({', '.join(function.types)})"
    row = ask(
        db,
        "SELECT pg_get_function_arguments(oid), pg_get_function_result(oid), proretset,"
        " provolatile::text FROM pg_proc WHERE oid = to_regprocedure(%s)",
        f"pg_catalog.{signature}",
    ).fetchone()
    if row is None:  # of a later version of PostgreSQL
        return
    arguments, result, many, volatile = row
    hidden = f"{_HIDDEN}{function.name}"
    values = ", ".join(f"${index}" for index in range(1, len(function.types) + 1))
    call = f"pg_catalog.{hidden}({values})"
    give = f"RETURN QUERY SELECT {call}" if many else f"RETURN {call}"
    kinds = {"i": "IMMUTABLE", "s": "STABLE", "v": "VOLATILE"}
    ask(db, f"ALTER FUNCTION pg_catalog.{signature} RENAME TO {hidden}")
    ask(
        db,
        f"CREATE FUNCTION pg_catalog.{function.name}({arguments}) RETURNS {result} LANGUAGE plpgsql"
        f" {kinds[volatile]} {'STRICT' if function.strict else ''} PARALLEL SAFE SECURITY DEFINER"
        " COST 2 AS $function$ BEGIN"
        f" IF {function.steps} > {STEPS} THEN"
        " RAISE program_limit_exceeded USING MESSAGE ="
        f" 'the arguments of {function.name} are too long'; END IF; {give}; END $function$",
    )
    ask(db, f"ALTER FUNCTION pg_catalog.{signature} OWNER TO {owner}")
    hidden_signature = f"pg_catalog.{hidden}({', '.join(function.types)})"
    ask(db, f"REVOKE ALL ON FUNCTION {hidden_signature} FROM PUBLIC")
    ask(db, f"GRANT EXECUTE ON FUNCTION {hidden_signature} TO {owner}")
