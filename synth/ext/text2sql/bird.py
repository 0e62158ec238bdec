"""Text-to-SQL questions as BIRD and Spider publish them, made into a world: a file of questions, a
SQLite file a database.

    DIR/dev.json                                        or another file of questions
    DIR/dev_databases/NAME/NAME.sqlite                  or another place below DIR
    DIR/dev_databases/NAME/database_description/*.csv   optional: what tables and columns hold

The world's folder holds the questions and where the databases are; nothing in DIR is changed.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
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
    known = sorted({question["db_id"] for question in read.questions})
    for name in databases or ():
        if name not in known:
            raise OperatorError(
                f"tasks.families: {file} asks nothing about {name!r}; {nearest(name, known)}"
            )
    chosen = [name for name in known if databases is None or name in databases]
    asked = [question for question in read.questions if question["db_id"] in chosen]
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
