"""Text-to-SQL questions as BIRD and Spider publish them, made into a world: a file of questions, a
SQLite file a database.

    DIR/dev.json                                        or mini_dev_sqlite.json, train.json, ...
    DIR/dev_databases/NAME/NAME.sqlite                  or train_databases, databases, database
    DIR/dev_databases/NAME/database_description/*.csv   optional: what tables and columns hold

The world's folder holds the questions and where the databases are; nothing in DIR is changed.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict, cast

from envs.errors import WorldError
from envs.unreadable import unreadable
from envs.world.sqlite_files import FILE as DATABASES_FILE
from envs.world.sqlite_files import DatabaseFile, database_template, read_image
from synth.core.tasks.families import FamilySource
from synth.core.tasks.yaml.scope import nearest
from synth.core.tasks.yaml.words import DIFFICULTIES, FAMILY_ID
from synth.errors import OperatorError

QUESTIONS_FILE = "questions.json"


LeftOut = tuple[str, str]
"""The name of a part of the source, and the reason for which it is left out or changed."""


class PublishedQuestion(TypedDict):
    """One question of a questions.json."""

    question_id: str
    db_id: str
    question: str
    evidence: str
    sql: str
    difficulty: str | None


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

    ``suite`` counts the subsets of its database on which an answer has to be right too.
    """

    path: str
    suite: int = 3


class BirdSource(FamilySource):
    """The task source ``bird``: published questions, each database a universe and a family."""

    Options = BirdOptions
    path_is = "the folder of its questions, as in tasks.path=data/bird/dev"
    writes_world = True
    makes_universes = True

    def __init__(self, options: BirdOptions) -> None:
        super().__init__(options)
        self._path, self._suite = Path(options.path).expanduser(), options.suite

    rows = "set"

    def write_world(self, folder: Path, families: Sequence[str] | None) -> Path:
        return write_bird_world(
            self._path, folder, databases=families, suite=self._suite, rows=self.rows
        )


class SpiderSource(BirdSource):
    """The task source ``spider``: as ``bird``, with answers compared as bags, and in order where
    the right query has one.
    """

    path_is = "the folder of its questions, as in tasks.path=data/spider"
    rows = "gold"


QUESTION_FILES = (
    "mini_dev_sqlite.json",
    "mini_dev.json",
    "dev.json",
    "train.json",
    "test.json",
    "questions.json",
)
DATABASE_FOLDERS = ("dev_databases", "train_databases", "test_databases", "databases", "database")
SUFFIXES = (".sqlite", ".sqlite3", ".db")

MOST = 8
"""Reasons that a message names."""

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
) -> Path:
    """Write the world of a BIRD folder, or of one file of questions in it, to a new ``folder``, and
    return that.

    ``databases`` are the names of those that are asked about (None: all), ``suite`` the number of
    thinned copies on which an answer is judged too. A database that cannot be read takes its own
    questions with it. Raises :class:`OperatorError` if nothing can be asked.
    """
    file = questions_file(path)
    read = read_questions(file)
    known = sorted({question["db_id"] for question in read.questions})
    for name in databases or ():
        if name not in known:
            raise OperatorError(
                f"tasks.families: {file} asks nothing about {name!r}; {nearest(name, known)}"
            )
    chosen = [name for name in known if databases is None or name in databases]
    asked = [question for question in read.questions if question["db_id"] in chosen]
    homes = _homes(file)
    listed: list[dict[str, object]] = []
    unread: list[LeftOut] = []
    for name in chosen:
        try:
            listed.append(_entry(name, _database(name, homes)))
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
        "questions": asked,
        "left_out": read.left_out,
        "changed": read.changed,
        "databases": unread,
    }
    return write_document(folder, document)


def write_document(folder: Path, document: QuestionsDocument) -> Path:
    """Write the questions, the policy and the tools to a world's folder, and return that."""
    text = json.dumps(document, ensure_ascii=False, indent=1)
    (folder / QUESTIONS_FILE).write_text(text, "utf-8")
    (folder / "policy.md").write_text(POLICY, "utf-8")
    (folder / "tools.yaml").write_text(TOOLS, "utf-8")
    return folder


def questions_file(path: Path) -> Path:
    """The file of questions at a path, which may be their folder. Raises :class:`OperatorError`."""
    if path.is_file():
        return path
    if not path.is_dir():
        raise OperatorError(f"tasks.path: folder not found: {path}")
    found = [path / name for name in QUESTION_FILES if (path / name).is_file()]
    if not found:
        raise OperatorError(
            f"tasks.path: {path} holds no file of questions, such as"
            f" {', '.join(QUESTION_FILES[:3])}"
        )
    return found[0]


