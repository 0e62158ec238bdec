"""The questions of a world's questions.json as families: one of each database, a task a
question.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from envs.ledger import Ledger
from envs.plugins import resolve
from envs.types import Limits, Pins, ToolResult
from envs.world.query import QueryResult
from synth.core.tasks.pools import PublishedFamily, TaskInstance
from synth.core.tasks.readers import FileFamilies, ReaderContext
from synth.core.tasks.yaml.body import Body, WorldRules
from synth.core.tasks.yaml.scope import Scope
from synth.core.tasks.yaml.user import UserText
from synth.core.tasks.yaml.words import NOW
from synth.core.types.checks import CLOCK, TIE, Gate
from synth.errors import TaskError
from synth.ext.text2sql.question import answering_tool, question_steps
from synth.ext.text2sql.question_files import PublishedQuestion
from synth.ext.text2sql.result_sets import Rules, same_rows
from synth.ext.text2sql.right_answers import RightAnswers, right_answers, unstable, widths_of
from synth.ext.text2sql.sources import QuestionsDocument
from synth.ext.text2sql.verifier import NOTES

LIMITS = Limits(True, 5_000, 10_000, 64_000_000)
"""What a published query may take: what a run's own limits allow unless they are changed."""

QUESTION, DATABASE, TABLE = "question", "database", "table"
"""Kinds of parts in the account."""


def read_file(context: ReaderContext) -> FileFamilies:
    """The family of the universe's database, or an attached one's families by ``db_id``. A family
    is missing where nothing can be asked of it.

    Questions are left out whose published query fails, finds nothing, reads no table, or may answer
    differently each time. Raises :class:`~synth.errors.TaskError` for a file that cannot be read.
    """
    world, file = context.world, context.file
    try:
        document = cast("QuestionsDocument", json.loads(file.read_text("utf-8")))
        asked, attached = document["questions"], document["attached"]
        account = _account(document) if context.universe == 0 else Ledger()
        rules = WorldRules(document["now"] or NOW)
    except (ValueError, KeyError, TypeError) as error:
        raise TaskError(
            f"no file of questions as `tasks=bird` writes it: {error}", str(file)
        ) from None
    for name, why in context.queries.unread.items():
        account.found(TABLE)
        account.leave_out(TABLE, name, why)
    if attached:
        names = list(dict.fromkeys(item["db_id"] for item in asked))
    else:  # without databases of its own, the questions are not about this world's
        names = [world.databases[context.universe].name] if world.databases else []
        account.found(DATABASE, len(names))
        account.use(DATABASE, len(names))
    changed = dict(document["changed"])
    families: list[PublishedFamily] = []
    for name in names:
        about = f"Questions about the database {name}, from {document['source']}."
        tasks = list(QuestionReader(context, name, document, rules, account, changed).tasks())
        families += [PublishedFamily(name, str(file), 1, about, tasks)] if tasks else []
    return FileFamilies(families, rules, account=account)


def _account(document: QuestionsDocument) -> Ledger:
    """The account of what the file and its folder hold and the world does not."""
    account = Ledger()
    for kind, parts in ((QUESTION, document["left_out"]), (DATABASE, document["databases"])):
        account.found(kind, len(parts))
        for name, why in parts:
            account.leave_out(kind, name, why)
    unread = {name for name, _ in document["databases"]}
    for question in document["questions"]:
        if question["db_id"] in unread:
            account.found(QUESTION)
            name = f"{question['db_id']} {question['question_id']}"
            account.leave_out(QUESTION, name, "its database cannot be read")
    return account


