"""The task sources of questions that a query answers: ``bird`` and ``spider``, published questions
with a SQLite file for each database, and ``questions`` about a database that exists.

    DIR/dev.json                                        or another file of questions
    DIR/dev_databases/NAME/NAME.sqlite                  or another place below DIR
    DIR/dev_databases/NAME/database_description/*.csv   optional: what tables and columns hold

The world's folder holds the questions and where the databases are; nothing in DIR is changed. A
file of questions may have any layout that :mod:`~synth.ext.text2sql.question_files` reads.
"""

from __future__ import annotations

import csv
import datetime as dt
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TypedDict

from envs.errors import WorldError
from envs.world.sqlite_files import FILE as DATABASES_FILE
from envs.world.sqlite_files import DatabaseFile, database_template, read_image
from synth.core.tasks.families import FamilySource
from synth.core.tasks.yaml.scope import nearest
from synth.errors import OperatorError
from synth.ext.text2sql.question_files import (
    LeftOut,
    PublishedQuestion,
    questions_file,
    read_questions,
)

QUESTIONS_FILE = "questions.json"


class QuestionsDocument(TypedDict):
    """A questions.json. ``rows`` says how answers are compared: ``set`` as in BIRD, ``gold`` as
    bags, and in order where the right query has one. ``now`` is the time at which questions are
    asked (None: the usual one). ``left_out``, ``changed`` and ``databases`` account for what is
    not asked as it was found.
    """

    source: str
    suite: int
    rows: str
    attached: bool
    now: str | None
    questions: list[PublishedQuestion]
    left_out: list[LeftOut]
    changed: list[LeftOut]
    databases: list[LeftOut]


@dataclass(frozen=True)
class BirdOptions:
    """``path`` is the folder of the questions, or one file of questions in it.

    ``suite`` counts the subsets of its database on which an answer has to be right too, ``fields``
    names the fields of parts of a question (``question``, ``sql``, ``db_id``, ``evidence``).
    """

    path: str
    suite: int = 3
    fields: Mapping[str, str] = field(default_factory=dict[str, str])


class BirdSource(FamilySource):
    """The task source ``bird``: published questions, each database a universe and a family."""

    Options = BirdOptions
    path_is = "the folder of its questions, as in tasks.path=data/bird/dev"
    writes_world = True
    makes_universes = True

    def __init__(self, options: BirdOptions) -> None:
        super().__init__(options)
        self._options = options

    rows = "set"

    def write_world(self, folder: Path, families: Sequence[str] | None) -> Path:
        own = self._options
        return write_bird_world(
            Path(own.path).expanduser(),
            folder,
            databases=families,
            suite=own.suite,
            rows=self.rows,
            fields=own.fields,
        )


class SpiderSource(BirdSource):
    """The task source ``spider``: as ``bird``, with answers compared as bags, and in order where
    the right query has one.
    """

    path_is = "the folder of its questions, as in tasks.path=data/spider"
    rows = "gold"


SUFFIXES = (".sqlite", ".sqlite3", ".db")

POLICY = """\
You answer questions about a database with one SQL query each. Look at the tables and at what \
their columns hold, try your query, and hand in
the one that answers the question with `submit_sql`. Give the columns that were asked for, in \
the order of the question, and no others.
"""

TOOLS = """\
- builtin: [list_tables, describe_table, sample_rows, run_select_query, submit_sql]
  critic: true
  max_rows: 30
"""


def write_bird_world(
    path: Path,
    folder: Path,
    *,
    databases: Sequence[str] | None = None,
    suite: int = 3,
    rows: str = "set",
    fields: Mapping[str, str] = MappingProxyType({}),
) -> Path:
    """Write the world of a BIRD folder, or of one file of questions in it, to a new ``folder``, and
    return that.

    ``databases`` are the names of those that are asked about (None: all), ``suite`` the number of
    thinned copies on which an answer is judged too, ``fields`` the fields of parts of a question by
    name. A database that cannot be read takes its own
    questions with it. Raises :class:`OperatorError` if nothing can be asked.
    """
    file = questions_file(path)
    files = _files(file)
    read = read_questions(file, _sole(file, files), fields)
    known = _known(file, read.questions, databases)
    chosen = [name for name in known if databases is None or name in databases]
    listed: list[dict[str, object]] = []
    unread: list[LeftOut] = []
    for name in chosen:
        try:
            listed.append(_entry(name, files))
        except WorldError as error:
            unread.append((name, error.message))
    if not listed:
        raise OperatorError(
            "\n".join([f"{file}: no database can be read", *(": ".join(one) for one in unread)])
        )
    folder.mkdir(parents=True)
    (folder / DATABASES_FILE).write_text(json.dumps(listed, ensure_ascii=False, indent=1), "utf-8")
    document: QuestionsDocument = {
        "source": file.name,
        "suite": suite,
        "rows": rows,
        "attached": False,
        "now": None,
        "questions": [question for question in read.questions if question["db_id"] in chosen],
        "left_out": read.left_out,
        "changed": read.changed,
        "databases": unread,
    }
    return _write_document(folder, document)