@dataclass(frozen=True)
class _ReadQuestions:
    """The questions of a file in one form, and those that are left out or changed, with the
    reason.
    """

    questions: list[PublishedQuestion] = field(default_factory=list[PublishedQuestion])
    left_out: list[LeftOut] = field(default_factory=list["LeftOut"])
    changed: list[LeftOut] = field(default_factory=list["LeftOut"])


def read_questions(file: Path, database: str | None = None) -> _ReadQuestions:
    """Read a file of questions. Those without an id take their place in the file, from 1 on;
    Spider's have no evidence. ``database`` is the ``db_id`` of those that name none.

    Raises :class:`OperatorError` for a file that holds no list, or no question that can be read.
    """
    out = _ReadQuestions()
    seen: set[tuple[str, str]] = set()
    for index, item in enumerate(_entries(file), 1):
        entry = cast("dict[str, Any]", item if isinstance(item, dict) else {})
        if entry and database is not None and not entry.get("db_id"):
            entry = {**entry, "db_id": database}
        number = _printable(str(entry.get("question_id", index)))
        if problem := _problem(entry):
            out.left_out.append((number, problem))
            continue
        family = entry["db_id"]
        while (family, number) in seen:
            number = f"{number}-{index}"
        seen.add((family, number))
        difficulty = entry.get("difficulty")
        if difficulty not in (None, *DIFFICULTIES):
            known = ", ".join(DIFFICULTIES)
            reason = f"asked without its difficulty {difficulty!r:.40}, which is none of {known}"
            out.changed.append((f"{family} {number}", reason))
            difficulty = None
        out.questions.append(
            {
                "question_id": number,
                "db_id": family,
                "question": entry["question"].strip(),
                "evidence": str(entry.get("evidence") or "").strip(),
                "sql": str(entry.get("SQL") or entry["query"]).strip().rstrip(";").strip(),
                "difficulty": difficulty,
            }
        )
    if not out.questions:
        reasons = dict.fromkeys(reason for _, reason in out.left_out)
        raise OperatorError(f"{file}: no question can be read: {'; '.join(list(reasons)[:MOST])}")
    return out


def _entries(file: Path) -> list[object]:
    """The list that a file holds. A byte that is not UTF-8 spoils its own question only."""
    try:
        raw: Any = json.loads(file.read_bytes().decode("utf-8-sig", "surrogateescape"))
    except ValueError as error:
        raise OperatorError(f"{file}: {unreadable(error, 'JSON')}") from None
    if not isinstance(raw, list) or not raw:
        raise OperatorError(f"{file}: must hold a list of questions")
    return cast("list[object]", raw)


def _problem(entry: Mapping[str, Any]) -> str:
    """The reason for which an entry is not a question; empty if it is one."""
    if not entry:
        return "it is not an object"
    for keys in (("db_id",), ("question",), ("SQL", "query")):
        texts = [entry[key] for key in keys if entry.get(key)]
        if not texts or not isinstance(texts[0], str) or not texts[0].strip(" \t\r\n;"):
            return f"it has no {' or '.join(keys)}"
        if _printable(texts[0]) != texts[0]:
            return f"its {keys[0]} is not valid UTF-8"
    if _printable(str(entry.get("evidence"))) != str(entry.get("evidence")):
        return "its evidence is not valid UTF-8"
    if FAMILY_ID.fullmatch(entry["db_id"]) is None:
        return f"its db_id {entry['db_id']!r:.60} must match {FAMILY_ID.pattern}"
    return ""


def _printable(text: str) -> str:
    """The text as UTF-8 can hold it."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _homes(file: Path) -> list[Path]:
    """The folders of databases beside a file of questions. Raises :class:`OperatorError`."""
    homes = [file.parent / name for name in DATABASE_FOLDERS if (file.parent / name).is_dir()]
    if not homes:
        raise OperatorError(
            f"{file.parent}: no folder of databases beside {file.name}, such as"
            f" {DATABASE_FOLDERS[0]}"
        )
    return homes


def _database(name: str, homes: Sequence[Path]) -> Path:
    """The SQLite file of a database. Raises :class:`WorldError` if it is not there."""
    there = [home / name / f"{name}{suffix}" for home in homes for suffix in SUFFIXES]
    match = next((item for item in there if item.is_file()), None)
    if match is None:
        raise WorldError(f"file not found: {there[0]}")
    return match.absolute()


def _entry(name: str, path: Path) -> dict[str, object]:
    """The entry of a database in databases.json. Raises :class:`WorldError` for a file that cannot
    be read.
    """
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
    parts = [
        cells.get(key, "") for key in ("column_name", "column_description", "value_description")
    ]
    folded = [column.casefold()]
    out: list[str] = []
    for part in parts:
        if part and part.casefold() not in folded:
            folded.append(part.casefold())
            out.append(part)
    return "; ".join(out)


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
