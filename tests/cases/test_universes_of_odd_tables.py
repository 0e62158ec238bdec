"""Issue 29, public schemata: one rule or one table that fails took the whole seed.py.

A table whose rows cannot be drawn or loaded keeps its own in every universe, by name, and the
others get new rows.
"""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from envs.world.row_generator import MadeTable, Serial, When
from synth.ext.authoring.learn import Learned, Unlearnable, fault_of, learn
from synth.ext.authoring.reflect import reflect
from synth.ext.authoring.seed_file import write_seed_file
from synth.ext.authoring.source import from_files

OTHERS = """
CREATE TABLE clients (client_id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE, fee REAL NOT NULL);
INSERT INTO clients VALUES (1, 'Red barn', 1.5), (2, 'Old mill', 20), (3, 'Long pier', 3.25),
  (4, 'Far field', 8);
"""


def learned(script: str, folder: Path, schema: str | None = None) -> Learned:
    file = folder / "schema.sql"
    file.write_text(script)
    source = from_files([file])
    return learn(source.engine, reflect(source.engine), source.personal, schema or source.schema)


def rows_of(found: Learned, universe: int) -> dict[str, list[dict[str, object]]]:
    names: dict[str, object] = {}
    exec(compile(write_seed_file(found.tables), "seed.py", "exec"), names)
    out = dict[str, list[dict[str, object]]]()
    rows = names["rows"]
    assert callable(rows)
    for table, row in rows(universe, Random(universe)):
        out.setdefault(table, []).append(row)
    return out


def test_numbers_that_happen_to_be_in_order_are_no_rule(tmp_path: Path):
    script = OTHERS + (
        "CREATE TABLE nodes (node_id INTEGER PRIMARY KEY, max_links INTEGER, proxy_size INTEGER,"
        " min_level INTEGER, max_level INTEGER);"
        "INSERT INTO nodes VALUES (1, 5, 5, 1, 9), (2, 6, 6, 2, 8), (3, 7, 7, 8, 9),"
        " (4, 8, 8, 1, 1), (5, 8, 9, 5, 7);"
    )
    found = learned(script, tmp_path)
    table = next(one for one in found.tables if one.name == "nodes")
    assert getattr(table, "rules", None) == ["min_level <= max_level"]
    assert all(row["min_level"] <= row["max_level"] for row in rows_of(found, 3)["nodes"])


def test_many_columns_make_no_condition_that_is_too_deep(tmp_path: Path):
    names = [f"{side}_{n}" for n in range(600) for side in ("min", "max")]
    columns = ", ".join(f"{name} INTEGER" for name in names)
    values = ", ".join(
        f"({key}, {', '.join(str(key + 100 * (at % 2)) for at in range(1200))})"
        for key in (1, 2, 3)
    )
    script = f"{OTHERS}CREATE TABLE wide (id INTEGER PRIMARY KEY, {columns});"
    found = learned(f"{script}INSERT INTO wide VALUES {values};", tmp_path)
    assert found.kept == {}
    assert len(rows_of(found, 1)["wide"]) == 3


def test_a_table_whose_rows_cannot_be_drawn_keeps_its_own_with_what_it_refers_to(tmp_path: Path):
    script = OTHERS + (
        "CREATE TABLE zones (zone TEXT PRIMARY KEY, since TEXT NOT NULL);"
        "CREATE TABLE odd (id INTEGER PRIMARY KEY, zone TEXT NOT NULL REFERENCES zones (zone),"
        " sum INTEGER NOT NULL, CHECK (sum * 7919 % 104729 = 17 * id));"
        "INSERT INTO zones VALUES ('north', '2026-01-01'), ('south', '2026-01-03');"
        "INSERT INTO odd VALUES (1, 'north', 81989), (2, 'south', 59249), (3, 'north', 36509);"
    ).replace("81989", str(_root(1))).replace("59249", str(_root(2))).replace(
        "36509", str(_root(3))
    )
    found = learned(script, tmp_path)
    assert found.kept.keys() == {"odd", "zones"}
    assert found.kept["zones"] == "odd refers to it"
    assert [row["id"] for row in rows_of(found, 5)["odd"]] == [1, 2, 3]
    assert min(row["client_id"] for row in rows_of(found, 5)["clients"]) == 5001


def _root(key: int) -> int:
    return next(value for value in range(104_729) if value * 7919 % 104_729 == 17 * key)


