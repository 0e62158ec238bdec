"""Sets of questions as evaluations of text-to-SQL publish them, asked of an existing database.

One question must not end the run of the others. What is tied, reads the clock, sorts NULL first or
stands in another schema is asked, with a note; what has no answer of its own is left out by name.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlalchemy

from synth.core.dataset.reader import Dataset
from tests.e2e.command import synth
from tests.unit.envs.sandboxes.attached.databases import on_server, run, sqlite_file

pytestmark = pytest.mark.slow

TABLES = (
    "CREATE TABLE {s}customer (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL, city VARCHAR(40))",
    (
        "CREATE TABLE {s}sale (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, sold DATE NOT NULL,"
        " amount DOUBLE PRECISION, code VARCHAR(10))"
    ),
    (
        "INSERT INTO {s}customer VALUES (1, 'Ada', 'Ulm'), (2, 'Ben', 'Ulm'), (3, 'Cleo', NULL),"
        " (4, 'Dora', 'Kiel'), (5, 'Eve', 'Kiel')"
    ),
    (
        "INSERT INTO {s}sale VALUES (1, 1, '2026-01-10', 10.5, '9'), (2, 1, '2026-02-11', 4.5, '10'),"
        " (3, 2, '2026-02-12', 15, '2'), (4, 3, '2025-12-30', 7.25, '11'), (5, 4, '2025-06-01', NULL, '7'),"
        " (6, 5, '2026-03-01', 3, '3')"
    ),
    "CREATE VIEW {s}past AS SELECT id, amount FROM {s}sale WHERE sold < CURRENT_DATE",
    "CREATE VIEW {s}paid AS SELECT id FROM {s}past WHERE amount IS NOT NULL",
)
LATER = (
    "DROP VIEW {s}paid",
    "DROP VIEW {s}past",
    "CREATE VIEW {s}past AS SELECT id, amount FROM {s}sale WHERE sold < CURRENT_DATE AND id < 3",
    TABLES[-1],
)
"""The views as if they were read at another time."""
NOW = "2026-03-15T12:00:00"

PORTABLE = {
    "tie": "SELECT c.name, SUM(s.amount) AS total FROM {s}customer c JOIN {s}sale s ON"
    " s.customer_id = c.id GROUP BY c.name HAVING SUM(s.amount) > 1 ORDER BY total DESC LIMIT 1",
    "tied order": "SELECT name, city FROM {s}customer WHERE city IS NOT NULL ORDER BY city",
    "union": "SELECT name FROM {s}customer UNION SELECT code FROM {s}sale ORDER BY 1 LIMIT 3",
    "window": "SELECT name, r FROM (SELECT c.name, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM"
    " {s}customer c JOIN {s}sale s ON s.customer_id = c.id GROUP BY c.name) AS x WHERE r = 1",
    "within": "WITH best AS (SELECT customer_id, SUM(amount) AS total FROM {s}sale WHERE amount IS"
    " NOT NULL GROUP BY customer_id ORDER BY total DESC, customer_id LIMIT 2) SELECT c.name FROM best"
    " JOIN {s}customer c ON c.id = best.customer_id",
    "nulls": "SELECT city, COUNT(*) AS n FROM {s}customer GROUP BY city ORDER BY city DESC",
    "text": "SELECT code FROM {s}sale ORDER BY code",
    "view": "SELECT id FROM {s}paid",
    "clock": "SELECT COUNT(*) FROM {s}sale WHERE EXTRACT(YEAR FROM sold) = EXTRACT(YEAR FROM"
    " CURRENT_DATE)",
}
LEFT_OUT = {
    "open within": "SELECT name FROM {s}customer WHERE id IN (SELECT customer_id FROM {s}sale ORDER"
    " BY sold > '1999-01-01' LIMIT 2)",
    "open window": "SELECT name FROM (SELECT name, ROW_NUMBER() OVER (PARTITION BY city ORDER BY"
    " city) AS r FROM {s}customer) AS x WHERE r = 1",
    "any rows": "SELECT name FROM {s}customer LIMIT 2",
    "empty": "SELECT name FROM {s}customer WHERE city = 'Rome'",
    "null": "SELECT MAX(amount) FROM {s}sale WHERE amount > 1000",
    "constant": "SELECT 42 AS answer",
    "fails": "SELECT nme FROM {s}customer",
    "writes": "DELETE FROM {s}customer",
    "chance": "SELECT name FROM {s}customer ORDER BY {random}() LIMIT 1",
}
OWN = {
    "postgresql": {
        "this year": "SELECT c.name FROM sales.customer c JOIN sales.sale s ON s.customer_id = c.id"
        " WHERE s.sold >= DATE_TRUNC('year', now()) GROUP BY c.name ORDER BY COUNT(*) DESC LIMIT 2",
        "ago": "SELECT id FROM sales.sale WHERE sold > CURRENT_DATE - INTERVAL '1 month'",
        "age": "SELECT id, EXTRACT(MONTH FROM AGE(sold))::int FROM sales.sale",
        "distinct on": "SELECT DISTINCT ON (customer_id) customer_id, amount FROM sales.sale ORDER BY"
        " customer_id, sold DESC",
        "groups": "SELECT city, COUNT(*), GROUPING(city) FROM sales.customer GROUP BY ROLLUP (city)"
        " ORDER BY city NULLS FIRST",
        "percent": "SELECT name FROM sales.customer WHERE name LIKE '%a%' FETCH FIRST 9 ROWS ONLY",
        "series": "SELECT g.n, COUNT(s.id) FROM generate_series(1, 3) AS g(n) LEFT JOIN sales.sale s"
        " ON EXTRACT(MONTH FROM s.sold) = g.n GROUP BY g.n ORDER BY g.n",
    },
    "duckdb": {
        "this year": "SELECT DATE_TRUNC('month', sold) AS m, SUM(amount) FROM sales.sale WHERE sold >="
        " DATE_TRUNC('year', today()) GROUP BY ALL ORDER BY ALL",
        "qualify": "SELECT customer_id, sold FROM sales.sale QUALIFY RANK() OVER (PARTITION BY"
        " customer_id ORDER BY sold DESC) = 1",
    },
    "mariadb": {
        "this year": "SELECT COUNT(*) FROM sale WHERE YEAR(sold) = YEAR(CURDATE()) AND sold < NOW()",
        "ago": "SELECT id FROM sale WHERE sold > DATE_SUB(CURDATE(), INTERVAL 1 MONTH) ORDER BY id",
    },
    "sqlite": {
        "this year": "SELECT COUNT(*) FROM sale WHERE strftime('%Y', sold) = strftime('%Y', 'now')",
        "ago": "SELECT id FROM sale WHERE sold > date('now', '-1 month')",
    },
}


SCHEMAS = {"postgresql", "duckdb"}
"""The engines whose tables are in a schema of their own."""


def questions(engine: str) -> list[dict[str, Any]]:
    marks = {
        "s": "sales." if engine in SCHEMAS else "",
        "random": "RAND" if engine == "mariadb" else "RANDOM",
    }
    own = {name: sql for name, sql in PORTABLE.items() if engine != "sqlite" or name != "clock"}
    out = [
        {"question_id": name, "question": f"{name}, please?", "SQL": sql.format(**marks)}
        for name, sql in {**own, **LEFT_OUT}.items()
    ]
    out += [
        {"question_id": name, "question": f"{name}, please?", "query": sql}
        for name, sql in OWN[engine].items()
    ]
    return [*out, {"question": "no query"}, {"SQL": "SELECT 1", "question": None}, 7]


@pytest.fixture(params=sorted(OWN))
def asked(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[tuple[str, str]]:
    """An engine, and the URL of the database; its tables are in another schema where there are
    schemas.
    """
    engine: str = request.param
    script = ("CREATE SCHEMA sales", *TABLES) if engine in SCHEMAS else TABLES
    (tmp_path / "set.json").write_text(json.dumps(questions(engine)), "utf-8")
    if engine in {"sqlite", "duckdb"}:
        file = tmp_path / "shop.duckdb"
        url = sqlite_file(tmp_path) if engine == "sqlite" else f"duckdb:///{file}"
        execute(engine, url, script)
        yield engine, url
    else:
        with on_server(engine) as url:
            execute(engine, url, script)
            yield engine, sqlalchemy.make_url(url).render_as_string(hide_password=False)


def execute(engine: str, url: str, script: Sequence[str]) -> None:
    """Execute a script as the database's owner."""
    lines = [line.format(s="sales." if engine in SCHEMAS else "") for line in script]
    if engine != "duckdb":
        run(url, *lines)
        return
    with duckdb.connect(url.removeprefix("duckdb:///")) as raw:
        for line in lines:
            raw.execute(line)


