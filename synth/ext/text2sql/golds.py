"""``synth check DIR --questions set``: the findings on published questions and their queries."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from envs.ledger import Ledger
from envs.tools.sql.critic import likely_mistakes
from envs.types import Pins
from envs.world.loader import load_world
from envs.world.query import QueryResult
from envs.world.template_cache import Templates
from synth.core.cli.command import Arguments
from synth.core.foundation.standard_output import say
from synth.core.screen import Screen
from synth.core.tasks.queries import Queries
from synth.core.tasks.readers import ReaderContext
from synth.core.tasks.yaml.body import WorldRules
from synth.ext.text2sql.question_files import PublishedQuestion
from synth.ext.text2sql.questions import QuestionReader
from synth.ext.text2sql.sources import QUESTIONS_FILE, QuestionsDocument, write_bird_world
from synth.ext.text2sql.verifier import NOTES

CANNOT_JUDGE, DOUBTFUL = "cannot judge", "doubtful"

HARMLESS = frozenset({"float_sum", "unread"})
"""Notes with which a query is not doubtful."""


@dataclass(frozen=True)
class _Finding:
    """``kind`` is ``cannot judge`` (a run leaves the question out) or ``doubtful``."""

    db_id: str
    question_id: str
    kind: str
    reason: str
    question: str = ""
    sql: str = ""


def check_questions(arguments: Arguments, screen: Screen) -> int:
    """Print the findings on a folder of questions; 1 if a query cannot judge answers.

    Raises :class:`~synth.errors.OperatorError` for a folder without questions or databases.
    """
    path = Path(arguments.world).expanduser()
    with TemporaryDirectory() as folder:
        own = write_bird_world(path, Path(folder, "world"), suite=0, rows=arguments.questions)
        document: QuestionsDocument = json.loads((own / QUESTIONS_FILE).read_text("utf-8"))
        findings = [*_unread(document), *_findings(own, document)]
    totals = Counter(one.kind for one in findings)
    count = len(document["questions"]) + len(document["left_out"])
    if arguments.json:
        report = {"source": document["source"], "questions": count, "totals": totals}
        listed = [asdict(one) for one in findings]
        say(json.dumps(report | {"findings": listed}, indent=2, ensure_ascii=False))
        return int(totals[CANNOT_JUDGE] > 0)
    for one in findings:
        about = f" {one.db_id} {one.question_id}: {one.reason}"
        screen.parts([(one.kind, "bold red"), (about, "")])
        for text in filter(None, (one.question, one.sql)):
            screen.line(" ".join(text.split()), indent=5)
    screen.line()
    judge = count - len({(one.db_id, one.question_id) for one in findings if one.kind != DOUBTFUL})
    screen.line(
        f"{document['source']}: {judge:,} of {count:,} queries can judge answers;"
        f" {totals[DOUBTFUL]:,} doubtful"
    )
    if judge:
        source = {"set": "bird", "gold": "spider"}[arguments.questions]
        words = ["synth", "run", f"tasks={source}", f"tasks.path={path}", f"tasks.count={judge}"]
        screen.line(f"Next: {shlex.join(words)}")
    return int(totals[CANNOT_JUDGE] > 0)


def _unread(document: QuestionsDocument) -> Iterator[_Finding]:
    """The questions and databases that cannot be read."""
    for name, why in document["left_out"]:
        database, _, number = name.rpartition(" ")
        yield _Finding(database, number, CANNOT_JUDGE, why)
    unread = dict(document["databases"])
    for item in document["questions"]:
        if item["db_id"] in unread:
            yield _finding(item, CANNOT_JUDGE, f"its database: {unread[item['db_id']]}")


def _findings(folder: Path, document: QuestionsDocument) -> Iterator[_Finding]:
    world, rules = load_world(folder), WorldRules()
    for universe, database in enumerate(world.databases):
        with Templates(world).use(universe) as template, template.open(Pins()) as sandbox:
            queries = Queries(sandbox, template)
            context = ReaderContext(world, folder / QUESTIONS_FILE, universe, queries, rules)
            reader = QuestionReader(context, database.name, document, rules, Ledger(), {})
            yield from _of_database(reader, queries)


def _of_database(reader: QuestionReader, queries: Queries) -> Iterator[_Finding]:
    tables = queries.tables.items()
    columns = {name: [column.name for column in table.columns] for name, table in tables}

    def rows_of(sql: str) -> Sequence[Sequence[object]] | None:
        answer = reader.ask(sql)
        return answer.rows if isinstance(answer, QueryResult) else None

    answers: dict[str, tuple[str, frozenset[str]]] = {}
    for item in reader.document["questions"]:
        if item["db_id"] != reader.family:
            continue
        found = reader.examined(item)
        if isinstance(found, str):
            yield _finding(item, CANNOT_JUDGE, found)
        for reason in likely_mistakes(item["sql"], queries.dialect, columns, rows_of):
            yield _finding(item, DOUBTFUL, reason)
        if isinstance(found, str):
            continue
        for note in found.notes:
            if note not in HARMLESS:
                yield _finding(item, DOUBTFUL, NOTES[note])
        words = " ".join(f"{item['question']} {item['evidence']}".casefold().split())
        rows = frozenset(map(repr, rows_of(item["sql"]) or ()))
        other, first = answers.setdefault(words, (item["question_id"], rows))
        if first != rows:
            yield _finding(item, DOUBTFUL, f"question {other} has these words and another answer")


def _finding(item: PublishedQuestion, kind: str, reason: str) -> _Finding:
    database, number = item["db_id"], item["question_id"]
    return _Finding(database, number, kind, reason, item["question"], item["sql"])