def test_tables_in_a_circle_have_other_rows(tmp_path: Path):
    schema = OTHERS.partition("INSERT")[0] + (
        "CREATE TABLE teams (id INTEGER PRIMARY KEY, lead INTEGER NOT NULL"
        " REFERENCES members (id) DEFERRABLE INITIALLY DEFERRED);"
        "CREATE TABLE members (id INTEGER PRIMARY KEY, team INTEGER NOT NULL"
        " REFERENCES teams (id) DEFERRABLE INITIALLY DEFERRED);"
    )
    rows = (
        "INSERT INTO"
        + OTHERS.partition("INSERT INTO")[2]
        + (
            "INSERT INTO teams VALUES (1, 11), (2, 22);"
            "INSERT INTO members VALUES (11, 1), (12, 1), (22, 2);"
        )
    )
    found = learned(schema + rows, tmp_path, schema)
    assert not found.kept
    made = rows_of(found, 2)
    leads, teams = {row["lead"] for row in made["teams"]}, {row["id"] for row in made["teams"]}
    assert leads < {row["id"] for row in made["members"]}
    assert {row["team"] for row in made["members"]} <= teams


def test_keys_of_nineteen_digits_stay_within_64_bits(tmp_path: Path):
    top = 2**63 - 1
    script = OTHERS + (
        "CREATE TABLE posts (id BIGINT PRIMARY KEY, likes BIGINT NOT NULL);"
        f"INSERT INTO posts VALUES (2512292042121000001, 1), ({top}, {top}), (2512292042121000007, 5);"
    )
    found = learned(script, tmp_path)
    assert found.kept == {}
    for universe in (1, 2, 1000):
        keys = [row["id"] for row in rows_of(found, universe)["posts"]]
        assert all(len(str(key)) == 19 and key <= top for key in keys)
    assert Serial(1000).start == 0


def test_days_that_no_calendar_has_and_the_first_years(tmp_path: Path):
    script = OTHERS + (
        "CREATE TABLE days (id INTEGER PRIMARY KEY, zero TEXT, early TEXT, late TEXT);"
        "INSERT INTO days VALUES (1, '0000-00-00', '0031-01-02', '9999-12-31'),"
        " (2, '2024-02-30', '0812-10-12', '9998-01-01'), (3, '2024-02-29', '1999-01-01', '9990-05-05');"
    )
    found = learned(script, tmp_path)
    assert found.kept == {}
    assert all(len(str(row["early"])) == 10 for row in rows_of(found, 1)["days"])


def test_a_table_that_fails_as_its_rows_are_drawn_is_the_one_that_keeps_them():
    schema = "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (at TEXT);"
    good = MadeTable("a", 2, {"id": Serial(2)})
    late = MadeTable("b", 1, {"at": When(["1970-01-01T10:77:00"] * 2)})
    found = fault_of([good, late], schema, 1)
    assert found is not None
    assert found[0] == "b"


def test_codes_that_look_like_times_are_no_times(tmp_path: Path):
    script = OTHERS + (
        "CREATE TABLE parts (part_id INTEGER PRIMARY KEY, shelf TEXT);"
        "INSERT INTO parts VALUES (1, '10:05'), (2, '10:77'), (3, '99:10'), (4, '11:30');"
    )
    found = learned(script, tmp_path)
    assert found.kept == {}
    assert all(re.fullmatch(r"\d\d:\d\d", str(row["shelf"])) for row in rows_of(found, 1)["parts"])


def test_a_unique_name_in_other_letters_stays_unique(tmp_path: Path):
    names = ", ".join(f"({key}, '{key % 7}°{key}')" for key in range(1, 30))
    script = f"{OTHERS}CREATE TABLE 町 (番号 INTEGER PRIMARY KEY, 名 TEXT NOT NULL UNIQUE);"
    found = learned(f"{script}INSERT INTO 町 VALUES {names};", tmp_path)
    assert found.kept == {}
    made = [row["名"] for row in rows_of(found, 1)["町"]]
    assert len(set(made)) == len(made)


def test_no_seed_is_written_where_every_table_keeps_its_rows(tmp_path: Path):
    script = "CREATE TABLE a (id INTEGER PRIMARY KEY, b TEXT); INSERT INTO a VALUES (1, 'x');"
    with pytest.raises(Unlearnable, match="small or empty"):
        learned(script, tmp_path)


def test_what_does_not_load_is_found_by_its_table(tmp_path: Path):
    found = learned(OTHERS, tmp_path)
    schema = "CREATE TABLE clients (client_id INTEGER, title TEXT, fee REAL CHECK (fee > 1000));"
    assert fault_of(found.tables, schema, 1) == ("clients", "CHECK constraint failed: fee > 1000")
