"""The questions of a world's questions.json as families: one of each database, a task a
question.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, cast

from envs.plugins import resolve
from envs.types import Limits
from envs.world.query import QueryResult
from synth.errors import TaskError
from synth.tasks.pools import ListedFamily, ListedTask
from synth.tasks.queries import Queries
from synth.tasks.readers import FileFamilies, ReaderContext
from synth.tasks.yaml.body import Body, WorldRules
from synth.tasks.yaml.scope import Scope
from synth.tasks.yaml.user import UserText
from synth.text2sql.bird import PublishedQuestion
from synth.text2sql.question import question_steps
from synth.types.checks import Gate

LIMITS = Limits(True, 5_000, 10_000, 64_000_000)
"""What a published query may take: what a run's own limits allow unless they are changed."""


def read_file(context: ReaderContext) -> FileFamilies:
    """The family of the universe's database, or those of an attached one by ``db_id``. A family is
    missing where nothing can be asked of it.

    Questions are left out whose published query fails, finds nothing, or may answer differently
    each time. Raises :class:`~synth.errors.TaskError` for a file that cannot be read.
    """
    world, file = context.world, context.file
    try:
        document: Any = json.loads(file.read_text("utf-8"))
        asked = cast("list[PublishedQuestion]", document["questions"])
        suite, source = int(document["suite"]), str(document["source"])
        attached = bool(document.get("attached", False))
    except (ValueError, KeyError, TypeError) as error:
        raise TaskError(
            f"no file of questions as `tasks=bird` writes it: {error}", str(file)
        ) from None
    if attached:
        names = list(dict.fromkeys(item["db_id"] for item in asked))
    else:  # without databases of its own, the questions are not about this world's
        names = [world.databases[context.universe].name] if world.databases else []
    families: list[ListedFamily] = []
    left_out: list[str] = []
    for name in names:
        about = f"Questions about the database {name}, from {source}."
        own = [item for item in asked if item["db_id"] == name]
        tasks = list(_tasks(own, suite, context, name, left_out))
        families += [ListedFamily(name, str(file), 1, about, tasks)] if tasks else []
    return FileFamilies(families, left_out=left_out)


def _tasks(
    asked: Sequence[PublishedQuestion],
    suite: int,
    context: ReaderContext,
    family: str,
    left_out: list[str],
) -> Iterator[ListedTask]:
    """The tasks of a family; a line for each question that cannot be asked goes to ``left_out``."""
    queries = context.queries
    scope = Scope(str(context.file), family, context.tools)
    known = {table.lower() for table in queries.tables}
    for item in asked:
        read = resolve("envs.tools.sql.critic:read_query")(item["sql"], queries.dialect)
        if reason := _unfit(item["sql"], read, queries):
            left_out.append(f"{family} {item['question_id']}: {reason}")
            continue
        named = read.tables if read is not None else ()
        tables = [table for table in named if table.lower() in known]
        quotes = read is not None and (read.ordered or read.one_row)
        yield _task(item, tables, suite, scope, context.rules, quotes=quotes)


def _unfit(sql: str, read: Any, queries: Queries) -> str:
    """The reason for which a published query cannot judge answers; empty if it can."""
    if read is not None and read.unsettled is not None:
        return str(read.unsettled)
    if queries.attached and read is not None and read.clock is not None:
        return f"{read.clock} gives another value each time, as the clock of the database runs on"
    answer = queries.answer(sql, LIMITS)
    if not isinstance(answer, QueryResult):
        return f"its query fails: {(answer.message or '').rstrip('.')} ({answer.category})"
    if not answer.rows or all(cell is None for row in answer.rows for cell in row):
        return "its query finds nothing"
    return ""


def _task(
    each: PublishedQuestion,
    tables: Sequence[str],
    suite: int,
    scope: Scope,
    rules: WorldRules,
    *,
    quotes: bool,
) -> ListedTask:
    """BIRD compares sets of rows, columns in the order of the query, whatever the order of the
    rows.
    """
    hint = f"\n\nHint: {each['evidence']}" if each["evidence"] else ""
    options = {
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
        gold=question_steps(each["sql"], tables, scope, 1, quotes=quotes),
        gates=(Gate("state"), Gate("sql", options), Gate("reply", {"acts": []})),
        compare=rules.compare,
        alternatives=(),
        transient=rules.transient,
        uses=frozenset(),
        difficulty=each["difficulty"],
    )
    return ListedTask({"question_id": each["question_id"]}, each["question_id"], None, body)
