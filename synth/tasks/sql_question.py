"""Questions that a query answers: a family says `sql`, and its gold and its gate follow from it."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from synth.tasks.scope import Scope, nearest
from synth.tasks.steps import compile_steps
from synth.tasks.words import DIFFICULTIES, SQL_COLUMNS, SQL_KEYS, SQL_ROWS, SUBMIT_SQL
from synth.tasks.yaml_source import Map, Seq
from synth.types import Task

Json = Any

DATABASES = 2
"""Further databases on which an answer is judged unless the gate says otherwise."""

SAID = (
    "I have handed in the query. Rows: {rows}; the first one: {first}.",
    "Done, the query is submitted. It gives {rows} row(s), beginning with {first}.",
)


def read_question(raw: Map, scope: Scope) -> tuple[Json, dict[str, Json]] | None:
    """The compiled query of a family, and what its text says of its answer: ``ordered``, and the ``tables``.

    None where the family is no such question. Raises :class:`~synth.errors.TaskError` for a query that cannot be read,
    or whose answer would not be the same each time.
    """
    if raw.get("sql") is None:
        return None
    line = raw.lines["sql"]
    if SUBMIT_SQL not in scope.tools:
        raise scope.fail(f"`sql` needs the tool {SUBMIT_SQL}: tools.yaml switches it on under `builtin`", line)
    for key in ("gold", "answer", "oracle", "accept", "twins"):
        if raw.get(key) is not None:
            raise scope.fail(f"`sql` makes gold and its judgement: `{key}` has no place beside it", raw.lines[key])
    sql = scope.text(raw, "sql", "a family").strip().rstrip(";").strip()
    compiled = scope.sql(sql, "sql", line, ())
    reading = importlib.import_module("envs.sql_critic").read_query(
        sql
    )  # by path: sqlglot costs, and few families need it
    if reading is None:
        raise scope.fail("`sql` is one query, and this cannot be read as one", line)
    if reading.unsettled is not None:
        raise scope.fail(f"`sql`: the answer would not be the same each time: {reading.unsettled}", line)
    return compiled, {"ordered": reading.ordered, "tables": list(reading.tables)}


def question_steps(sql: Json, tables: Sequence[str], scope: Scope, line: int) -> list[Json]:
    """The expert's way to the answer: what tables there are, what is in those that it needs, a trial, the submission."""
    return [
        *(step for step in _looking(tables, scope, line)),
        *([_call("run_select_query", {"sql": sql})] if "run_select_query" in scope.tools else []),
        _call(SUBMIT_SQL, {"sql": sql}, {"rows": "$.row_count", "first": "$.rows[0:1]"}),
        {"do": "say", "texts": [scope.value(each, "say", line, {"rows", "first"}) for each in SAID]},
    ]


def _looking(tables: Sequence[str], scope: Scope, line: int) -> list[Json]:
    steps: list[Json] = []
    if "list_tables" in scope.tools:
        steps.append(Map({"list_tables": None}))
    if "describe_table" in scope.tools:
        steps += [Map({"describe_table": Map({"table": table})}) for table in tables]
    for each in steps:
        each.lines = dict.fromkeys(each, line)
        for inner in each.values():
            if isinstance(inner, Map):
                inner.lines = dict.fromkeys(inner, line)
    listed = Seq(steps)
    listed.line, listed.lines = line, [line] * len(steps)
    return compile_steps(listed, scope, line, set()) if steps else []


def _call(tool: str, arguments: Mapping[str, Json], save: Mapping[str, str] | None = None) -> Json:
    return {"do": "call", "tool": tool, "arguments": dict(arguments), "save": dict(save or {}), "fails": None}


def read_difficulty(raw: Map, scope: Scope) -> str | None:
    """The `difficulty` of a family's tasks."""
    word = raw.get("difficulty")
    if word is not None and word not in DIFFICULTIES:
        message = f"`difficulty` is {', '.join(DIFFICULTIES)}, not {word!r}; {nearest(str(word), DIFFICULTIES)}"
        raise scope.fail(message, raw.lines["difficulty"])
    return word


def read_hint(raw: Map, scope: Scope) -> Json:
    """What the request says beside the question, as BIRD's `evidence`: a text with slots, compiled."""
    if raw.get("hint") is None:
        return None
    return scope.value(scope.text(raw, "hint", "a family"), "hint", raw.lines["hint"])


def read_sql_gate(value: Json, scope: Scope, sql: Json, ordered: bool, line: int) -> dict[str, Json]:
    """The options of the gate `sql`, complete: the right query, and how answers are compared."""
    given = Map() if value is None else scope.mapping(value, "the gate `sql`", line, SQL_KEYS)
    rows, columns = given.get("rows", "bag"), given.get("columns", "any")
    if rows not in SQL_ROWS:
        raise scope.fail(f"sql rows: {nearest(str(rows), SQL_ROWS)}", line)
    if columns not in SQL_COLUMNS:
        raise scope.fail(f"sql columns: {nearest(str(columns), SQL_COLUMNS)}", line)
    databases, tolerance = given.get("databases", DATABASES), given.get("tolerance", 1e-6)
    if isinstance(databases, bool) or not isinstance(databases, int) or not 0 <= databases <= 16:
        raise scope.fail(f"sql databases: a whole number from 0 to 16, not {databases!r}", line)
    number = isinstance(tolerance, (int, float)) and not isinstance(tolerance, bool)
    if not number or not 0 <= tolerance < 1 or math.isnan(tolerance):
        raise scope.fail(
            f"sql tolerance: a number from 0 to 1, the relative error of a figure, not {tolerance!r}", line
        )
    return {
        "query": sql,
        "ordered": ordered and rows == "bag",
        "rows": rows,
        "columns": columns,
        "databases": databases,
        "tolerance": tolerance,
    }


def sql_gate(task: Task) -> Mapping[str, Json] | None:
    """The options of the task's gate `sql`; None where it has none."""
    gates = [cast("dict[str, Json]", gate) for gate in task.gates if isinstance(gate, dict)]
    return next((gate["sql"] for gate in gates if "sql" in gate), None)
