"""The diff of a SQLite sandbox equals a comparison of all rows, for schemas and statements that
nobody chose.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import DBAPIError

from envs.sandboxes.base import Sandbox
from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.types import Limits, Pins

COLUMNS = ("a", "b", "c")
Table = tuple[tuple[str, ...], bool, bool]
"""The columns of the primary key, whether it is WITHOUT ROWID, and whether deletes cascade to it
from table t0.
"""

tables = st.tuples(st.sampled_from([("a",), ("b", "a"), ("c",)]), st.booleans(), st.booleans())
values = st.sampled_from(["1", "2", "3", "2.0", "'x'", "'X'", "x'00ff'", "1.5", "''"])
statements = st.tuples(
    st.sampled_from(
        [
            "INSERT",
            "INSERT OR REPLACE",
            "INSERT OR IGNORE",
            "UPDATE",
            "UPDATE OR REPLACE",
            "DELETE",
            "ALL",
        ]
    ),
    st.integers(0, 1),
    st.lists(values, min_size=3, max_size=3),
    st.sampled_from(COLUMNS),
    values,
)
calls = st.lists(
    st.tuples(st.lists(statements, min_size=1, max_size=4), st.booleans()), min_size=1, max_size=5
)


def schema(made: list[Table]) -> str:
    out: list[str] = []
    for number, (key, without_rowid, cascades) in enumerate(made):
        parent = (
            " REFERENCES t0 ON DELETE CASCADE"
            if cascades and number and len(made[0][0]) == 1
            else ""
        )
        columns = ", ".join(
            f"{name} {'NOT NULL' if name in key else parent if name == 'b' else ''}"
            for name in COLUMNS
        )
        end = " WITHOUT ROWID" if without_rowid else ""
        out.append(f"CREATE TABLE t{number} ({columns}, PRIMARY KEY ({', '.join(key)})){end};")
    return "\n".join(out) + "\nINSERT INTO t0 VALUES (1, 1, 1), (2, 2, 2), ('x', 'y', 'z');"


def sql(statement: tuple[str, int, list[str], str, str]) -> str:
    verb, table, row, column, value = statement
    if verb.startswith("INSERT"):
        return f"{verb} INTO t{table} VALUES ({', '.join(row)})"
    if verb.startswith("UPDATE"):
        return f"{verb} t{table} SET {column} = {row[0]} WHERE {column} = {value}"
    return f"DELETE FROM t{table}" + (f" WHERE {column} = {value}" if verb == "DELETE" else "")


def look(
    sandbox: Sandbox, made: list[Table]
) -> dict[tuple[int, tuple[object, ...]], tuple[object, ...]]:
    """All rows: (table, key) -> row."""
    with sandbox.transaction(Limits()) as transaction:
        found = {}
        for number, (key, _, _) in enumerate(made):
            for row in transaction.connection.exec_driver_sql(f"SELECT a, b, c FROM t{number}"):
                found[number, tuple(row[COLUMNS.index(name)] for name in key)] = tuple(row)
        return found


def differences(before: dict, after: dict) -> set[tuple[str, int]]:
    return {
        ("insert" if each not in before else "delete" if each not in after else "update", each[0])
        for each in before.keys() | after.keys()
        if before.get(each) != after.get(each)
    }


def count(before: dict, after: dict) -> int:
    return sum(before.get(each) != after.get(each) for each in before.keys() | after.keys())


def play(
    sandbox: Sandbox, work: list[tuple[list[tuple[str, int, list[str], str, str]], bool]]
) -> None:
    for chosen, undone in work:
        with sandbox.transaction(Limits()) as transaction:
            for each in chosen:
                try:
                    transaction.connection.exec_driver_sql(sql(each))
                except DBAPIError as error:
                    assert "constraint" in str(error.orig)  # noqa: PT017 - others are not refused
            if undone:
                transaction.rollback()


@settings(max_examples=60, deadline=None)
@given(st.lists(tables, min_size=2, max_size=2), calls, calls, calls)
def test_the_diff_is_the_difference(made: list[Table], first: list, second: list, third: list):
    """Also of a fork in the middle of a rollout, which goes its own way."""
    with (
        SqliteTemplate.build(lambda db: db.executescript(schema(made))) as template,
        template.open(Pins()) as sandbox,
    ):
        start = look(sandbox, made)
        play(sandbox, first)
        with sandbox.fork() as fork:
            assert fork.diff() == sandbox.diff()
            assert fork.state_hash() == sandbox.state_hash()
            play(fork, second)
            play(sandbox, third)
            for each in (fork, sandbox):
                end, changes = look(each, made), each.diff().changes
                assert {(change.op, int(change.table[1:])) for change in changes} == differences(
                    start, end
                )
                assert len(changes) == count(start, end)
                for change in changes:
                    key = int(change.table[1:])
                    assert change.op == "delete" or change.after
                    assert set(change.key) == set(made[key][0])
