"""IBM/ibmi-mcp-server#154, sbroenne/mcp-server-excel#894, sqlalchemy#10275.

Names without a Latin letter, longer than a tool's, with a digit in front, or the same in all but
their number: each table has tools of its own, and SQL quotes the names as they are.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from envs.world.loader import load_world
from synth.core.validation.check import Options
from synth.core.validation.report import FamilyReport
from synth.core.validation.world import check_world
from synth.ext.authoring.folder import write_files
from synth.ext.authoring.names import labels, noun_of, nouns, shortened, snake
from synth.ext.authoring.source import from_files
from synth.ext.authoring.world import NewWorld, make_world

LONG = "quarterly_inventory_reconciliation_of_regional_distribution_centre_pallets"
SCHEMA = f"""
CREATE TABLE 倉庫 (倉庫番号 INTEGER PRIMARY KEY, 名前 TEXT NOT NULL UNIQUE, 容量 INTEGER NOT NULL);
CREATE TABLE "Größen (m²)" (
  "Größen Nr." INTEGER PRIMARY KEY, "Maß%" TEXT NOT NULL UNIQUE, "a:b" REAL NOT NULL, "a b" TEXT,
  a_b TEXT, "3pt_pct" REAL, 倉庫番号 INTEGER NOT NULL REFERENCES 倉庫 (倉庫番号)
);
CREATE TABLE {LONG} ({LONG}_id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE, cost REAL NOT NULL);
CREATE TABLE {LONG}_2 (id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE, cost REAL NOT NULL);
CREATE TABLE queue (id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE, size INTEGER NOT NULL);
CREATE TABLE queues (id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE, size INTEGER NOT NULL);
INSERT INTO 倉庫 VALUES (1, '東', 10), (2, '西', 25), (3, '南', 40);
INSERT INTO "Größen (m²)" VALUES (1, 'S%', 1.5, 'x', 'y', 0.1, 1), (2, 'M:L', 2.5, NULL, 'z', 0.2, 2),
  (3, '50%', 3.25, 'w', 'v', 0.3, 3), (4, 'XL', 9.75, 'u', 't', 0.4, 1);
INSERT INTO {LONG} VALUES (1, 'One', 1.5), (2, 'Two', 2.5), (3, 'Three', 9);
INSERT INTO {LONG}_2 VALUES (1, 'Uno', 1.5), (2, 'Due', 2.5), (3, 'Tre', 9);
INSERT INTO queue VALUES (1, 'north side', 3), (2, 'south side', 4), (3, 'west side', 9);
INSERT INTO queues VALUES (1, 'first row', 3), (2, 'last row', 4), (3, 'middle row', 9);
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> NewWorld:
    file = tmp_path_factory.mktemp("sql") / "schema.sql"
    file.write_text(SCHEMA)
    source = from_files([file])
    return make_world("w", source, print, patterns=["look_up", "change"])


def test_each_table_has_tools_of_its_own(made: NewWorld, tmp_path: Path):
    write_files(tmp_path, made.files)
    names = [tool.name for tool in load_world(tmp_path).tools]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in names)
    assert sum(name.startswith("list_") for name in names) == 6
    parameters = {
        key for tool in load_world(tmp_path).tools for key in tool.parameters["properties"]
    }
    assert all(re.fullmatch(r"[a-z_][a-z0-9_]{0,63}", key) for key in parameters)


def test_requests_keep_the_names_as_they_are(made: NewWorld):
    assert "倉庫 number {cang_ku}" in made.files["tasks.yaml"]
    assert "größen m²" in made.files["tasks.yaml"]
    assert {"look_up_queue", "look_up_queue_record"} <= made.proofs.capacity.keys()


@pytest.mark.slow
def test_the_world_proves_itself_again_in_its_folder(made: NewWorld, tmp_path: Path):
    write_files(tmp_path, made.files)
    reports = list[FamilyReport]()
    check_world(tmp_path, Options(), reports.append)
    assert len(reports) >= 6
    assert [report.family for report in reports if not report.ok] == []


@pytest.mark.parametrize(
    ("name", "identifier"),
    [
        ("AlbumId", "album_id"),
        ("Länge [m]", "lange_m"),
        ("3pt_pct", "n_3pt_pct"),
        ("Заказы", "zakazy"),
        ("顧客", "gu_ke"),
        ("🚀", "rocket"),
        ("§$%", "s"),
        (" ", "value"),
    ],
)
def test_a_name_becomes_an_identifier(name: str, identifier: str):
    assert snake(name) == identifier


def test_columns_that_differ_in_marks_alone_have_labels_of_their_own():
    assert len(set(labels(["a b", "a_b", "A:B", "class", "class_value"]).values())) == 5


def test_what_is_cut_off_still_tells_names_apart():
    one, other = shortened("x" * 100 + "1", 64), shortened("x" * 100 + "2", 64)
    assert len(one) == 64
    assert one != other


def test_nouns_are_distinct_and_keep_their_letters():
    found = nouns(dict.fromkeys(["queue", "queues", "Bücher", "queue_record"], ()))
    assert len({noun.one for noun in found.values()}) == 4
    assert found["queues"].words == "queue record"
    assert noun_of("Bücher").words == "bücher"
