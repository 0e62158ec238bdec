"""Roles of columns: inferred once, shown, corrected by the author, and followed everywhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from synth.errors import OperatorError
from synth.ext.authoring.cli.new import main
from synth.ext.authoring.names import be, said
from synth.ext.authoring.reflect import reflect
from synth.ext.authoring.roles import is_plumbing, read_roles, write_roles
from synth.ext.authoring.shape import Shape
from synth.ext.authoring.source import from_files
from synth.ext.authoring.toolset import tools_of
from synth.ext.authoring.world import make_world

SCHEMA = """
CREATE TABLE parcels ( -- What is on its way
  id INTEGER PRIMARY KEY,
  flags INTEGER NOT NULL, -- bits of the scanner
  sort_order INTEGER NOT NULL,
  month_of_birth INTEGER,
  latitude NUMERIC,
  deleted INTEGER NOT NULL, locked INTEGER NOT NULL,
  weight NUMERIC NOT NULL,
  miles INTEGER NOT NULL,
  vat_pct INTEGER NOT NULL,
  price NUMERIC NOT NULL,
  type INTEGER NOT NULL,
  scanned_at INTEGER NOT NULL,
  version INTEGER NOT NULL, crtd NUMERIC NOT NULL,
  num_stops NUMERIC NOT NULL, -- Stops on the
  eta DATE, -- Day of arrival
  state TEXT NOT NULL CHECK (state IN ('open', 'shipped')),
  created_by TEXT,
  url TEXT, pin TEXT
);
INSERT INTO parcels
SELECT value, value % 7 * 4, value, value % 12, 48 + value / 9.0, value % 2, 0, value * 1.5,
  value * 3, 7, value * 2.25, value % 3, 1700000000 + value, 1, value * 2, value + 0.5,
  '2026-01-1' || (value % 9), CASE value % 2 WHEN 0 THEN 'open' ELSE 'shipped' END, 'job',
  'https://a.example/' || value, value + 1000
FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 30)
  SELECT value FROM n);
"""
ROLES: dict[str, str] = yaml.safe_load("""
  {id: key, flags: category, sort_order: position, month_of_birth: code, latitude: coordinate,
  deleted: audit, locked: flag, weight: quantity, miles: measure, vat_pct: share, price: money,
  type: category, scanned_at: moment, version: version, eta: moment, state: status,
  created_by: audit, url: identifier}
""")
STRAY: dict[str, str] = yaml.safe_load("""
  {death DATE: moment, refills INTEGER: measure, quantity INTEGER: quantity, given BOOLEAN: flag,
  taken_time TIME: moment, app_version TEXT: version, batch_no TEXT: code, state TEXT: text,
  city TEXT: text, medium TEXT: category, total_bytes INTEGER: measure, max_bytes INTEGER: quantity,
  value_as_number NUMERIC: measure, number_of_days INTEGER: quantity, note TEXT: text,
  time_worked INTEGER: measure, minvalue INTEGER: quantity, changedate DATE: audit, upc TEXT: code,
  min_zoom_step INTEGER: quantity, free_mem INTEGER: measure, return_delay INTEGER: quantity,
  valid_until DATE: moment, renew_timer INTEGER: quantity, relay_address INTEGER: code}
""")
"""Columns with the roles that they have whatever stands in some of them."""
SAID: dict[str, str] = yaml.safe_load("""
  {num_changes: number of changes, no_of_beds: number of beds, area_km2: area in square kilometres,
  elevation_m: elevation in metres, room_no: room number, track_count: number of tracks,
  max_connections: maximum number of connections, max_age: maximum age, rt_name: name,
  max_connections_per_user: maximum number of connections per user}
