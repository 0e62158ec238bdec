"""Drawn questions about a database: golds that are tied, empty, broken or not UTF-8, and entries
that nobody checked.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import sqlalchemy
from hypothesis import strategies as st

from tests.drawn.databases import quoted
from tests.drawn.material import NOT_YET, SQLITE

GOLDS = {
    "questions: plain": (
        "SELECT {c} FROM {t}",
        "SELECT COUNT(*) FROM {t}",
        "SELECT {c} FROM {t} ORDER BY {c} LIMIT 1",
        "SELECT DISTINCT {c} FROM {t} WHERE {d} IS NOT NULL",
        "SELECT * FROM {t}",
        "SELECT MAX({c}), MIN({d}), AVG({c}) FROM {t}",
        "SELECT {c} FROM {t} WHERE {c} = 'a%b:c' OR {c} LIKE '%x%'",
        "WITH a AS (SELECT {c} AS x FROM {t}) SELECT x FROM a ORDER BY x",
        "SELECT {c} FROM {t} UNION SELECT {d} FROM {t}",
        "SELECT SUM({c}) / COUNT({d}) FROM {t}",
        "SELECT CAST({c} AS TEXT) || '{{x}} $y' FROM {t}",
        'SELECT {c} AS "a b", {c} AS "a b" FROM {t}',
    ),
    "questions: ties": (
        "SELECT {c} FROM {t} ORDER BY {d} DESC LIMIT 2",
        "SELECT {c}, COUNT(*) FROM {t} GROUP BY {c} ORDER BY COUNT(*) DESC LIMIT 1",
        "SELECT (SELECT {c} FROM {t} ORDER BY {d} LIMIT 1)",
        "SELECT ROW_NUMBER() OVER (ORDER BY {c}), {d} FROM {t}",
        "SELECT {c} FROM {t} LIMIT 1",
        "SELECT {c}, {d} FROM {t} ORDER BY {c} LIMIT 3 OFFSET 1",
    ),
    "questions: clock": (
        "SELECT CURRENT_DATE",
        "SELECT {c} FROM {t} WHERE {c} < CURRENT_TIMESTAMP",
        "SELECT RANDOM()",
    ),
    "questions: empty": (
        "SELECT 1",
        "SELECT NULL",
        "SELECT {c} FROM {t} WHERE 1 = 0",
        "VALUES (1), (2)",
    ),
    "questions: broken": (
        "SELECT nothing FROM {t}",
        "SELECT {c} FROM nowhere",
        "DELETE FROM {t}",
        "SELECT {c} FROM {t}; SELECT 2",
        "SELEC {c}",
        "EXPLAIN SELECT 1",
        "PRAGMA table_info({t})",
        "-- nothing",
        "SELECT {c} FROM {t} ORDER BY 1, 2, 3",
    ),
}
"""Gold queries about a table and two of its columns."""

WORDS = ("How many?", "Which {x} costs $y?", "氏名?", "a\nb", "%s %(a)s", "<|im_end|>", " ")
ODD: tuple[dict[str, Any], ...] = (
    {"question": None},
    {"question": 7},
    {"SQL": None},
    {"SQL": 7},
    {"SQL": ""},
    {"difficulty": "hard as nails"},
    {"evidence": None},
    {"evidence": ["a"]},
    {"question_id": "q1"},
    {"question_id": None},
    {"question_id": {"a": 1}},
    {"db_id": "no such"},
    {"db_id": "../up"},
    {"db_id": 7},
)
"""Fields as nobody should write them."""


@st.composite
def golds(draw: st.DrawFn, tables: dict[str, list[str]], engine: str = SQLITE) -> str:
    """A query about one of the tables."""
    table = draw(st.sampled_from(sorted(tables)))
    names = [quoted(name, engine) for name in tables[table]]
    forms = [form for kind in GOLDS if kind not in NOT_YET for form in GOLDS[kind]]
    form = draw(st.sampled_from(forms))
    return form.format(
        t=quoted(table, engine), c=draw(st.sampled_from(names)), d=draw(st.sampled_from(names))
    )


@st.composite
def question_sets(
    draw: st.DrawFn, tables: dict[str, list[str]], name: str, engine: str = SQLITE
) -> list[dict[str, Any]]:
    """Questions in the form of BIRD, some with a fault."""
    out: list[dict[str, Any]] = []
    faulty = "questions: faulty entries" not in NOT_YET and draw(st.booleans())
    for _ in range(draw(st.integers(1, 20))):
        entry: dict[str, Any] = {
            "db_id": name,
            "question": draw(st.sampled_from(WORDS[:-1])),
            "SQL": draw(golds(tables, engine)),
        }
        if faulty and out and draw(st.integers(0, 3)) == 0:
            entry |= draw(st.sampled_from(ODD))
        out.append(entry)
    return out


def as_json(questions: list[dict[str, Any]]) -> bytes:
    """The file of the questions."""
    return json.dumps(questions, ensure_ascii=False).encode()


def tables_of(file: Path) -> dict[str, list[str]]:
    """The columns of each table that is not virtual, as SQLite lists them."""
    with closing(sqlite3.connect(file)) as db:
        listed = db.execute("SELECT name FROM pragma_table_list WHERE type = 'table'").fetchall()
        return {
            name: [
                str(row[1]) for row in db.execute("SELECT * FROM pragma_table_xinfo(?)", (name,))
            ]
            for (name,) in listed
            if not name.startswith("sqlite_")
        }


def columns_on_server(url: str) -> dict[str, list[str]]:
    """The columns of each table of a server's database."""
    engine = sqlalchemy.create_engine(url)
    try:
        inspector = sqlalchemy.inspect(engine)
        return {
            name: [str(column["name"]) for column in inspector.get_columns(name)]
            for name in inspector.get_table_names()
        }
    finally:
        engine.dispose()
