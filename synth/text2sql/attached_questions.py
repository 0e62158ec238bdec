"""Questions about a database that exists: `database=attached tasks=questions tasks.path=FILE`.

The file is a list like BIRD's, in JSON: ``question``, ``SQL`` (or ``query``), and where wanted
``evidence``, ``difficulty``, ``question_id``, and ``db_id``, by which the questions are families.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from synth.errors import OperatorError
from synth.tasks.families import FamilySource
from synth.tasks.yaml.scope import nearest
from synth.text2sql.bird import QUESTIONS_FILE, questions_file, read_questions, write_tools

FAMILY = "questions"
"""The family of the questions that name no ``db_id``."""


@dataclass(frozen=True)
class QuestionOptions:
    """``path`` is the file of the questions, or its folder."""

    path: str


class QuestionSource(FamilySource):
    """The task source ``questions``: one database, and questions that a query answers."""

    Options = QuestionOptions
    path_is = "the file of its questions, as in tasks.path=data/questions.json"
    writes_world = True
    asks_attached = True

    def __init__(self, options: QuestionOptions) -> None:
        super().__init__(options)
        self._path = Path(options.path).expanduser()

    def write_world(self, folder: Path, families: Sequence[str] | None) -> Path:
        """Write the world of the questions; it has no database of its own.

        Raises :class:`OperatorError` with what is wrong with the questions.
        """
        file = questions_file(self._path)
        questions = read_questions(file, FAMILY)
        known = sorted({question["db_id"] for question in questions})
        for name in families or ():
            if name not in known:
                raise OperatorError(
                    f"tasks.families: {file} has no questions with the db_id {name!r};"
                    f" {nearest(name, known)}"
                )
        folder.mkdir(parents=True)
        document = {"source": file.name, "suite": 0, "attached": True, "questions": questions}
        (folder / QUESTIONS_FILE).write_text(
            json.dumps(document, ensure_ascii=False, indent=1), "utf-8"
        )
        return write_tools(folder)
