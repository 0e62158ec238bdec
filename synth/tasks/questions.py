"""The questions of a world's questions.json as families: one of each database, a task a question."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from envs.asking import Answer
from envs.folder import World
from envs.types import Limits
from synth.errors import TaskError
from synth.tasks.bird import QUESTIONS_FILE
from synth.tasks.body import Body, WorldRules
from synth.tasks.python_families import PythonFamily, Yielded
from synth.tasks.queries import Queries
from synth.tasks.scope import Scope
from synth.tasks.sql_question import question_steps
from synth.tasks.user import UserText

Json = Any

LIMITS = Limits(True, 5_000, 10_000, 64_000_000)
"""What a published query may take: what a run's own limits allow unless they are changed."""


def read_questions(
    world: World, universe: int, tools: Mapping[str, Mapping[str, Json]], queries: Queries, rules: WorldRules
) -> tuple[list[PythonFamily], list[str]]:
    """The family of the universe's database (none where nothing can be asked of it), and the questions that are left out,
    each with the reason: a published query that fails, finds nothing, or may answer differently each time.

    Raises :class:`~synth.errors.TaskError` for a file that cannot be read.
    """
    file = world.path / QUESTIONS_FILE
    try:
        document: Json = json.loads(file.read_text("utf-8"))
        asked = cast("list[dict[str, Json]]", document["questions"])
        suite = int(document["suite"])
    except (ValueError, KeyError, TypeError) as error:
        raise TaskError(f"no file of questions as `tasks=bird` writes it: {error}", str(file)) from None
    name = world.databases[universe].name
    scope = Scope(str(file), name, tools)
    tasks: list[Yielded] = []
    left_out: list[str] = []
    for each in asked:
        if each["db_id"] != name:
            continue
        read = importlib.import_module("envs.sql_critic").read_query(each["sql"])  # by path: sqlglot costs
        if reason := _unfit(each["sql"], read, queries):
            left_out.append(f"{name} {each['question_id']}: {reason}")
            continue
        known = {table.lower() for table in queries.tables}
        tables = [table for table in (read.tables if read is not None else ()) if table.lower() in known]
        tasks.append(_task(each, tables, suite, scope, rules))
    about = f"Questions about the database {name}, from {document['source']}."
    families = [PythonFamily(name, str(file), 1, about, tasks)] if tasks else []
    return families, left_out


def _unfit(sql: str, read: Any, queries: Queries) -> str:
    """Why a published query is no measure; empty where it is one."""
    if read is not None and read.unsettled is not None:
        return str(read.unsettled)
    answer = queries.answer(sql, LIMITS)
    if not isinstance(answer, Answer):
        return f"its query fails: {(answer.message or '').rstrip('.')} ({answer.category})"
    if not answer.rows or all(cell is None for row in answer.rows for cell in row):
        return "its query finds nothing"
    return ""


def _task(each: Mapping[str, Json], tables: Sequence[str], suite: int, scope: Scope, rules: WorldRules) -> Yielded:
    """BIRD compares sets of rows, columns in the order of the query, whatever the order of the rows."""
    hint = f"\n\nHint: {each['evidence']}" if each["evidence"] else ""
    gate = {
        "query": each["sql"],
        "ordered": False,
        "rows": "set",
        "columns": "given",
        "databases": suite,
        "tolerance": 1e-6,
    }
    body = Body(
        user=UserText([f"{each['question']}{hint}"]),
        answer=None,
        compare_answer={},
        oracle={},
        gold=question_steps(each["sql"], tables, scope, 1),
        gates=["state", {"sql": gate}],
        compare=rules.compare,
        accept=[],
        transient=rules.transient,
        uses=frozenset(),
        difficulty=each["difficulty"],
    )
    return Yielded({"question_id": each["question_id"]}, each["question_id"], None, body)