@dataclass
class QuestionReader:
    """Reads the questions of one family, one by one by :meth:`examined`."""

    context: ReaderContext
    family: str
    document: QuestionsDocument
    world_rules: WorldRules
    account: Ledger
    changed: Mapping[str, str]
    _known_views: dict[str, bool] = field(default_factory=dict[str, bool])

    @cached_property
    def scope(self) -> Scope:
        return Scope(str(self.context.file), self.family, self.context.tools)

    @cached_property
    def types(self) -> Mapping[str, str]:
        """The types of the database's columns, by name in lower case."""
        tables = self.context.queries.tables.values()
        return {column.name.lower(): column.type for table in tables for column in table.columns}

    def tasks(self) -> Iterator[TaskInstance]:
        """The tasks of the questions that can be asked; each question is accounted for."""
        for item in self.document["questions"]:
            if item["db_id"] != self.family:
                continue
            name = f"{self.family} {item['question_id']}"
            self.account.found(QUESTION)
            found = self.examined(item)
            if isinstance(found, str):
                self.account.leave_out(QUESTION, name, found)
                continue
            notes = [self.changed[name]] if name in self.changed else []
            notes += [f"asked with the note {note}: {NOTES[note]}" for note in found.notes]
            if notes:
                self.account.change(QUESTION, name, " and ".join(notes))
            else:
                self.account.use(QUESTION)
            yield self._task(item, found)

    def ask(self, sql: str, *, unordered: bool = False) -> QueryResult | ToolResult:
        """The answer of a query within :data:`LIMITS`."""
        pins = Pins(self.world_rules.now)
        return self.context.queries.answer(sql, LIMITS, pins, unordered=unordered)

    def examined(self, item: PublishedQuestion) -> _Examined | str:
        """The question with its notes; the reason for which its query cannot judge answers."""
        sql, queries = item["sql"], self.context.queries
        read = resolve("envs.tools.sql.critic:read_query")(sql, queries.dialect)
        rules = self._rules(read)
        right = right_answers(sql, self.ask, queries.dialect, rules)
        if isinstance(right, ToolResult):
            return _failure(sql, right, queries.dialect)
        rows = right.answer.rows
        if not rows or all(cell is None for row in rows for cell in row):
            return "its query finds nothing"
        if read is not None and not read.tables:
            return "its query reads no table: a constant answers it"
        if reason := unstable(sql, self.ask, queries.dialect, widths_of(queries.tables)):
            return reason
        if reason := self._otherwise(item, right, rules):
            return reason
        tags = resolve("envs.tools.sql.critic:doubts")(sql, queries.dialect, self.types, rows)
        own = {TIE: right.ties > 0, CLOCK: read is not None and self._tells_time(read)}
        notes = [tag for tag, there in own.items() if there] + tags
        return _Examined(notes, rules, self._described(read))

    def _tells_time(self, read: Any) -> bool:
        """True if a query, or a view that it reads, depends on the present time. A view whose own
        query cannot be read may do so.
        """
        return read.clock is not None or any(map(self._view_tells_time, read.tables))

    def _view_tells_time(self, name: str) -> bool:
        if name not in self._known_views:
            self._known_views[name] = False  # a view cannot read itself
            queries = self.context.queries
            text = queries.view_text(name)
            if text is not None:
                read = resolve("envs.tools.sql.critic:read_view")(text, queries.dialect)
                self._known_views[name] = read is None or self._tells_time(read)
        return self._known_views[name]

    def _otherwise(self, item: PublishedQuestion, right: RightAnswers, rules: Rules) -> str:
        """The reason for which a second execution, or another query for the question, is not as
        right as the first.
        """
        width = len(right.answer.columns)
        for sql, whose, when in (
            (item["sql"], "its query", "when it is executed again"),
            *((sql, "one of its queries", "than the first") for sql in item["same"]),
        ):
            again = self.ask(sql, unordered=True)
            if isinstance(again, ToolResult):
                return f"{whose} fails: {again.category}"
            if not same_rows(right.blocks, again.rows, width, len(again.columns), rules):
                return f"{whose} gives another answer {when}"
        return ""

    def _rules(self, read: Any) -> Rules:
        """The comparison of answers: BIRD's, or Spider's with the right query's order."""
        if self.document["rows"] == "set":
            return Rules(set_of_rows=True, any_columns=False)
        return Rules(ordered=read is not None and read.ordered)

    def _described(self, read: Any) -> Sequence[str]:
        """The tables that a query reads, as the database names them."""
        known = {name.lower(): name for name in self.context.queries.tables}
        named = [name.lower() for name in read.tables] if read is not None else []
        found = [known.get(name) or known.get(name.rpartition(".")[2]) for name in named]
        return [name for name in dict.fromkeys(found) if name is not None]

    def _task(self, item: PublishedQuestion, found: _Examined) -> TaskInstance:
        hint = f"\n\nHint: {item['evidence']}" if item["evidence"] else ""
        options = {
            "query": item["sql"],
            "tool": answering_tool(self.scope),
            "ordered": found.rules.ordered,
            "rows": "set" if found.rules.set_of_rows else "bag",
            "columns": "any" if found.rules.any_columns else "given",
            "databases": self.document["suite"],
            "tolerance": found.rules.tolerance,
            "notes": found.notes,
        }
        body = Body(
            user=UserText([f"{item['question']}{hint}"]),
            answer=None,
            compare_answer={},
            oracle={},
            gold=question_steps(item["sql"], found.tables, self.scope, 1),
            gates=(Gate("state"), Gate("sql", options), Gate("reply", {"acts": []})),
            compare=self.context.rules.compare,
            alternatives=(),
            transient=self.context.rules.transient,
            uses=frozenset(),
            difficulty=item["difficulty"],
        )
        return TaskInstance({"question_id": item["question_id"]}, item["question_id"], body)


def _failure(sql: str, result: ToolResult, dialect: str) -> str:
    """The reason for which a query has no answer."""
    found = resolve("envs.tools.sql.critic:criticise")(sql, {}, dialect, reading=True)
    if any(one.kind == "write_in_reader" for one in found):
        return "it writes, and questions only read"
    return f"its query fails: {(result.message or '').rstrip('.')} ({result.category})"


@dataclass(frozen=True, slots=True)
class _Examined:
    """A question that can be asked: its tags, the comparison of its answers, the tables to
    describe.
    """

    notes: Sequence[str]
    rules: Rules
    tables: Sequence[str]
