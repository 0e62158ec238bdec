"""Issue 29: masking destroyed public names, and left names in other letters.

A country or a courier is never changed because it is also somebody's name; what is masked is
listed with a sample.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from envs.types import Column, Table
from synth.core.personal.guess import guess_columns
from synth.ext.authoring.source import Extract, Source, from_url

SCRIPT = """
CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL);
CREATE TABLE countries (country_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, motto TEXT);
CREATE TABLE couriers (courier_id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE firms (firm_id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE orders (
  order_id INTEGER PRIMARY KEY, note TEXT NOT NULL, sent_to TEXT NOT NULL, options TEXT NOT NULL
);
INSERT INTO customers VALUES (1, 'Jordan Smith', 'Chad'), (2, 'Chad Ireland', 'Jordan'),
  (3, 'Ada French', 'Ireland'), (4, 'Georgia Black', 'French Guiana');
INSERT INTO countries VALUES (1, 'Jordan', 'Ada French was here'), (2, 'Chad', NULL),
  (3, 'Ireland', NULL), (4, 'French Guiana', NULL), (5, 'United States', NULL), (6, 'Georgia', NULL);
INSERT INTO couriers VALUES (1, 'DHL'), (2, 'Jordan Express'), (3, 'UPS');
INSERT INTO firms VALUES (1, 'Georgia Black'), (2, 'Black & French');
INSERT INTO orders VALUES
  (1, 'Ada French asked for it. Smith agreed.', 'Smith, Jordan', '{"path": "/French/black"}'),
  (2, 'To be sent to Jordan by Friday.', 'Black', '{"path": "/chad/ireland"}'),
  (3, 'Write to ada.f@firm.org about it.', 'French Guiana', '[]');
"""


@pytest.fixture
def source(tmp_path: Path) -> Source:
    with sqlite3.connect(tmp_path / "live.db") as db:
        db.executescript(SCRIPT)
    db.close()
    return from_url(f"sqlite:///{tmp_path / 'live.db'}", Extract(), secret=False)


def column(source: Source, table: str, name: str) -> list[object]:
    with source.engine.connect() as db:
        return list(db.exec_driver_sql(f"SELECT {name} FROM {table} ORDER BY rowid").scalars())


def test_places_couriers_and_firms_keep_their_names(source: Source):
    assert column(source, "countries", "name") == [
        "Jordan",
        "Chad",
        "Ireland",
        "French Guiana",
        "United States",
        "Georgia",
    ]
    assert column(source, "countries", "motto")[0] == "Ada French was here"
    assert column(source, "couriers", "name") == ["DHL", "Jordan Express", "UPS"]
    assert column(source, "firms", "name") == ["Georgia Black", "Black & French"]
    assert column(source, "customers", "country") == ["Chad", "Jordan", "Ireland", "French Guiana"]


def test_people_are_masked_whole(source: Source):
    names = column(source, "customers", "name")
    assert not {"Jordan Smith", "Chad Ireland", "Ada French", "Georgia Black"} & {*names}
    first, second, third = map(str, column(source, "orders", "note"))
    assert first.startswith(f"{names[2]} asked for it.")
    assert "Smith" not in first or "Smith" in str(names[0])
    assert second == "To be sent to Jordan by Friday."
    assert "ada.f@firm.org" not in third
    assert third.startswith("Write to ")
    assert column(source, "orders", "sent_to") == [names[0], "Black", "French Guiana"]


def test_a_path_in_json_stays_a_path(source: Source):
    assert column(source, "orders", "options") == [
        '{"path": "/French/black"}',
        '{"path": "/chad/ireland"}',
        "[]",
    ]


def test_what_is_masked_is_listed_with_a_sample(source: Source):
    lines = {one.column: one.line for one in source.decisions}
    assert lines["customers.name"].startswith(
        "customers.name: name, masked, such as 'Jordan Smith' -> "
    )
    assert "personal values masked in 1" in lines["orders.sent_to"]
    assert lines["couriers.name"] == "couriers.name: kept"


@pytest.mark.parametrize(
    ("table", "name", "values", "kind"),
    [
        ("utilisateurs", "prénom", ["Zoé", "Hélène", "Aïda"], "name"),
        ("顧客", "氏名", ["青木", "石井", "上田"], "name"),
        ("顧客", "電話番号", ["03-1234-5678", "06-8765-4321"], "phone"),
        ("клиенты", "Фамилия", ["Иванова", "Петров"], "name"),
        ("personnes", "date_de_naissance", ["1980-01-02", "1991-12-12"], "birth_date"),
        ("produits", "nom", ["Lampe", "Chaise longue"], None),
        ("Заказы", "Имя", ["Лампа", "Стол"], None),
        ("couriers", "name", ["DHL", "UPS"], None),
    ],
)
def test_personal_columns_in_other_letters(
    table: str, name: str, values: list[object], kind: str | None
):
    found = guess_columns({table: Table(table, (Column(name, ""),))}, lambda *_: values)
    assert found.get((table, name)) == kind
