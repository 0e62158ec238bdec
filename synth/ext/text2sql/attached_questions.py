"""Questions about a database that exists: `database=attached tasks=questions tasks.path=FILE`.

The file may have any layout that :mod:`~synth.ext.text2sql.question_files` reads.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from synth.core.tasks.families import FamilySource
from synth.core.tasks.yaml.scope import nearest
from synth.errors import OperatorError
from synth.ext.text2sql.bird import write_document
from synth.ext.text2sql.question_files import PublishedQuestion, questions_file, read_questions

FAMILY = "questions"
"""The family of the questions that name no ``db_id``."""


_CLOCK = re.compile(
    r"current_?(?:date|time)|local_?time|sys_?date|utc_|cur(?:date|time)|unix_?(?:timestamp|epoch)"
    r"|\b(?:now|today|age|getdate|julianday|\w+_timestamp)\b|\b(?:date|time|datetime)\s*\(\s*\)",
    re.IGNORECASE,
)
"""Words of queries that may read the clock. One too many costs only the day in the prompt."""


def _checked(now: str) -> str:
    try:
        moment = dt.datetime.fromisoformat(now)
    except ValueError:
        raise OperatorError(
            f"tasks.options.now: {now!r} is not an ISO date and time, such as 2026-03-02T09:00:00"
        ) from None
    return moment.astimezone(dt.UTC).replace(tzinfo=None).isoformat() if moment.tzinfo else now


@dataclass(frozen=True)
class QuestionOptions:
    """``path`` is the file of the questions, or its folder. ``now`` is the date and time, in UTC,
    at which the questions are asked (None: the day of the planning, where a query reads the clock).
    ``fields`` names the fields of parts of a question, as for the source ``bird``.
    """

    path: str
    now: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict[str, str])


class QuestionSource(FamilySource):
    """The task source ``questions``: one database, and questions that a query answers."""

    Options = QuestionOptions
    path_is = "the file of its questions, as in tasks.path=data/questions.json"
    writes_world = True
    asks_attached = True

    def __init__(self, options: QuestionOptions) -> None:
        super().__init__(options)
        self._path, self._fields = Path(options.path).expanduser(), options.fields
        self._now = None if options.now is None else _checked(options.now)

    def write_world(self, folder: Path, families: Sequence[str] | None) -> Path:
        """Write the world of the questions; it has no database of its own.

        Raises :class:`OperatorError` with what is wrong with the questions.
        """
        file = questions_file(self._path)
        read = read_questions(file, FAMILY, self._fields)
        known = sorted({question["db_id"] for question in read.questions})
        for name in families or ():
            if name not in known:
                raise OperatorError(
                    f"tasks.families: {file} has no questions with the db_id {name!r};"
                    f" {nearest(name, known)}"
                )
        folder.mkdir(parents=True)
        return write_document(
            folder,
            {
                "source": file.name,
                "suite": 0,
                "rows": "gold",
                "attached": True,
                "now": self._moment(read.questions),
                "questions": read.questions,
                "left_out": read.left_out,
                "changed": read.changed,
                "databases": [],
            },
        )

    def _moment(self, questions: Sequence[PublishedQuestion]) -> str | None:
        """The time at which questions are asked: the options', or the day of the planning if a
        query may read the clock.
        """
        if self._now is not None:
            return self._now
        clocks = any(_CLOCK.search(question["sql"]) for question in questions)
        return f"{dt.datetime.now(dt.UTC).date()}T09:00:00" if clocks else None
