"""Server databases that queries are judged on besides the task's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from envs.sandboxes.base import DatabaseTarget, Template
from envs.sandboxes.server.altered_rows import ALTERATIONS
from envs.types import Limits, Pins
from envs.world.loader import load_world
from tests.servers import server

SCHEMA = """\
CREATE TABLE towns (town_id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL UNIQUE,
  capital INTEGER REFERENCES towns (town_id));
CREATE TABLE shops (town_id INTEGER NOT NULL, number INTEGER NOT NULL, owner VARCHAR(40) NOT NULL,
  staff INTEGER NOT NULL CHECK (staff > 0), area INTEGER NOT NULL, per_head INTEGER
    GENERATED ALWAYS AS (area + staff) STORED,
  PRIMARY KEY (town_id, number), FOREIGN KEY (town_id) REFERENCES towns (town_id),
  CHECK (area > staff));
CREATE TABLE visits (town_id INTEGER NOT NULL, number INTEGER NOT NULL, day DATE NOT NULL,
  FOREIGN KEY (town_id, number) REFERENCES shops (town_id, number));
"""
TRIGGERS = {
    "postgresql": """\
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'visits stay'; END $$;
CREATE TRIGGER stay BEFORE DELETE ON visits FOR EACH ROW EXECUTE FUNCTION refuse();
""",
    "mysql": """\
CREATE TRIGGER stay BEFORE DELETE ON visits FOR EACH ROW
  SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'visits stay';
""",
}
QUERIES = {
    "towns": "SELECT COUNT(*) FROM towns",
    "staff": "SELECT staff FROM shops WHERE town_id = 3 AND number = 1",
    "owner": "SELECT owner FROM shops WHERE town_id = 3 AND number = 1",
    "visits": "SELECT COUNT(*) FROM visits WHERE town_id = 3",
}


def world(folder: Path, dialect: str) -> Path:
    folder.mkdir()
    towns = [f"({town}, 'Town {town}', {1 if town > 1 else 'NULL'})" for town in range(1, 25)]
    shops = [
        f"({town}, {number}, 'Owner {town * 7 + number}', {town + number}, {town * 100 + number})"
        for town in range(1, 25)
        for number in range(1, 4)
    ]
    visits = [
        f"({town}, {number}, '2026-03-{town:02}')"
        for town in range(1, 25)
        for number in range(1, 4)
    ]
    seed = (
        f"INSERT INTO towns VALUES {', '.join(towns)};\n"
        f"INSERT INTO shops (town_id, number, owner, staff, area) VALUES {', '.join(shops)};\n"
        f"INSERT INTO visits VALUES {', '.join(visits)};\n"
    )
    (folder / "schema.sql").write_text(SCHEMA + TRIGGERS[dialect], "utf-8")
    (folder / "seed.sql").write_text(seed, "utf-8")
    (folder / "policy.md").write_text("You answer questions.\n", "utf-8")
    (folder / "tools.yaml").write_text("- builtin: [run_select_query]\n", "utf-8")
    return folder


def answers(template: Template, sql: str) -> list[tuple[object, ...]]:
    with (
        template.open(Pins("2026-03-02T09:00:00", 1)) as sandbox,
        sandbox.transaction(Limits()) as transaction,
    ):
        return [tuple(row) for row in transaction.connection.execute(text(sql)).all()]


@pytest.fixture(scope="module", params=["postgresql", "mysql"])
def template(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Template]:
    dialect = request.param
    folder = world(tmp_path_factory.mktemp(dialect) / "towns", dialect)
    with load_world(folder).template(dialect, place=DatabaseTarget(server(dialect))) as template:
        yield template


@pytest.mark.parametrize("name", QUERIES)
def test_an_answer_that_was_learnt_by_heart_is_wrong_on_two_databases(
    template: Template, name: str
):
    right = answers(template, QUERIES[name])
    others = [answers(sibling, QUERIES[name]) for sibling in template.siblings]
    assert len(others) == len(ALTERATIONS)
    telling = [answer for answer in others if answer and answer != right]
    assert len(telling) >= 2


def test_each_row_is_missing_somewhere_and_no_reference_dangles(template: Template):
    every = set(answers(template, "SELECT town_id, number FROM shops"))
    missing: set[tuple[object, ...]] = set()
    for sibling in template.siblings:
        kept = set(answers(sibling, "SELECT town_id, number FROM shops"))
        missing |= every - kept
        for child, parent, columns in (
            ("shops", "towns", ["town_id"]),
            ("visits", "shops", ["town_id", "number"]),
        ):
            joined = " AND ".join(f"p.{column} = c.{column}" for column in columns)
            dangling = (
                f"SELECT * FROM {child} c LEFT JOIN {parent} p ON {joined} WHERE p.town_id IS NULL"
            )
            assert answers(sibling, dangling) == []
        capitals = "SELECT * FROM towns t LEFT JOIN towns c ON c.town_id = t.capital"
        assert answers(sibling, f"{capitals} WHERE t.capital > 0 AND c.town_id IS NULL") == []
    assert missing == every


def test_keys_and_generated_columns_hold(template: Template):
    for sibling in template.siblings:
        keys = answers(sibling, "SELECT town_id, number FROM shops")
        assert len(keys) == len(set(keys))
        names = answers(sibling, "SELECT name FROM towns")
        assert len(names) == len(set(names))
        assert answers(sibling, "SELECT * FROM shops WHERE per_head <> area + staff") == []
