"""Issue 29: a key or a reference whose name looks secret.

``token`` or ``password_history_id`` as the number of a row is no secret. A secret is left out of
the tools by name, and its table stays.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.ext.authoring.reflect import is_secret, reflect
from synth.ext.authoring.source import from_files
from synth.ext.authoring.toolset import tools_of
from synth.ext.authoring.world import make_world

SCHEMA = """
CREATE TABLE token (token INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE login (
  pin TEXT PRIMARY KEY, token_id INTEGER REFERENCES token (token), since TEXT NOT NULL
);
CREATE TABLE visit (
  visit_id INTEGER PRIMARY KEY, token_id INTEGER NOT NULL REFERENCES token (token),
  pin TEXT REFERENCES login (pin), api_key TEXT NOT NULL, pwd INTEGER, fee REAL NOT NULL
);
INSERT INTO token VALUES (1, 'Alpha'), (2, 'Beta'), (3, 'Gamma');
INSERT INTO login VALUES ('1234', 1, '2026-01-01'), ('9876', 2, '2026-01-02');
INSERT INTO visit VALUES (1, 1, '1234', 'k-1', 11, 5.5), (2, 2, NULL, 'k-2', 12, 7),
  (3, 3, '9876', 'k-3', 13, 8), (4, 1, NULL, 'k-4', 14, 9.25);
"""


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    file = tmp_path / "schema.sql"
    file.write_text(SCHEMA)
    return file


def test_a_numbered_key_and_a_reference_are_shown(schema: Path):
    shape = reflect(from_files([schema]).engine)
    assert [column.name for column in shape.tables["token"].columns] == ["token", "name"]
    assert [link.column for link in shape.tables["visit"].links] == ["token_id"]
    assert shape.tables["visit"].key == ("visit_id",)


def test_a_secret_is_left_out_and_its_table_stays(schema: Path):
    shape = reflect(from_files([schema]).engine)
    assert set(shape.tables["visit"].hidden) == {"pin", "api_key", "pwd"}
    assert shape.tables["login"].key == ()
    tools = tools_of(shape)
    assert tools["login"].list_ == "list_logins"
    assert tools["visit"].create is None  # an api_key has to be given, and no tool takes one


@pytest.mark.parametrize(
    "where", ["", " WHERE reset_token IS NOT NULL"], ids=["all rows", "some rows"]
)
def test_a_row_is_created_without_its_unique_secret(where: str, tmp_path: Path):
    """Rails' ``reset_password_token``: "generator raised StopIteration"."""
    file = tmp_path / "schema.sql"
    file.write_text(
        "CREATE TABLE account (account_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
        "CREATE TABLE user (user_id INTEGER PRIMARY KEY, reset_token TEXT, account_id INTEGER"
        " NOT NULL REFERENCES account); INSERT INTO account VALUES (1, 'Alpha'), (2, 'Beta');"
        "INSERT INTO user VALUES (1, 'a', 1), (2, NULL, 2);"
        f"CREATE UNIQUE INDEX one ON user (reset_token){where};"
    )
    made = make_world("w", from_files([file]), print, patterns=["create"], proves=False)
    assert [draft.id for draft in made.drafts] == ["create_user"]


def test_a_word_in_other_letters_is_no_secret():
    """产品, a product, is transliterated as ``chan pin``."""
    assert not is_secret("产品", numbered=False)
    assert is_secret("客户 PIN", numbered=False)


def test_what_is_left_out_is_named(schema: Path):
    made = make_world("w", from_files([schema]), print, proves=False)
    lines = "\n".join(made.ledger.lines())
    assert "shown columns: 7 of 11 used" in lines
    for column in ("login.pin", "visit.pin", "visit.api_key", "visit.pwd"):
        assert column in lines
    assert "api_key" not in made.files["executors.py"]


@pytest.mark.parametrize("name", ["password_history", "token", "pin", "api_key", "salt"])
def test_a_table_of_this_name_becomes_a_world(name: str, tmp_path: Path):
    file = tmp_path / "schema.sql"
    file.write_text(
        f"CREATE TABLE {name} ({name}_id INTEGER PRIMARY KEY, note TEXT);"
        f"INSERT INTO {name} VALUES (1, 'one'), (2, 'two'), (3, 'three');"
    )
    made = make_world("w", from_files([file]), print, proves=False)
    assert f"def get_{name}" in made.files["executors.py"]
