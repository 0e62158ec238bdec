"""Functions of PostgreSQL that compute for minutes in one step, bounded by what they are given.

``strpos``, ``LIKE``, ``&&`` of arrays and others take as many steps as the product of their
arguments' sizes, and heed neither a timeout nor the end of their session meanwhile; every ``DROP
DATABASE`` on the server waits for them. Inside a sandbox's database each of them has another name,
which nobody may call, and a function of the old name that refuses too much. The template is changed
before the world's scripts come, so that views, defaults and operators call the bounded ones.

The list was found by calling all functions of PostgreSQL 15 with large arguments
(``tests/faults/test_deaf_functions.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg

from envs.sandboxes.postgres.clock import pin_functions
from envs.sandboxes.postgres.schema import ask

STEPS = 100_000_000
"""Steps of one function call: a tenth of a second to a second."""

_BYTES = "pg_catalog.octet_length({}::pg_catalog.{})::pg_catalog.int8"
_ITEMS = "pg_catalog.cardinality({})::pg_catalog.int8"
_POINTS = "pg_catalog.npoints({})::pg_catalog.int8"
_JSON = (
    "CASE WHEN pg_catalog.pg_column_compression({0}) IS NULL"
    " THEN pg_catalog.pg_column_size({0}) ELSE pg_catalog.octet_length({0}::pg_catalog.text) END"
    "::pg_catalog.int8"
)
"""The bytes of a jsonb; a compressed one has about as many as its text."""


@dataclass(frozen=True)
class _Function:
    """A function by name and argument types, and its steps, from the sizes of its arguments."""

    name: str
    types: tuple[str, ...]
    steps: str
    strict: bool = True

    @property
    def shown(self) -> str:
        """The SQL name, for messages."""
        return "LIKE" if self.name.endswith("like") else self.name


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


def _shapes(name: str, kind: str) -> _Function:
    """Comparing two edges takes about sixteen of the steps."""
    points = " * ".join(_POINTS.format(f"${index}") for index in (1, 2))
    return _Function(name, (kind, kind), f"16 * {points}")


def _like(kind: str, *names: str) -> Iterator[_Function]:
    """LIKE, ILIKE and their negations of a type; ``name`` is too short to take long."""
    for name in names:
        yield _product(name, kind, "bytea" if kind == "bytea" else "text")


def _json_pairs(name: str) -> _Function:
    """Each element of one array is looked for in the other; an element has four bytes or more."""
    sizes = " * ".join(f"({_JSON.format(f'${index}')})" for index in (1, 2))
    return _Function(name, ("jsonb", "jsonb"), f"{sizes} / 4")


def _json_keys(name: str) -> _Function:
    return _Function(name, ("jsonb", "text[]"), f"({_JSON.format('$1')}) * {_ITEMS.format('$2')}")


def _json_paths(name: str) -> Iterator[_Function]:
    """A comparison of two paths compares all of their values with each other."""
    compares = r"$2::pg_catalog.text OPERATOR(pg_catalog.~) '[=<>]\s*[-+(\s]*[$@]'"
    for types in (("jsonb", "jsonpath", "jsonb", "bool"), ("jsonb", "jsonpath")):
        size = f"({_JSON.format('$1')})"
        if len(types) > 2:
            size = f"({size} + {_JSON.format('$3')})"
        yield _Function(name, types, f"CASE WHEN {compares} THEN {size} * {size} / 16 ELSE 0 END")


def _ranks(*types: str) -> _Function:
    """All positions of all words are compared with each other; a word has 255 at most."""
    vector, query = (f"${types.index(kind) + 1}" for kind in ("tsvector", "tsquery"))
    words = f"LEAST(pg_catalog.length({vector}), pg_catalog.numnode({query}))::pg_catalog.int8"
    return _Function("ts_rank", types, f"({words} * 255) * ({words} * 255)")


def _xpath(name: str, *types: str) -> _Function:
    """Predicates, axes and descents may visit all nodes per node; a node has some eight bytes."""
    turns = r"pg_catalog.cardinality(pg_catalog.regexp_split_to_array($1, '\[|//|::'))"
    nodes = f"({_BYTES.format('$2', 'text')} / 8.0)::pg_catalog.float8"
    return _Function(
        name, types, f"8 * pg_catalog.power({nodes}, LEAST(GREATEST({turns} - 1, 1), 20))"
    )


_FUNCTIONS = (
    _product("strpos", "text", "text"),
    _product("position", "text", "text"),
    _product("position", "bytea", "bytea"),
    _Function(
        "position",
        ("bit", "bit"),
        "8 * pg_catalog.octet_length($1)::pg_catalog.int8 * pg_catalog.octet_length($2)",
    ),
    _product("replace", "text", "text", "text"),
    _product("translate", "text", "text", "text"),
    *(_product(f"{side}trim", "text", "text") for side in "blr"),
    *(_product(f"{side}trim", "bytea", "bytea") for side in "blr"),
    _product("split_part", "text", "text", "int4"),
    _product("string_to_array", "text", "text", strict=False),
    _product("string_to_array", "text", "text", "text", strict=False),
    _product("string_to_table", "text", "text", strict=False),
    _product("string_to_table", "text", "text", "text", strict=False),
    _product("to_date", "text", "text"),
    _product("to_timestamp", "text", "text"),
    *_like("text", "textlike", "textnlike", "texticlike", "texticnlike", "like", "notlike"),
    *_like("bpchar", "bpcharlike", "bpcharnlike", "bpchariclike", "bpcharicnlike"),
    *_like("bytea", "bytealike", "byteanlike", "like", "notlike"),
    *(_arrays(name) for name in ("arrayoverlap", "arraycontains", "arraycontained")),
    *(_square(name) for name in ("normalize", "is_normalized")),
    *(_shapes(name, "path") for name in ("path_distance", "path_inter")),
    *(
        _shapes(f"poly_{name}", "polygon")
        for name in ("overlap", "contain", "contained", "distance", "same")
    ),
    *(_json_pairs(name) for name in ("jsonb_contains", "jsonb_contained")),
    *(_json_keys(name) for name in ("jsonb_exists_any", "jsonb_exists_all", "jsonb_delete")),
    *(
        function
        for name in ("exists", "match", "query", "query_array", "query_first")
        for zone in ("", "_tz", "_opr")
        for function in _json_paths(f"jsonb_path_{name}{zone}")
    ),
    _ranks("tsvector", "tsquery"),
    _ranks("tsvector", "tsquery", "int4"),
    _ranks("float4[]", "tsvector", "tsquery"),
    _ranks("float4[]", "tsvector", "tsquery", "int4"),
    _Function(
        "ts_rewrite",
        ("tsquery", "tsquery", "tsquery"),
        "pg_catalog.numnode($1)::pg_catalog.int8 * pg_catalog.numnode($2)",
    ),
    *(
        _xpath(name, "text", "xml", *more)
        for name in ("xpath", "xpath_exists")
        for more in ((), ("text[]",))
    ),
    _xpath("xmlexists", "text", "xml"),
)

_REFUSED = "ts_rewrite(tsquery, text)"
"""Runs SQL, which must not run with the rights of a bounded function."""

_HIDDEN = "envs_unbounded_"


def bound(db: psycopg.Connection[Any], owner: str) -> None:
    """Bound the functions in the database of a superuser's connection; ``owner`` calls the
    originals for whoever calls the bounded ones.
    """
    with db.transaction():
        ask(db, "SET LOCAL allow_system_table_mods = on")
        for function in _FUNCTIONS:
            _bound(db, function, owner)
        ask(db, f"REVOKE EXECUTE ON FUNCTION pg_catalog.{_REFUSED} FROM PUBLIC")
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
        " provolatile::text, provariadic <> 0, prosupport::text FROM pg_proc"
        " WHERE oid = to_regprocedure(%s)",
        f"pg_catalog.{signature}",
    ).fetchone()
    if row is None:  # of a later version of PostgreSQL
        return
    arguments, result, many, volatile, variadic, support = row
    hidden = f"{_HIDDEN}{function.name}"
    values = [f"${index}" for index in range(1, len(function.types) + 1)]
    if variadic:
        values[-1] = f"VARIADIC {values[-1]}"
    call = f"pg_catalog.{hidden}({', '.join(values)})"
    give = f"RETURN QUERY SELECT {call}" if many else f"RETURN {call}"
    kinds = {"i": "IMMUTABLE", "s": "STABLE", "v": "VOLATILE"}
    ask(db, f"ALTER FUNCTION pg_catalog.{signature} RENAME TO {hidden}")
    ask(
        db,
        f"CREATE FUNCTION pg_catalog.{function.name}({arguments}) RETURNS {result} LANGUAGE plpgsql"
        f" {kinds[volatile]} {'STRICT' if function.strict else ''} PARALLEL SAFE SECURITY DEFINER"
        f" COST 2 {'' if support == '-' else f'SUPPORT pg_catalog.{support}'}"
        " AS $function$ BEGIN"
        f" IF ({function.steps}) > {STEPS} THEN"
        " RAISE program_limit_exceeded USING MESSAGE ="
        f" 'the arguments of {function.shown} are too long'; END IF; {give}; END $function$",
    )
    ask(db, f"ALTER FUNCTION pg_catalog.{signature} OWNER TO {owner}")
    hidden_signature = f"pg_catalog.{hidden}({', '.join(function.types)})"
    ask(db, f"REVOKE ALL ON FUNCTION {hidden_signature} FROM PUBLIC")
    ask(db, f"GRANT EXECUTE ON FUNCTION {hidden_signature} TO {owner}")