def test_a_set_of_questions_is_asked(asked: tuple[str, str], tmp_path: Path):
    engine, url = asked
    due = [one for one in questions(engine) if isinstance(one, dict) and "question_id" in one]
    due = [one for one in due if one["question_id"] not in LEFT_OUT]
    job = ("run", "database=attached", "database.dsn_env_var=THE_DB", "tasks=questions")
    options = ("tasks.path=set.json", f"tasks.options.now={NOW}", "runtime=inline")
    count = f"tasks.count={len(due)}"
    plan = synth(*job, *options, count, "--dry-run", "--json", cwd=tmp_path, env={"THE_DB": url})
    account = json.loads(plan.stdout)["account"]
    counts = account["counts"]["question"]
    assert counts["found"] == len(questions(engine))
    left_out = {
        one["name"]: one["why"] for one in account["entries"] if one["outcome"] == "left_out"
    }
    unread = {str(counts["found"] - back) for back in (0, 1, 2)}
    assert left_out.keys() == {*(f"questions {name}" for name in LEFT_OUT), *unread}
    assert left_out["questions writes"] == "it writes, and questions only read"
    synth(*job, *options, count, "output.dir=out", cwd=tmp_path, env={"THE_DB": url})
    with Dataset.open(tmp_path / "out") as dataset:
        rows = list(dataset.rows())
    assert [row["reward"] for row in rows] == [1.0] * len(due)
    notes = {one["name"]: one["why"] for one in account["entries"] if one["outcome"] == "changed"}
    for name, note in {
        "tie": "tie",
        "tied order": "tie",
        "text": "text_number",
        "this year": "clock",
        "view": "clock",
    }.items():
        assert f"the note {note}" in notes[f"questions {name}"]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert manifest["account"]["counts"]["question"] == counts
    assert manifest["account"]["entries"] == account["entries"]
    where = "CAST(verdicts AS VARCHAR) LIKE '%text_number%'"
    shown = synth("inspect", "out", "--where", where, "--columns", "task_id", cwd=tmp_path)
    assert "questions-" in shown.stdout, shown.stderr
    execute(engine, url, LATER)
    synth("replay", "out", cwd=tmp_path, env={"THE_DB": url})


