"""Issue 29; sqlalchemy#13511 and #13509, agent-world-model#3: one table, key or row that a world
cannot hold is left out by name, and the others are read.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
import sqlalchemy

from synth.errors import OperatorError
from synth.ext.authoring.source import Extract, Source, from_files, from_url
from synth.ext.authoring.world import make_world
from tests.live_schema import own_database

VIRTUAL = """
CREATE TABLE notes (note_id INTEGER PRIMARY KEY, title TEXT NOT NULL);
CREATE TABLE files (content BLOB);
CREATE VIRTUAL TABLE search USING fts5(title);
CREATE VIEW titles AS SELECT title FROM notes;
CREATE TABLE lines (line_id INTEGER PRIMARY KEY, note_id INTEGER REFERENCES notes (note_id));
INSERT INTO notes VALUES (1, 'One'), (2, 'Two');
INSERT INTO files VALUES (x'00ff');
INSERT INTO search VALUES ('One');
INSERT INTO lines VALUES (1, 1), (2, 2), (3, 99);
"""
ODD_KEYS = """
CREATE TABLE r (b integer PRIMARY KEY, c integer, UNIQUE (b, c));
CREATE TABLE twice (id integer PRIMARY KEY, a integer, FOREIGN KEY (a, a) REFERENCES r (b, c));
CREATE TABLE boss (boss_id integer PRIMARY KEY, above integer REFERENCES boss (boss_id));
CREATE TABLE visit (visit_id integer PRIMARY KEY, boss_id integer);
CREATE TABLE remark (remark_id integer PRIMARY KEY, visit_id integer REFERENCES visit (visit_id));
CREATE TABLE sale (sold date NOT NULL, sale_id integer, boss_id integer REFERENCES boss, PRIMARY KEY (sale_id, sold)) PARTITION BY RANGE (sold);
CREATE TABLE sale_2025 PARTITION OF sale FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE TABLE sale_2026 PARTITION OF sale FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
CREATE TABLE refund (refund_id integer PRIMARY KEY, sale_id integer, sold date, FOREIGN KEY (sale_id, sold) REFERENCES sale (sale_id, sold));
CREATE TABLE place (place_id integer PRIMARY KEY, name text);
CREATE TABLE capital (state text) INHERITS (place);
CREATE TABLE ship (name text NOT NULL);
CREATE TABLE freighter () INHERITS (ship);
CREATE TABLE tanker (tons integer) INHERITS (freighter);
CREATE TABLE booking (during tsrange, EXCLUDE USING gist (during WITH &&));
INSERT INTO r VALUES (1, 1), (2, 2);
INSERT INTO twice VALUES (1, 1);
INSERT INTO boss VALUES (1, NULL), (2, 1);
INSERT INTO visit VALUES (1, 1), (4, 99);
ALTER TABLE visit ADD FOREIGN KEY (boss_id) REFERENCES boss NOT VALID;
INSERT INTO remark VALUES (1, 1), (2, 4);
INSERT INTO sale VALUES ('2025-05-05', 1, 1), ('2026-05-05', 2, 2);
INSERT INTO refund VALUES (1, 2, '2026-05-05');
INSERT INTO place VALUES (1, 'Green hill');
INSERT INTO capital VALUES (2, 'Old town', 'North');
INSERT INTO ship VALUES ('Ada');
INSERT INTO freighter VALUES ('Bo'), ('Cy');
INSERT INTO tanker VALUES ('Di', 900);
INSERT INTO booking VALUES ('[2026-01-01, 2026-01-02)');
"""
SCHEMATA = """
CREATE SCHEMA sales;
CREATE SCHEMA audit;
CREATE TABLE sales.users (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE audit.users (id integer PRIMARY KEY, action text NOT NULL);
CREATE TABLE sales.orders (id integer PRIMARY KEY, user_id integer REFERENCES sales.users, entry integer REFERENCES audit.users);
INSERT INTO sales.users VALUES (1, 'one'), (2, 'two');
INSERT INTO audit.users VALUES (7, 'made');
INSERT INTO sales.orders VALUES (1, 1, 7), (2, 2, 7), (3, 1, NULL);
"""


def left_out(source: Source, kind: str) -> dict[str, str]:
    source.ledger.check()
    return {
        one.name: one.why
        for one in source.ledger.entries
        if one.kind == kind and one.outcome == "left out"
    }


def counts(source: Source) -> dict[str, int]:
    with source.engine.connect() as db:
        names = db.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars()
        return {
            name: db.exec_driver_sql(f"SELECT COUNT(*) FROM {name}").scalar_one()
            for name in names.all()
        }


def test_virtual_tables_and_tables_of_bytes_are_named(tmp_path: Path):
    file, script = tmp_path / "live.db", tmp_path / "script.sql"
    script.write_text(VIRTUAL)
    with sqlite3.connect(file) as db:
        db.executescript(VIRTUAL)
    db.close()
    for source in (from_url(f"sqlite:///{file}", Extract(), secret=False), from_files([script])):
        tables = left_out(source, "table")
        assert tables["search"].startswith("a virtual table")
        assert tables["search_data"].startswith("a virtual table keeps")
        assert tables["files"] == "it has no column that can be read"
        assert left_out(source, "view").keys() == {"titles"}
        why = "it refers to a row of notes that is not here"
        assert left_out(source, "row") == {"lines (line_id 3)": why}
        assert counts(source) == {"notes": 2, "lines": 2}
        world = make_world("notes", source, print, proves=False)
        assert "left out: table `search`" in world.files["README.md"]
        assert "| row | 5 | 4 | 0 | 1 |" in world.files["README.md"]


def test_odd_keys_parts_and_rows_that_break_a_key():
    with own_database("postgresql", ODD_KEYS) as url:
        source = from_url(url, Extract(), secret=True)
    assert counts(source) == {
        "r": 2, "twice": 1, "boss": 2, "visit": 1, "remark": 1, "sale": 2, "refund": 1,
        "place": 1, "capital": 1, "ship": 1, "freighter": 2, "tanker": 1, "booking": 1,
    }  # fmt: skip
    keys = left_out(source, "foreign key")
    assert keys["twice (a, a) to r"] == "it names a column twice"
    assert {name.rpartition(" ")[2] for name in keys} <= {
        "r",
        "public.sale_2025",
        "public.sale_2026",
    }
    assert left_out(source, "table").keys() == {"public.sale_2025", "public.sale_2026"}
    assert [*left_out(source, "exclusion constraint")] == ["booking.booking_during_excl"]
    assert left_out(source, "index") == {}
    assert left_out(source, "row") == {
        "visit (visit_id 4)": "it refers to a row of boss that is not here",
        "remark (remark_id 2)": "it refers to a row of visit that is not here",
    }


def test_schemata_are_read_by_name():
    with own_database("postgresql", SCHEMATA) as url:
        with pytest.raises(OperatorError, match="others have some: --schema audit,sales"):
            from_url(url, Extract(), secret=True)
        with pytest.raises(OperatorError, match="no such schema; did you mean sales"):
            from_url(url, Extract(schemata=["sale"]), secret=True)
        one = from_url(url, Extract(schemata=["sales"]), secret=True)
        both = from_url(url, Extract(schemata=["sales", "audit"]), secret=True)
    assert counts(one) == {"users": 2, "orders": 3}
    assert left_out(one, "foreign key").keys() == {"orders (entry) to audit.users"}
    assert left_out(one, "schema").keys() == {"audit"}
    assert counts(both) == {"sales_users": 2, "audit_users": 1, "orders": 3}
    assert left_out(both, "foreign key") == {}


def test_a_schema_is_named_as_a_shell_reads_it():
    script = 'CREATE SCHEMA "back office"; CREATE TABLE "back office".t (id integer);'
    named = pytest.raises(OperatorError, match=r"--schema 'back office'\Z")
    with own_database("postgresql", script) as url, named:
        from_url(url, Extract(), secret=True)


def test_what_a_foreign_key_does_to_its_rows_is_named(tmp_path: Path):
    file, script = tmp_path / "live.db", tmp_path / "script.sql"
    script.write_text(
        "CREATE TABLE a (id INTEGER PRIMARY KEY); INSERT INTO a VALUES (1);\n"
        "CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a (id) ON DELETE CASCADE);"
    )
    with sqlite3.connect(file) as db:
        db.executescript(script.read_text())
    db.close()
    live = from_url(f"sqlite:///{file}", Extract(), secret=False)
    assert left_out(live, "action").keys() == {"b (a): ON DELETE CASCADE"}
    assert left_out(from_files([script]), "action") == {}


def test_a_source_of_which_no_row_can_be_used_says_why(tmp_path: Path):
    script = tmp_path / "orphans.sql"
    script.write_text(
        "CREATE TABLE a (id INTEGER PRIMARY KEY);\n"
        "CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a); INSERT INTO b VALUES (1, 9);"
    )
    with pytest.raises(OperatorError, match=r"left out b \(id 1\): it refers to a row of a"):
        make_world("orphans", from_files([script]), print, proves=False)


def test_rows_over_the_limit_are_counted(tmp_path: Path):
    script = tmp_path / "many.sql"
    values = ", ".join(f"({number})" for number in range(50))
    script.write_text(f"CREATE TABLE t (a INTEGER PRIMARY KEY); INSERT INTO t VALUES {values};")
    source = from_files([script], Extract(rows=20))
    assert [line for line in source.ledger.lines() if "t (30)" in line or "rows" in line] == [
        "rows: 20 of 50 used",
        "  left out t (30): over --rows, which takes rows evenly from all tables",
    ]


def test_a_table_without_rights_and_hidden_rows_are_named():
    script = (
        "CREATE TABLE a (a_id integer PRIMARY KEY); INSERT INTO a VALUES (1), (2);"
        "ALTER TABLE a ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON a USING (a_id = 1);"
    )
    with own_database("postgresql", script) as url:
        own = sqlalchemy.create_engine(url)
        role = str(own.url.database)
        with own.begin() as db:
            db.exec_driver_sql(
                f"CREATE TABLE b (b_id integer PRIMARY KEY); CREATE ROLE {role} LOGIN; GRANT SELECT ON a TO {role}"
            )
        try:
            read = own.url.set(username=role).render_as_string(hide_password=False)
            source = from_url(read, Extract(), secret=True)
        finally:
            with own.begin() as db:
                db.exec_driver_sql(f"DROP OWNED BY {role}; DROP ROLE {role}")
            own.dispose()
    assert left_out(source, "table") == {"public.b": "permission denied for table b"}
    assert [*left_out(source, "row policy")] == ["public.a"]
    assert counts(source) == {"a": 1}


def test_defaults_of_the_clock_and_of_chance_are_pinned_in_the_seed(tmp_path: Path):
    script = tmp_path / "stamped.sql"
    script.write_text(
        "CREATE TABLE t (a INTEGER PRIMARY KEY, at TEXT DEFAULT CURRENT_TIMESTAMP,"
        " token TEXT DEFAULT (hex(randomblob(8))));\nINSERT INTO t (a) VALUES (1), (2);\n"
    )
    source = from_files([script])
    with source.engine.connect() as db:
        values = db.exec_driver_sql("SELECT at, token FROM t").all()
    assert [value for row in values for value in row if f"'{value}'" not in source.seed] == []
