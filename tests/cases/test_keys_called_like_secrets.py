"""Issue 29: a key or a reference whose name looks secret.

``token`` or ``password_history_id`` as the number of a row is no secret. A secret is left out of
the tools by name, and its table stays.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from synth.ext.authoring.names import noun_of
from synth.ext.authoring.reflect import reflect
from synth.ext.authoring.roles import secret_columns
from synth.ext.authoring.source import Extract, from_files, from_url
from synth.ext.authoring.toolset import tools_of
from synth.ext.authoring.world import make_world

SCHEMA = """
CREATE TABLE token (token INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE login (
  pin TEXT PRIMARY KEY, token_id INTEGER REFERENCES token (token), since TEXT NOT NULL
);
CREATE TABLE visit (
  visit_id INTEGER PRIMARY KEY, token_id INTEGER NOT NULL REFERENCES token (token),
  pin TEXT REFERENCES login (pin), api_key TEXT NOT NULL, pwd INTEGER, fee REAL NOT NULL,
  max_tokens INTEGER, secret BOOLEAN, pin_changed_at DATETIME
);
INSERT INTO token VALUES (1, 'Alpha'), (2, 'Beta'), (3, 'Gamma');
INSERT INTO login VALUES ('1234', 1, '2026-01-01'), ('9876', 2, '2026-01-02');
INSERT INTO visit VALUES (1, 1, '1234', 'k-1', 11, 5.5, 4, 1, NULL), (2, 2, NULL, 'k-2', 12, 7, 4, 0, NULL),
  (3, 3, '9876', 'k-3', 13, 8, 9, 0, NULL), (4, 1, NULL, 'k-4', 14, 9.25, 9, 1, NULL);
"""


def test_a_secret_is_left_out_by_name_and_its_table_stays(tmp_path: Path):
    (file := tmp_path / "schema.sql").write_text(SCHEMA)
    made = make_world("w", from_files([file]), print, proves=False)
    shown = made.shape.tables
    assert [column.name for column in shown["token"].columns] == ["token", "name"]
    assert [link.column for link in shown["visit"].links] == ["token_id"]
    assert (shown["visit"].key, shown["login"].key) == (("visit_id",), ())
    assert set(shown["visit"].hidden) == {"pin", "api_key", "pwd"}
    tools = tools_of(made.shape)
    assert tools["login"].list_ == "list_login_records"
    assert tools["visit"].create is None  # an api_key has to be given, and no tool takes one
    lines = "\n".join(made.ledger.lines())
    assert "shown columns: 10 of 14 used" in lines
    for column in ("login.pin", "visit.pin", "visit.api_key", "visit.pwd"):
        assert column in lines
    assert "api_key" not in made.files["executors.py"]


@pytest.mark.parametrize(
    "where", ["", " WHERE reset_token IS NOT NULL"], ids=["all rows", "some rows"]
)
def test_a_row_is_created_without_its_unique_secret(where: str, tmp_path: Path):
    """Rails' ``reset_password_token``: "generator raised StopIteration"."""
    file = tmp_path / "schema.sql"
    file.write_text(
        "CREATE TABLE account (account_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
        "CREATE TABLE user (user_id INTEGER PRIMARY KEY, reset_token TEXT, account_id INTEGER"
        " NOT NULL REFERENCES account, seats INTEGER NOT NULL); INSERT INTO account VALUES (1, 'Alpha'), (2, 'Beta');"
        "INSERT INTO user VALUES (1, 'a', 1, 3), (2, NULL, 2, 4);"
        f"CREATE UNIQUE INDEX one ON user (reset_token){where};"
    )
    made = make_world("w", from_files([file]), print, patterns=["create"], proves=False)
    assert [draft.id for draft in made.drafts] == ["create_user"]


def test_a_word_in_other_letters_is_no_secret():
    """产品, a product, is transliterated as ``chan pin``."""
    assert secret_columns({"产品": (), "客户 PIN": ()}) == {"客户 PIN"}


def test_a_value_whose_name_stands_beside_it_or_in_it_is_a_secret(tmp_path: Path):
    file = tmp_path / "live.db"
    with closing(sqlite3.connect(file)) as db:
        db.executescript("""
          CREATE TABLE gateway (id INTEGER PRIMARY KEY, parameter_name TEXT, parameter_value TEXT);
          CREATE TABLE job (id INTEGER PRIMARY KEY, payload TEXT, setup TEXT, value TEXT);
          INSERT INTO gateway VALUES (1, 'host', 'a.example'), (2, 'guac-totp-key', 'JBSWY3DPEHPK');
          INSERT INTO gateway VALUES (3, 'privateKey', 'MIIEvQ42'), (4, 'port', '22');
          INSERT INTO job VALUES (1, '{"user": "ann", "password": "hunter2-77"}', '{"a": 1}', 'x');
          INSERT INTO job VALUES (2, '[]', 'a:1:{s:5:"token";s:8:"T0k-en99";}', 'the pin');
        """)
    shown = reflect(create_engine(f"sqlite:///{file}")).tables
    hidden = {name: set(table.hidden) for name, table in shown.items()}
    assert hidden == {"gateway": {"parameter_value"}, "job": {"payload", "setup"}}
    seed = from_url(f"sqlite:///{file}", Extract(), secret=False).seed
    assert not re.findall("JBSWY3DPEHPK|MIIEvQ42|hunter2-77|T0k-en99", seed)
    assert "'guac-totp-key'" in seed
    assert "'the pin'" in seed


@pytest.mark.parametrize("name", ["password_history", "token", "pin", "api_key", "salt"])
def test_a_table_of_this_name_becomes_a_world(name: str, tmp_path: Path):
    file = tmp_path / "schema.sql"
    file.write_text(
        f"CREATE TABLE {name} ({name}_id INTEGER PRIMARY KEY, note TEXT);"
        f"INSERT INTO {name} VALUES (1, 'one'), (2, 'two'), (3, 'three');"
    )
    made = make_world("w", from_files([file]), print, proves=False)
    assert f"def get_{noun_of(name).one}(" in made.files["executors.py"]
