"""Questions that a query answers: a family says `sql`, and its gold and its gate follow from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from envs.plugins import resolve
from synth.core.tasks.yaml.base import Question
from synth.core.tasks.yaml.saves import Save
from synth.core.tasks.yaml.scope import Scope
from synth.core.tasks.yaml.source_map import Map
from synth.core.tasks.yaml.step_templates import SayTemplate, StepTemplate
from synth.core.tasks.yaml.words import SUBMIT_SQL
from synth.core.types.steps import CallStep

DATABASES = 2
"""Further databases on which an answer is judged unless the gate says otherwise."""

RUN_SELECT = "run_select_query"

SAID = (
    "Here it is: {rows}",
    "Here you go: {rows}",
    "Here is what I found: {rows}",
    "Here is what the data show: {rows}",
    "This is what I get: {rows}",
    "This is what the query gives: {rows}",
    "According to the database: {rows}",
    "Sure, here it is: {rows}",
)
"""Words for an answer whose family has none of its own, under the key ``say``."""


@dataclass(frozen=True)
class _SqlQuery(Question):
    """The compiled query of a family, the tables that it reads, whether its answer has an order,
    the names of its columns if it is one row, and the author's words for it.
    """

    key: ClassVar[str] = "sql"

    sql: object
    ordered: bool
    columns: Sequence[str]
    said: Sequence[object]
    tables: Sequence[object]

    def steps(self, scope: Scope, line: int) -> list[StepTemplate]:
        return question_steps(self.sql, self.tables, scope, line, self.columns, self.said)

    def gate_options(self, value: object, scope: Scope, line: int) -> dict[str, object]:
        return _read_sql_gate(value, scope, self.sql, self.ordered)


def read_sql(raw: Map, scope: Scope) -> _SqlQuery:
    """The query that answers a family's question. Raises :class:`~synth.errors.TaskError` for one
    that cannot be read, or whose answer would not be the same each time.
    """
    line = raw.lines["sql"]
    if scope.tools.keys().isdisjoint((SUBMIT_SQL, RUN_SELECT)):
        tools = f"{RUN_SELECT} or {SUBMIT_SQL}"
        raise scope.fail(
            f"`sql` needs the tool {tools}: `builtin` of tools.yaml switches it on", line
        )
    for key in ("gold", "answer", "oracle", "alternatives", "cases"):
        if raw.get(key) is not None:
            why = f"`sql` makes gold and its judgement: `{key}` has no place beside it"
            raise scope.fail(why, raw.lines[key])
    sql = raw["sql"].strip().rstrip(";").strip()
    compiled = scope.sql(sql, "sql", line, ())
    reading = resolve("envs.tools.sql.critic:read_query")(sql)
    if reading is None:
        raise scope.fail("`sql` is one query, and this cannot be read as one", line)
    if reading.random is not None:
        raise scope.fail(f"`sql`: {reading.random} gives another value each time", line)
    columns = [name for name in reading.columns if name.isidentifier()] if reading.one_row else []
    names = columns or ["rows"]
    said = [] if raw.get("say") is None else scope.texts(raw["say"], "say", raw.lines["say"], names)
    return _SqlQuery(
        compiled,
        reading.ordered,
        reading.columns if reading.one_row else (),
        said,
        [scope.value(table, "table", line) for table in reading.tables],
    )


def question_steps(
    sql: object,
    tables: Sequence[object],
    scope: Scope,
    line: int,
    columns: Sequence[str] = (),
    said: Sequence[object] = (),
) -> list[StepTemplate]:
    """The expert's way to the answer: the list of tables, the tables that it needs, the query, its
    submission where there is a tool for that, and the answer in words.

    ``said`` are words of the author's: they name ``columns`` of the only row, or ``rows``.
    """
    rows = {"$compute": "records", "of": ["$.columns", "$.rows"]}
    cells = {name: f"$.rows[0][{at}]" for at, name in enumerate(columns) if name.isidentifier()}
    save: Mapping[str, Save] = cells if said and cells else {"rows": rows}
    words = said or [scope.value(text, "say", line, set(save)) for text in SAID]
    steps: list[StepTemplate] = []
    if "list_tables" in scope.tools:
        steps.append(CallStep("list_tables", {}))
    if "describe_table" in scope.tools:
        steps += [CallStep("describe_table", {"table": table}) for table in tables]
    asking = [tool for tool in (RUN_SELECT, SUBMIT_SQL) if tool in scope.tools]
    for tool in asking:
        steps.append(CallStep(tool, {"sql": sql}, save if tool == asking[-1] else {}))
    return [*steps, SayTemplate(words)]


def answering_tool(scope: Scope) -> str:
    """The tool whose last query is the answer."""
    return SUBMIT_SQL if SUBMIT_SQL in scope.tools else RUN_SELECT


def _read_sql_gate(value: object, scope: Scope, sql: object, ordered: bool) -> dict[str, object]:
    """The options of the gate `sql`, complete: the right query, and how answers are compared."""
    given = {key: item for key, item in cast("Map", value or {}).items() if item is not None}
    options = {"rows": "bag", "columns": "any", "databases": DATABASES, "tolerance": 1e-6, **given}
    return {
        "query": sql,
        "tool": answering_tool(scope),
        "ordered": ordered and options["rows"] == "bag",
        **options,
    }