def test_a_question_whose_gold_fails_its_proof_is_left_out_and_the_others_are_asked(tmp_path: Path):
    """The plan reads each answer whole; a tool of this run gives three rows at most."""
    url = sqlite_file(tmp_path)
    run(url, *(line.format(s="") for line in TABLES))
    asked = {"few": "name = 'Ada'", "many": "id < 5", "after": "id = 3"}
    entries = [
        {
            "question_id": name,
            "question": name,
            "SQL": f"SELECT name FROM customer WHERE {condition}",
        }
        for name, condition in asked.items()
    ]
    (tmp_path / "set.json").write_text(json.dumps(entries), "utf-8")
    job = ("run", "database=attached", "database.dsn_env_var=THE_DB", "database.max_rows=3")
    more = ("tasks=questions", "tasks.path=set.json", "tasks.count=3", "runtime=inline")
    done = synth(*job, *more, cwd=tmp_path, env={"THE_DB": url}, code=None)
    assert "the statement gives more than 3 rows" in done.stdout + done.stderr
    (out,) = (tmp_path / "outputs").glob("set.json_*")
    with Dataset.open(out) as dataset:
        assert {row["messages"][1]["content"] for row in dataset.rows()} == {"few", "after"}
    account = json.loads((out / "manifest.json").read_text("utf-8"))["account"]
    (left_out,) = account["entries"]
    assert left_out["name"].startswith("questions-")
    assert account["counts"]["proof"] == {"found": 3, "used": 2, "changed": 0, "left_out": 1}


def test_full_texts_are_asked_and_a_table_that_cannot_be_read_is_named(tmp_path: Path):
    """One virtual table ended the run: "vtable constructor failed"."""
    url = sqlite_file(tmp_path)
    run(
        url,
        "CREATE VIRTUAL TABLE search USING fts5(body)",
        "INSERT INTO search VALUES ('milk and bread'), ('nothing')",
        "PRAGMA writable_schema = ON",
        "INSERT INTO sqlite_master VALUES ('table', 'places', 'places', 0, 'CREATE VIRTUAL TABLE"
        " places USING nowhere(a)')",
    )
    golds = {
        "milk": "SELECT body FROM search WHERE search MATCH 'milk'",
        "places": "SELECT * FROM places",
    }
    entries = [{"question_id": name, "question": name, "SQL": sql} for name, sql in golds.items()]
    (tmp_path / "set.json").write_text(json.dumps(entries), "utf-8")
    job = ("run", "database=attached", "database.dsn_env_var=THE_DB", "tasks=questions")
    more = ("tasks.path=set.json", "runtime=inline", "output.dir=out")
    refused = synth(*job, *more, "tasks.count=2", cwd=tmp_path, env={"THE_DB": url}, code=None)
    assert "left out questions places: its query fails" in refused.stdout + refused.stderr
    synth(*job, *more, "tasks.count=1", cwd=tmp_path, env={"THE_DB": url})
    with Dataset.open(tmp_path / "out") as dataset:
        assert [row["reward"] for row in dataset.rows()] == [1.0]
    account = json.loads((tmp_path / "out/manifest.json").read_text("utf-8"))["account"]
    left_out = {(one["kind"], one["name"]) for one in account["entries"]}
    assert left_out == {("table", "places"), ("question", "questions places")}
