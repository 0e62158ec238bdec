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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, cast

from envs.errors import WorldError
from envs.world.sqlite_files import FILE as DATABASES_FILE
from envs.world.sqlite_files import read_image
from synth.errors import OperatorError
from synth.tasks.families import FamilySource
from synth.tasks.yaml.scope import nearest
from synth.tasks.yaml.words import DIFFICULTIES, FAMILY_ID

QUESTIONS_FILE = "questions.json"


class PublishedQuestion(TypedDict):
    """One question of a questions.json."""

    question_id: str
    db_id: str
    question: str
    evidence: str
    sql: str
    difficulty: str | None


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

    def write_world(self, folder: Path, families: Sequence[str] | None) -> Path:
        return write_bird_world(self._path, folder, databases=families, suite=self._suite)


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
"""Problems that are told at once."""

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
    path: Path, folder: Path, *, databases: Sequence[str] | None = None, suite: int = 3
) -> Path:
    """Write the world of a BIRD folder, or of one file of questions in it, to a new ``folder``, and
    return that.

    ``databases`` are the names of those that are asked about (None: all), ``suite`` the number of
    thinned copies on which an answer is judged too. Raises :class:`OperatorError` with what is
    wrong with the questions or the databases.
    """
    file = questions_file(path)
    questions = read_questions(file)
    known = sorted({question["db_id"] for question in questions})
    for name in databases or ():
        if name not in known:
            raise OperatorError(
                f"tasks.families: {file} asks nothing about {name!r}; {nearest(name, known)}"
            )
    chosen = [name for name in known if databases is None or name in databases]
    found = _databases(file.parent, chosen, file)
    folder.mkdir(parents=True)
    listed = [_entry(name, found[name]) for name in chosen]
    asked = [question for question in questions if question["db_id"] in found]
    document = {"source": file.name, "suite": suite, "questions": asked}
    (folder / DATABASES_FILE).write_text(json.dumps(listed, ensure_ascii=False, indent=1), "utf-8")
    (folder / QUESTIONS_FILE).write_text(
        json.dumps(document, ensure_ascii=False, indent=1), "utf-8"
    )
    return write_tools(folder)


def write_tools(folder: Path) -> Path:
    """Write the policy and the tools of questions to a world's folder, and return that."""
    (folder / "policy.md").write_text(POLICY, "utf-8")
    (folder / "tools.yaml").write_text(TOOLS, "utf-8")
    return folder


def questions_file(path: Path) -> Path:
    """The file of questions at a path, which may be their folder. Raises :class:`OperatorError`."""
    if path.is_file():
        return path
    if not path.is_dir():
        raise OperatorError(f"tasks.path: there is no {path}")
    found = [path / name for name in QUESTION_FILES if (path / name).is_file()]
    if not found:
        raise OperatorError(
            f"tasks.path: {path} holds no file of questions, such as"
            f" {', '.join(QUESTION_FILES[:3])}"
        )
    return found[0]


def read_questions(file: Path, database: str | None = None) -> list[PublishedQuestion]:
    """The questions in one form. Those without an id take their place in the file; Spider's have no
    evidence. ``database`` is the ``db_id`` of those that name none.

    Raises :class:`OperatorError` for a file that holds no questions, with what is wrong.
    """
    try:
        raw: Any = json.loads(file.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise OperatorError(f"{file}: not UTF-8 at byte {error.start}") from None
    except ValueError as error:
        raise OperatorError(f"{file}: no JSON: {error}") from None
    if not isinstance(raw, list) or not raw:
        raise OperatorError(f"{file}: must hold a list of questions")
    out: list[PublishedQuestion] = []
    problems: list[str] = []
    seen: set[str] = set()
    for index, item in enumerate(cast("list[object]", raw)):
        entry = cast("dict[str, Any]", item if isinstance(item, dict) else {})
        if entry and database is not None:
            entry = {"db_id": database, **entry}
        number = str(entry.get("question_id", index))
        problem = _problem(entry, number in seen)
        if problem:
            problems.append(f"{file}: question {number}{problem}")
        seen.add(number)
        sql = str(entry.get("SQL", entry.get("query", ""))).strip().rstrip(";").strip()
        out.append(
            {
                "question_id": number,
                "db_id": str(entry.get("db_id")),
                "question": str(entry.get("question", "")).strip(),
                "evidence": str(entry.get("evidence") or "").strip(),
                "sql": sql,
                "difficulty": entry.get("difficulty"),
            }
        )
    _refuse(problems)
    return out


def _problem(entry: Mapping[str, Any], again: bool) -> str:
    if not entry:
        return " is no object"
    for keys in (("db_id",), ("question",), ("SQL", "query")):
        if not any(isinstance(entry.get(key), str) and entry[key].strip() for key in keys):
            return f" has no {' or '.join(keys)}"
    if again:
        return " stands there twice: a question_id is one question's"
    if FAMILY_ID.fullmatch(entry["db_id"]) is None:
        return f": the db_id {entry['db_id']!r} must match {FAMILY_ID.pattern}"
    if entry.get("difficulty") not in (None, *DIFFICULTIES):
        return f": the difficulty {entry['difficulty']!r} is none of {', '.join(DIFFICULTIES)}"
    return ""


def _databases(root: Path, names: Sequence[str], file: Path) -> dict[str, Path]:
    """The SQLite file of each name; OperatorError with those that are not there."""
    homes = [root / name for name in DATABASE_FOLDERS if (root / name).is_dir()]
    if not homes:
        raise OperatorError(
            f"{root}: no folder of databases beside {file.name}, such as {DATABASE_FOLDERS[0]}"
        )
    found: dict[str, Path] = {}
    problems: list[str] = []
    for name in names:
        there = [home / name / f"{name}{suffix}" for home in homes for suffix in SUFFIXES]
        match = next((item for item in there if item.is_file()), None)
        if match is None:
            problems.append(f"{file} asks about {name!r}, and there is no {there[0]}")
        else:
            found[name] = match.absolute()
    _refuse(problems)
    return found


def _entry(name: str, path: Path) -> dict[str, object]:
    try:
        image = read_image(path)
    except WorldError as error:
        raise OperatorError(str(error)) from None
    about = dict(_descriptions(path.parent / "database_description"))
    return {
        "name": name,
        "file": str(path),
        "sha256": hashlib.sha256(image).hexdigest(),
        "about": about,
    }


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


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        more = [f"and {len(problems) - MOST} more"] if len(problems) > MOST else []
        raise OperatorError("\n".join([*problems[:MOST], *more]))
