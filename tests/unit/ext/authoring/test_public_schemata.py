"""Schemata in the manner of public ones: no rows, no declared keys, no primary keys, many columns
in a key. Rows are made up, keys inferred, and the tools stay few.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from synth.errors import OperatorError
from synth.ext.authoring.source import Extract, from_files, from_url
from synth.ext.authoring.world import MOST_TOOLS, NewWorld, make_world
from tests.live_schema import own_database

pytestmark = pytest.mark.slow

PUBLIC = Path(__file__).parents[3] / "schemata" / "public"


def drafted(source: object) -> NewWorld:
    return make_world("w", source, print, proves=False)  # pyright: ignore[reportArgumentType]


def on_server(engine: str, name: str, part: Extract) -> NewWorld:
    with own_database(engine, (PUBLIC / f"{name}.{engine}").read_text()) as url:
        return drafted(from_url(url, part, secret=True))


def test_rows_are_made_up_only_if_they_are_asked_for():
    with pytest.raises(OperatorError, match="--rows 500 makes some up"):
        drafted(from_files([PUBLIC / "billing.sql"]))


def test_keys_that_nobody_declared_are_shown_with_their_evidence_and_taken_on_consent():
    shown = list[str]()
    refused = drafted(from_files([PUBLIC / "billing.sql"], Extract(500, accept=lambda _: False)))
    taken = Extract(500, accept=lambda lines: not shown.extend(lines))
    made = drafted(from_files([PUBLIC / "billing.sql"], taken))
    line = "invoice_items.invoice_id -> invoices.record_number: name, no values to compare"
    assert line in shown
    assert f"-- Inferred: {line}" in made.files["schema.sql"]
    assert "Inferred" not in refused.files["schema.sql"]
    patterns = {draft.pattern for draft in made.drafts}
    assert len(patterns) >= max(14, len({draft.pattern for draft in refused.drafts}) + 6)
    assert "made row `invoices`" in made.files["README.md"]
    assert "schema_migration" not in made.files["executors.py"]
    assert "update_payment_history" not in made.files["executors.py"]


def inferred(tmp_path: Path, script: str) -> list[str]:
    """The keys that are shown for a script."""
    file, shown = tmp_path / "schema.sql", list[str]()
    file.write_text(script)
    from_files([file], Extract(accept=lambda lines: bool(shown.extend(lines))))
    return shown


def test_an_inferred_key_counts_the_values_that_it_holds(tmp_path: Path):
    shown = inferred(
        tmp_path,
        "CREATE TABLE users (id INTEGER, name TEXT NOT NULL UNIQUE);"
        "CREATE TABLE notes (user_id INTEGER, group_id INTEGER, author INTEGER, `order` INTEGER);"
        "CREATE TABLE groups (id INTEGER PRIMARY KEY, name TEXT);"
        "CREATE TABLE orders (id INTEGER PRIMARY KEY); INSERT INTO orders VALUES (1), (2), (3);"
        "INSERT INTO users VALUES (1, 'A'), (2, 'B'); INSERT INTO groups VALUES (1, 'G');"
        "INSERT INTO notes VALUES (1, 1, 1, 1), (2, 7, 2, 2), (2, 1, 1, 3);",
    )
    names, held = ("user_id", "author"), "-> users.id: name, 100 percent of 2 values"
    assert shown == [f"notes.{name} {held}" for name in names]  # the group 7 is none


def test_a_key_is_an_index_with_a_name_and_refers_to_what_is_more_general(tmp_path: Path):
    shown = inferred(
        tmp_path,
        "CREATE TABLE devices (name TEXT NOT NULL, alias TEXT);"
        "CREATE INDEX by_name ON devices (name, alias);"
        "CREATE TABLE ports (device TEXT NOT NULL, number INTEGER NOT NULL);"
        "CREATE TABLE page_cache (page_url TEXT PRIMARY KEY); CREATE TABLE pages (page_url TEXT);"
        "CREATE TABLE alerts (ident INTEGER PRIMARY KEY);"
        "CREATE TABLE tool_alerts (message_ident INTEGER PRIMARY KEY);"
        "CREATE TABLE test_alerts (message_ident INTEGER PRIMARY KEY);"
        "CREATE TABLE causes (message_ident INTEGER, n INTEGER, PRIMARY KEY (message_ident, n));"
        "CREATE TABLE steps (type TEXT, message_ident INTEGER, PRIMARY KEY (type, message_ident));",
    )
    alerts = ("test_alerts", "tool_alerts", "causes")  # a step may be of something else
    keys = ["ports.device -> devices.name", *(f"{t}.message_ident -> alerts.ident" for t in alerts)]
    assert shown == [f"{key}: name, no values to compare" for key in keys]


def test_what_others_refer_to_is_the_key(tmp_path: Path):
    """Rows have a number of their own, but others name them by their id, which is unique."""
    shown = inferred(
        tmp_path,
        "CREATE TABLE accounts (row_no INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT);"
        "CREATE TABLE bills (row_no INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, account_id TEXT"
        " NOT NULL, amount NUMERIC NOT NULL);"
        + "".join(
            f"INSERT INTO accounts VALUES ({n}, 'a-{n}', 'Name {n}');"
            f"INSERT INTO bills VALUES ({n}, 'b-{n}', 'a-{n}', {n}.5);"
            for n in range(1, 9)
        ),
    )
    assert shown == ["bills.account_id -> accounts.id: name, 100 percent of 8 values"]
    made = drafted(from_files([tmp_path / "schema.sql"], Extract(accept=lambda _: True)))
    assert {"list_children", "sum_children", "look_up_parent"} <= {d.pattern for d in made.drafts}
    assert "def get_account(\n    db: Connection,\n    id: str" in made.files["executors.py"]


@pytest.mark.parametrize(
    ("engine", "name", "drafts", "patterns"),
    [
        ("mariadb", "gateway", 30, 10),
        ("postgresql", "warehouse", 30, 10),
        ("postgresql", "workflow", 25, 10),
        ("postgresql", "chat", 20, 8),
    ],
)
def test_a_schema_without_rows_makes_a_world(engine: str, name: str, drafts: int, patterns: int):
    made = on_server(engine, name, Extract(500, accept=lambda _: True))
    assert len(made.drafts) >= drafts
    assert len({draft.pattern for draft in made.drafts}) >= patterns
    assert made.tools <= MOST_TOOLS
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(made.files["schema.sql"])
        db.executescript("PRAGMA foreign_keys = ON;" + made.files["seed.sql"])
        assert not db.execute("PRAGMA foreign_key_check").fetchall()
        if name == "warehouse":  # what is made up ends after its start
            wrong = db.execute(
                "SELECT COUNT(*), SUM(visit_end_date < visit_start_date), MAX(visit_start_date)"
                " FROM visit_occurrence"
            ).fetchone()
            assert wrong[0] > 10 > wrong[1] == 0
            assert wrong[2] < "2026-03-02"
    assert name == "chat" or all(table.key for table in made.shape.tables.values())


def test_keys_without_a_telling_name_are_found_by_their_texts(tmp_path: Path):
    shown = inferred(
        tmp_path,
        "CREATE TABLE names (id VARCHAR(24) PRIMARY KEY);"
        "CREATE TABLE users (name TEXT PRIMARY KEY, admin SMALLINT);"
        "CREATE TABLE notes (id INTEGER PRIMARY KEY, sender TEXT, tone TEXT);"
        "CREATE TABLE pushers (id INTEGER PRIMARY KEY, user_name TEXT, name_id VARCHAR(50));"
        "CREATE TABLE labels (id INTEGER PRIMARY KEY, label_code INTEGER, name TEXT);"
        + "".join(
            f"INSERT INTO users VALUES ('@u{n}:x', 0);"
            f"INSERT INTO notes VALUES ({n}, '@u{n}:x', 'tone {n}');"
            for n in range(1, 6)
        ),
    )
    assert shown == [
        "notes.sender -> users.name: 100 percent of 5 values",
        "pushers.user_name -> users.name: name, no values to compare",
    ]


def test_few_rows_become_more_like_them(tmp_path: Path):
    (file := tmp_path / "schema.sql").write_text(
        "CREATE TABLE rooms (id INTEGER PRIMARY KEY, name TEXT NOT NULL, public BOOLEAN);"
        "CREATE TABLE visits (id INTEGER PRIMARY KEY, room_id INTEGER NOT NULL REFERENCES rooms"
        " (id), visitor TEXT NOT NULL UNIQUE, hours INTEGER NOT NULL);"
        "CREATE TABLE notes (id INTEGER PRIMARY KEY, room_id INTEGER REFERENCES rooms (id));"
        + "".join(
            f"INSERT INTO rooms VALUES ({n}, 'Room {n}0', {n % 2});"
            f"INSERT INTO visits VALUES ({n + 4}, {n}, 'V-{n}{n}', {n});"
            for n in range(1, 5)
        )
    )
    made = drafted(from_files([file], Extract(200)))
    assert "made up: the source has 4" in made.files["README.md"]
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(made.files["schema.sql"] + made.files["seed.sql"])
        own = db.execute("SELECT COUNT(*) FROM visits WHERE id BETWEEN 5 AND 8 AND hours = id - 4")
        assert own.fetchone() == (4,)
        visits, hours = db.execute("SELECT COUNT(*), MAX(hours) FROM visits").fetchone()
        assert visits > 40 > 4 >= hours
        assert len({*db.execute("SELECT COUNT(*) FROM visits GROUP BY room_id")}) > 1
        assert not db.execute("PRAGMA foreign_key_check").fetchall()
    assert "made up" not in drafted(from_files([file])).files["README.md"]


def test_tables_without_rows_get_them_beside_large_lists_and_in_a_circle(tmp_path: Path):
    (file := tmp_path / "schema.sql").write_text(
        "CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT NOT NULL);"
        "CREATE TABLE firms (id INTEGER PRIMARY KEY, name TEXT NOT NULL, motto TEXT,"
        " owner INTEGER NOT NULL REFERENCES users (id));"
        "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL,"
        " firm INTEGER NOT NULL REFERENCES firms (id),"
        " creator INTEGER NOT NULL REFERENCES users (id));"
        "CREATE TABLE notes (id INTEGER NOT NULL REFERENCES users (id), body TEXT);"
        + "".join(f"INSERT INTO words VALUES ({n}, 'word {n}');" for n in range(300))
    )
    made = drafted(from_files([file], Extract(200)))
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(made.files["schema.sql"] + made.files["seed.sql"])
        for name in ("firms", "users", "notes"):
            assert db.execute(f"SELECT COUNT(*) > 7 FROM {name}").fetchone() == (1,)
        assert not db.execute("PRAGMA foreign_key_check").fetchall()
    assert "def rows(" in made.files["seed.py"]


def test_a_flag_is_asked_for_counted_and_set(tmp_path: Path):
    (file := tmp_path / "schema.sql").write_text(
        "CREATE TABLE rooms (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
        "CREATE TABLE doors (id INTEGER PRIMARY KEY, room_id INTEGER REFERENCES rooms (id),"
        " is_locked BOOLEAN NOT NULL, has_glass BOOLEAN NOT NULL, opened_ts BIGINT NOT NULL);"
        + "".join(f"INSERT INTO rooms VALUES ({n}, 'Room {n}0');" for n in range(1, 5))
        + "".join(
            f"INSERT INTO doors VALUES ({n}, {1 + n * n % 4}, {n % 3 == 0}, 1, {1700000000 + n});"
            for n in range(1, 30)
        )
    )
    texts = {draft.id: str(draft.body) for draft in drafted(from_files([file])).drafts}
    assert "Is door number {door} marked as locked?" in texts["look_up_door_is_locked"]
    assert "Please mark door number {door} as locked." in texts["change_door_is_locked"]
    assert "How many locked doors does the room {room} have?" in texts["count_children_room_doors"]
    wanted = "Please mark all doors of the room {room} as locked."
    assert wanted in texts["for_each_room_doors_is_locked"]
    latest = "What is the most recently opened door of the room {room}? I need its number."
    assert latest in texts["greatest_child_room_door_opened_ts"]
    assert not any("has_glass" in text or "170000" in text for text in texts.values())


def test_rows_named_by_several_texts_have_families_like_others(tmp_path: Path):
    users = "CREATE TABLE users (username TEXT, host TEXT, PRIMARY KEY (host, username));"
    devices = "CREATE TABLE devices (id INTEGER PRIMARY KEY, username TEXT, host TEXT);"
    shown = inferred(tmp_path, users + devices)
    assert shown == ["devices.host, username -> users.host, username: name, no values to compare"]
    made = drafted(from_files([tmp_path / "schema.sql"], Extract(200, accept=lambda _: True)))
    assert "p.host = c.host AND p.username = c.username" in str([d.body for d in made.drafts])


def test_texts_fit_their_columns_and_what_has_no_name_is_not_the_greatest(tmp_path: Path):
    (file := tmp_path / "schema.sql").write_text(
        "CREATE TABLE user_emails (id INTEGER PRIMARY KEY, address VARCHAR(99) NOT NULL UNIQUE,"
        " country VARCHAR(2));"
        "CREATE TABLE doors (id INTEGER PRIMARY KEY, title VARCHAR(40), price DECIMAL(8,2),"
        " mail_id INTEGER NOT NULL REFERENCES user_emails (id));"
    )
    made = drafted(from_files([file], Extract(200)))
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(made.files["schema.sql"] + made.files["seed.sql"])
        found = db.execute("SELECT address, COALESCE(country, 'DE') FROM user_emails").fetchall()
    assert all("@" in address and country.isalpha() for address, country in found)
    greatest = next(str(one.body) for one in made.drafts if one.pattern == "greatest_child")
    assert "c.title IS NULL" in greatest