""")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("roles") / "schema.sql"
    path.write_text(SCHEMA)
    return path


@pytest.fixture(scope="module")
def shape(file: Path) -> Shape:
    return reflect(from_files([file]).engine)


def test_each_column_has_a_role(shape: Shape):
    assert {name: shape.tables["parcels"].column(name).role for name in ROLES} == ROLES


def test_the_type_and_the_name_come_before_odd_values(tmp_path: Path):
    file = tmp_path / "doses.sql"
    usual = "'2025-03-0{n}', 0, {n}, 't', '08:3{n}', '1.{n}', 'B{n}7', 'Ohio', 'Lima', 'oral'"
    odd = "'unknown', 1, 'n/a', 'maybe', 'noon', 'next', '7', 'oh', 'Rome', 'iv', 0, 0, 0, 0, 'x'"
    rows = [
        f"({usual}, 0, 0, 0, 0, 'As told', 3, 4, 5, 'B', 1, {n}, 2, 3, 4, 5)".format(n=n)
        for n in range(1, 8)
    ]
    values = ", ".join([*rows, rows[0], f"({odd}, 3, 4, 5, 'B', 1, 2, 3, 4, 5, 6)"])
    file.write_text(f"CREATE TABLE doses ({', '.join(STRAY)}); INSERT INTO doses VALUES {values};")
    doses = reflect(from_files([file]).engine).tables["doses"]
    assert [column.role for column in doses.columns] == [*STRAY.values()]
    tools = tools_of(Shape({"doses": doses}))["doses"]
    assert {*tools.sorts, *tools.totals, *tools.updates}.isdisjoint({"death", "quantity", "given"})


def test_only_quantities_are_summed_compared_and_changed(shape: Shape):
    tools = tools_of(shape)["parcels"]
    assert {"weight", "miles"} <= set(tools.totals)
    other = {"flags", "sort_order", "latitude", "type", "version", "crtd"}
    assert other.isdisjoint({*tools.sorts, *tools.totals, *tools.updates})


def test_a_comment_names_a_column_and_a_table(shape: Shape):
    parcels = shape.tables["parcels"]
    assert parcels.comment == "What is on its way"
    assert parcels.column("eta").words == "day of arrival"
    assert not parcels.column("crtd").is_said


def test_roles_are_shown_and_nothing_is_written(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main([str(tmp_path / "w"), "--from", str(file), "--explain"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"price: money \(its name says an amount\)[\s\S]*\.pin: secret \(", out)
    assert "read parcels: 30 rows (table 1 of 1)" in out
    assert not (tmp_path / "w").exists()


def test_an_author_corrects_a_role(file: Path, shape: Shape):
    text = write_roles(shape)
    known = yaml.safe_load(text)
    known["parcels"] |= {"flags": "quantity", "price": "name"}
    given = read_roles(yaml.safe_dump(known), "roles.yaml")
    corrected = reflect(from_files([file]).engine, given).tables["parcels"]
    flags = corrected.column("flags")
    assert (flags.role, flags.why, corrected.handle[:1]) == ("quantity", "roles.yaml", ("price",))
    with pytest.raises(OperatorError, match=r"\.flaggs: no such column; did you mean"):
        reflect(from_files([file]).engine, {"parcels": {"flaggs": "flag"}})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("parcels: {flags: quantty}", "roles.yaml: parcels.flags: Input should be"),
        ("parcels: [flags]", "roles.yaml: parcels: Input should be"),
        ("a: b: c", "roles.yaml is not YAML"),
    ],
)
def test_a_mistake_in_the_file_is_named(text: str, message: str):
    with pytest.raises(OperatorError, match=message):
        read_roles(text, "roles.yaml")


def test_plumbing_is_known_by_name():
    assert all(map(is_plumbing, ("schema_migrations", "active_storage_blobs", "auth_permission")))
    assert not any(map(is_plumbing, ("migrations_of_birds", "django_ledger_item", "permits")))


def test_a_natural_key_is_told_and_new_values_look_like_the_column(tmp_path: Path):
    (file := tmp_path / "schema.sql").write_text(
        "CREATE TABLE clients (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
        "CREATE TABLE invoices (id INTEGER PRIMARY KEY, invoice_no TEXT NOT NULL UNIQUE,"
        " client_id INTEGER NOT NULL REFERENCES clients (id), currency TEXT NOT NULL,"
        " total NUMERIC NOT NULL);"
        "INSERT INTO clients VALUES (1, 'Ash Mills'), (2, 'Birch Works');"
        + "".join(
            f"INSERT INTO invoices VALUES ({n}, 'INV-2025-01{n:02}', {1 + n % 2},"
            f" '{'EUR' if n % 3 else 'USD'}', {n * 10.5});"
            for n in range(1, 21)
        )
    )
    made = make_world("w", from_files([file]), print, proves=False)
    create = next(draft for draft in made.drafts if draft.id == "create_invoice").body
    reply = create["gold"][-1]["say"][0]  # pyright: ignore
    assert reply.startswith("The invoice with the number {new_invoice_no} for the client {client}")
    assert set(create["vary"]["new_currency"]["choice"]) == {"EUR", "USD"}  # pyright: ignore
    numbers = create["vary"]["new_invoice_no"]["choice"]  # pyright: ignore
    assert all(re.fullmatch(r"INV-\d{4}-\d{4}", number) for number in numbers)  # pyright: ignore


def test_counts_measures_and_bounds_are_said_whole():
    assert said(dict.fromkeys(SAID)) == SAID
    assert {be(one) for one in [*SAID.values()][:6]} == {"is"}


def test_rows_and_their_parents_are_said_as_a_person_says_them(tmp_path: Path):
    """Words that say yes or no are no facts to read out, a stay ends after it starts, an attribute
    that a user has already is none to add, and a new row has more than its parent.
    """
    (file := tmp_path / "schema.sql").write_text(
        "CREATE TABLE wards (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, open TEXT,"
        " parent INTEGER REFERENCES wards (id));"
        "CREATE TABLE stays (ward INTEGER NOT NULL REFERENCES wards (id), day DATE NOT NULL,"
        " start_date DATE NOT NULL, end_date DATE NOT NULL, cost NUMERIC,"
        " PRIMARY KEY (ward, day));"
        "CREATE TABLE attributes (ward INTEGER NOT NULL REFERENCES wards (id),"
        " kind TEXT NOT NULL, PRIMARY KEY (ward, kind));"
        "CREATE TABLE notes (id INTEGER PRIMARY KEY, ward INTEGER NOT NULL REFERENCES wards (id),"
        " subject TEXT);"
        + "".join(
            f"INSERT INTO wards VALUES ({n}, 'Ward {n}0', '{'true' if n % 2 else 'false'}',"
            f" {1 + n // 4});"
            f"INSERT INTO stays VALUES ({n}, '2025-03-0{n}', '2025-03-0{n}', '2025-04-0{n}', {n}.5);"
            f"INSERT INTO attributes VALUES ({n}, 'quiet'), ({n}, 'bright');"
            f"INSERT INTO notes VALUES ({n}, {n}, 'Offer {n}');"
            for n in range(1, 9)
        )
    )
    made = make_world("w", from_files([file]), print, proves=False)
    bodies = {draft.id: draft.body for draft in made.drafts}
    texts = {name: str(body) for name, body in bodies.items()}
    assert "look_up_ward" not in bodies  # it has a name, a flag and a link
    assert "of stay {stay_day} of ward number {stay_ward}" in texts["look_up_stay"]
    assert "the the" not in texts["look_up_stay"]
    assert any("wards whose parent is {ward}" in text for text in texts.values())
    ends = bodies["create_stay"]["vary"]
    starts, ends = ends["new_start_date"]["date"], ends["new_end_date"]["date"]  # pyright: ignore
    assert max(starts) < min(ends)
    assert "new_subject" in texts["create_note"]
    assert "create_attribute" not in bodies or "NOT EXISTS" in texts["create_attribute"]