def _known(
    file: Path, questions: Sequence[PublishedQuestion], wanted: Sequence[str] | None
) -> list[str]:
    """The databases of a file's questions. Raises :class:`OperatorError` for a wanted one that
    none is about.
    """
    known = sorted({question["db_id"] for question in questions})
    for name in wanted or ():
        if name not in known:
            raise OperatorError(
                f"tasks.families: {file} has no questions with the db_id {name!r};"
                f" {nearest(name, known)}"
            )
    return known


def _write_document(folder: Path, document: QuestionsDocument) -> Path:
    """Write the questions, the policy and the tools to a world's folder, and return that."""
    text = json.dumps(document, ensure_ascii=False, indent=1)
    (folder / QUESTIONS_FILE).write_text(text, "utf-8")
    (folder / "policy.md").write_text(POLICY, "utf-8")
    (folder / "tools.yaml").write_text(TOOLS, "utf-8")
    return folder


def _files(file: Path) -> dict[str, Path]:
    """The SQLite files below a file of questions, or else below the folder above it, by name and,
    alone in a folder, by the folder's; the nearest first. Raises :class:`OperatorError`.
    """
    for home, depth in ((file.parent, 4), (file.parent.parent, 3)):
        below = [path for at in range(depth) for path in sorted(home.glob("*/" * at + "*"))]
        found = [path for path in below if path.suffix in SUFFIXES and path.is_file()]
        if found:
            folders = Counter(path.parent for path in found)
            lone = {path.parent.name: path for path in found[::-1] if folders[path.parent] == 1}
            return lone | {path.name.split(".")[0]: path for path in found[::-1]}
    raise OperatorError(
        f"{file.parent}: no SQLite file ({', '.join(SUFFIXES)}) here or in folders below, such as"
        " dev_databases/NAME/NAME.sqlite; `tasks=questions database=attached` asks a server"
    )


def _sole(file: Path, files: Mapping[str, Path]) -> str | None:
    """The database of questions that name none: the only one, or the one named after the file."""
    if len(set(files.values())) == 1:
        return [*files][-1]
    return file.stem if file.stem in files else None


def _entry(name: str, files: Mapping[str, Path]) -> dict[str, object]:
    """The entry of a database in databases.json. Raises :class:`WorldError` for a file that cannot
    be read.
    """
    if name not in files:
        raise WorldError(f"file not found: {name}{SUFFIXES[0]}, or a folder {name} with one file")
    path = files[name].absolute()
    sha256 = hashlib.sha256(read_image(path)).hexdigest()
    about = dict(_descriptions(path.parent / "database_description"))
    database_template(DatabaseFile(name, path, sha256, about)).close()
    return {"name": name, "file": str(path), "sha256": sha256, "about": about}


def _descriptions(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The text of each CSV file of a description, by table and column."""
    for file in sorted(folder.glob("*.csv")) if folder.is_dir() else ():
        rows = csv.DictReader(io.StringIO(_decoded(file.read_bytes()), newline=""))
        described: dict[str, str] = {}
        for row in rows:
            cells = {
                str(key or "").strip().lower(): " ".join(str(value or "").split())
                for key, value in row.items()
            }
            column = cells.get("original_column_name", "")
            if column and (text := _description(cells, column)):
                described[column] = text
        if described:
            yield file.stem, described


def _description(cells: Mapping[str, str], column: str) -> str:
    """The name in words, the description, the values."""
    known = {column.casefold(): ""}
    for key in ("column_name", "column_description", "value_description"):
        part = cells.get(key, "")
        known.setdefault(part.casefold(), part)
    return "; ".join(filter(None, known.values()))


def _decoded(data: bytes) -> str:
    """Text of a file whose encoding nobody noted: UTF-8, else Windows', else Latin-1, which takes
    any byte.
    """
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return data.decode(encoding).replace("\0", "")
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1").replace("\0", "")


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
    """The task source ``questions``: a database that exists, and questions that a query answers, as
    in `database=attached tasks=questions tasks.path=FILE`.
    """

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
        _known(file, read.questions, families)
        folder.mkdir(parents=True)
        return _write_document(
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
