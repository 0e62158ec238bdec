"""All functions of PostgreSQL with large arguments: which of them heed no timeout.

A backend in such a function computes for minutes, and every DROP DATABASE on the server waits for
it. What this finds belongs in ``envs.sandboxes.postgres.bounded_functions``.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator

import pytest
import sqlalchemy
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from envs.errors import SandboxError
from envs.sandboxes.base import Sandbox
from envs.sandboxes.postgres.sandbox import PostgresTemplate
from envs.types import Limits, Pins
from tests.faults.own_server import OwnPostgres, own_server
from tests.faults.promises import promise

LIMIT_MS = 1_000
DEAF_S = 20
"""A step of some seconds is bounded, and takes longer on a busy machine; a deaf one takes minutes.
"""


def rows(expression: str, count: int) -> str:
    return f"(SELECT {expression} FROM generate_series(1, {count}) i)"


TEXTS = (
    "repeat('a', 300000)", "'b' || repeat('a', 100000)", "'%' || repeat('a', 150000) || 'b'",
    "repeat('YYYY,9', 30000)", "repeat('a b', 60000)",
)  # fmt: skip
ARRAYS = (rows("array_agg(i)", 60_000), rows("array_agg(-i)", 60_000))
PATHS = (
    rows("('[' || string_agg(format('(%s,%s)', i, i % 2 * 10), ',') || ']')::path", 50_000),
    rows("('(' || string_agg(format('(%s,%s)', i, i % 2 * 10 + 0.5), ',') || ')')::path", 50_000),
    rows("('(' || string_agg(format('(%s,0)', i % 2), ',') || ')')::path", 60_000),
)
RANGES = "range_agg(int4range(i * 2 + {0}, i * 2 + {0} + 1))"
VALUES: dict[str, tuple[str, ...]] = {
    "text": TEXTS,
    "varchar": tuple(f"({value})::varchar" for value in TEXTS),
    "bpchar": tuple(f"({value})::bpchar" for value in TEXTS),
    "bytea": tuple(f"convert_to({value}, 'UTF8')" for value in TEXTS),
    "bit": ("repeat('1', 4000000)::varbit", "(repeat('1', 300000) || '0')::varbit"),
    "varbit": ("repeat('1', 4000000)::varbit", "(repeat('1', 300000) || '0')::varbit"),
    "anyarray": ARRAYS,
    "anycompatiblearray": ARRAYS,
    "_int4": ARRAYS,
    "_text": tuple(f"{value}::text[]" for value in ARRAYS),
    "_numeric": tuple(f"{value}::numeric[]" for value in ARRAYS),
    "_float8": tuple(f"{value}::float8[]" for value in ARRAYS),
    "json": ("('[' || repeat('1,', 200000) || '1]')::json", rows("json_object_agg(i, i)", 60_000)),
    "jsonb": (
        rows("jsonb_agg(i::text)", 60_000), rows("jsonb_agg((-i)::text)", 60_000),
        rows("jsonb_object_agg(i, i)", 60_000),
    ),
    "jsonpath": (
        "'$.**'::jsonpath", "'$ ? ($[*] == -$[*])'::jsonpath", "'$ ? ($[*] == $x[*])'::jsonpath"
    ),
    "xml": (
        "('<a>' || repeat('<b/>', 60000) || '</a>')::xml",
        "('<a>' || repeat('<b/>', 3000) || '</a>')::xml",
    ),
    "tsvector": (
        rows("string_agg('w' || i || ':' || i % 16000 + 1, ' ')", 60_000) + "::tsvector",
        rows("string_agg('v' || i, ' ')", 60_000) + "::tsvector",
    ),
    "tsquery": (
        rows("string_agg('w' || i, ' & ')", 20_000) + "::tsquery",
        rows("string_agg('w' || i, ' <-> ')", 3_000) + "::tsquery",
        rows("string_agg('w' || i, ' | ')", 3_000) + "::tsquery",
    ),
    "path": PATHS,
    "polygon": tuple(f"pclose({value})::polygon" for value in PATHS),
    "numeric": ("repeat('9', 130000)::numeric", "repeat('7', 60000)::numeric", "('0.' || repeat('3', 16000))::numeric"),
    "anymultirange": (rows(RANGES.format(0), 60_000), rows(RANGES.format(1), 60_000)),
    "int4multirange": (rows(RANGES.format(0), 60_000), rows(RANGES.format(1), 60_000)),
}  # fmt: skip
"""Large values of each type."""

SMALL = {
    "int4": "100000", "int8": "1000000000", "int2": "1", "float8": "1e300", "float4": "0.5",
    "bool": "true", "point": "'(1,1)'::point", "lseg": "'[(0,0),(9,9)]'::lseg", "box": "'(0,0),(9,9)'::box",
    "line": "'{1,2,3}'::line", "circle": "'<(0,0),5>'::circle", "anyrange": "int4range(1, 1000000)",
    "anyelement": "1", "anycompatible": "1", "name": "'UTF8'::name", "regconfig": "'english'::regconfig",
    "date": "'2020-01-01'::date", "timestamp": "'2020-01-01'::timestamp", "interval": "'1 day'::interval",
    "timestamptz": "'2020-01-01'::timestamptz", "char": "'a'::\"char\"", "inet": "'10.0.0.1'::inet",
    "_float4": "'{1,1,1,1}'::float4[]", "_char": "'{a,b}'::\"char\"[]",
}  # fmt: skip

INPUTS = (
    "repeat('(', 200000)", "repeat('[', 6000)", "repeat('{', 200000)", "'{' || repeat('a,', 200000) || 'a}'",
    "repeat('<a>', 60000)", "repeat('a & ', 20000) || 'a'", "repeat('!', 60000) || 'a'",
    "repeat('(1,1),', 60000) || '(1,1)'", "repeat('9', 200000)", "repeat(' ', 300000) || 'x'",
    "repeat('\"', 200000)", "repeat('1 day ', 30000)", "repeat(':', 200000)", "repeat('w:1,2,3 ', 60000)",
)  # fmt: skip
"""Texts that are read as each type."""

XPATHS = ("//b[count(preceding::b) > 1]", "//b[count(//b[count(//b) > 1]) > 1]")

FUNCTIONS = """
SELECT proname, ARRAY(SELECT typname FROM unnest(proargtypes) WITH ORDINALITY a(o, n)
  JOIN pg_type t ON t.oid = a.o ORDER BY n) FROM pg_proc
WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND pronargs BETWEEN 1 AND 4
ORDER BY proname, oid"""


def calls(db: Connection) -> Iterator[str]:
    """Calls of all functions: their arguments are each large value in turn."""
    for name, types in db.execute(text(FUNCTIONS)).all():
        if not set(types) & VALUES.keys() or not set(types) <= VALUES.keys() | SMALL.keys():
            continue
        choices = [VALUES.get(kind) or (SMALL[kind],) for kind in types]
        seen: set[str] = set()
        for turn in range(max(map(len, choices))):
            for step in (0, 1):
                chosen = [
                    values[(turn + step * at) % len(values)] for at, values in enumerate(choices)
                ]
                seen.add(f'pg_catalog."{name}"({", ".join(chosen)})')
        yield from sorted(seen)
    kinds = "SELECT typname FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace"
    for kind in db.execute(text(f"{kinds} AND typtype IN ('b', 'm', 'r')")).scalars():
        yield from (f'({value})::"{kind}"' for value in INPUTS)
    for path in XPATHS:
        for name in ("xpath", "xpath_exists", "xmlexists"):
            yield f"pg_catalog.{name}('{path}', {VALUES['xml'][1]})"


def deaf(db: Connection) -> list[int]:
    """The backends that go on with a statement long after its call was ended."""
    at_work = "SELECT pid FROM pg_stat_activity WHERE datname LIKE 'envs%' AND state = 'active'"
    deadline = time.monotonic() + DEAF_S
    while pids := list(db.execute(text(at_work)).scalars()):
        if time.monotonic() > deadline:
            return pids
        time.sleep(0.1)
    return []


@pytest.mark.long
@pytest.mark.timeout(3600)
@promise("No function of PostgreSQL goes on computing after its call was ended")
def test_every_function_heeds_the_timeout(record_property: Callable[[str, object], None]) -> None:
    found: list[str] = []
    tried = 0
    with own_server(OwnPostgres) as server:
        engine = sqlalchemy.create_engine(server.url, isolation_level="AUTOCOMMIT")
        with (
            engine.connect() as watcher,
            PostgresTemplate.build(
                lambda db: db.execute("CREATE TABLE t (a int)"), server.url
            ) as template,
        ):
            sandbox: Sandbox | None = None
            for call in list(calls(watcher)):
                sandbox = sandbox or template.open(Pins())
                tried += 1
                if not ended(sandbox, call):
                    continue
                if deaf(watcher):
                    found.append(call)
                    break
                sandbox.close()
                sandbox = None
            if sandbox is not None:
                sandbox.close()
            for pid in deaf(watcher):  # or the server's end would wait for it
                os.kill(pid, signal.SIGKILL)
        engine.dispose()
    assert not found
    record_property("figure", f"{tried:,} calls")


def ended(sandbox: Sandbox, call: str) -> bool:
    """Make a call; True if its session was lost, or its time was over."""
    limits = Limits(read_only=True, statement_timeout_ms=LIMIT_MS)
    try:
        with sandbox.transaction(limits) as transaction:
            transaction.connection.execute(
                text(f"SELECT length(({call})::text)"), execution_options={"no_parameters": True}
            ).all()
    except (DBAPIError, SandboxError) as error:
        return "timeout" in str(error) or "lost" in str(error)
    return False
