"""MariaDB sandboxes: what is exact about their diffs, what no SQL gets out of, and what is left
behind: nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from envs.connection import parse_url
from envs.sandboxes.base import Sandbox
from envs.sandboxes.mariadb import server as mysql_server
from envs.sandboxes.mariadb.sandbox import MariaDBTemplate
from envs.sandboxes.mariadb.server import MariaDBServer
from envs.sandboxes.mariadb.statement_guard import read_insertion, refusal
from envs.sql_errors.classify import classify
from envs.types import ErrorCategory, Limits, Pins
from tests.servers import server
from tests.unit.envs.sandboxes.calls import ask, built, call, killed

SCHEMA = (
    """CREATE TABLE kinds (id bigint AUTO_INCREMENT PRIMARY KEY, big decimal(30, 2), ratio double, single float,
        raw varbinary(20), day date, moment datetime(6), clock time, doc json, e enum('a', 'b'), s set('x', 'y'),
        b bit(9), words varchar(9000), twice double AS (ratio * 2) STORED, huge bigint unsigned)""",
    "CREATE TABLE parent (id int PRIMARY KEY, name varchar(20) UNIQUE)",
    (
        "CREATE TABLE child (id int PRIMARY KEY, parent_id int, note text,"
        " FOREIGN KEY (parent_id) REFERENCES parent (id) ON DELETE CASCADE ON UPDATE CASCADE)"
    ),
    (
        "CREATE TABLE grandchild (id int PRIMARY KEY, child_id int,"
        " FOREIGN KEY (child_id) REFERENCES child (id) ON DELETE SET NULL)"
    ),
    "CREATE TABLE audit (id int AUTO_INCREMENT PRIMARY KEY, what varchar(80))",
    "CREATE TABLE ranked (place int PRIMARY KEY, name varchar(10))",
    "CREATE TABLE loose (line varchar(10)) ENGINE=MyISAM",
    (
        "CREATE TRIGGER watched AFTER UPDATE ON parent FOR EACH ROW"
        " BEGIN INSERT INTO audit (what) VALUES (CONCAT(OLD.name, ' -> ', NEW.name)); END"
    ),
    "CREATE TRIGGER tidied BEFORE INSERT ON parent FOR EACH ROW SET NEW.name = TRIM(NEW.name)",
    "CREATE PROCEDURE leave_it() BEGIN DELETE FROM ranked; COMMIT; END",
    "CREATE VIEW names AS SELECT name FROM parent",
    "CREATE VIEW again AS SELECT name FROM names WHERE name <> ''",
    "INSERT INTO parent VALUES (1, 'a'), (2, 'b')",
    "INSERT INTO child VALUES (10, 1, 'x'), (11, 1, 'y'), (12, 2, 'z')",
    "INSERT INTO grandchild VALUES (100, 10), (101, 12)",
    "INSERT INTO ranked VALUES (1, 'x'), (2, 'y'), (3, 'z')",
    "INSERT INTO audit (what) VALUES ('begin')",
    "INSERT INTO loose VALUES ('one'), ('one'), ('two')",
)
TABLES = ("kinds", "parent", "child", "grandchild", "audit", "ranked", "loose")


@pytest.fixture(scope="module")
def template() -> Iterator[MariaDBTemplate]:
    with built("mysql", SCHEMA) as made:
        yield made


def everything(sandbox: Sandbox) -> list[object]:
    return [sorted(ask(sandbox, f"SELECT * FROM {table}"), key=repr) for table in TABLES]


def test_values_of_every_type_keep_their_meaning_in_json(template: MariaDBTemplate):
    with template.open(Pins()) as sandbox:
        (change,) = call(
            sandbox,
            "INSERT INTO kinds (big, ratio, raw, day, moment, clock, doc, e, s, b, words, huge)"
            " VALUES"
            " (1234567890123456789012345678.10, 0.1, x'00ff', '2026-01-02', '2026-01-02"
            " 03:04:05.000006', '-01:30:00',"
            """ '{"a": [1, null]}', 'b', 'x,y', b'100000001', 'a%s,"b"\\\\ (c)\\n', 18446744073709551615)""",
        )
        assert change.after == {
            "id": 1,
            "big": "1234567890123456789012345678.10",
            "ratio": 0.1,
            "single": None,
            "raw": {"$bytes": "AP8="},
            "day": "2026-01-02",
            "moment": "2026-01-02T03:04:05.000006",
            "clock": -5400.0,
            "doc": '{"a": [1, null]}',
            "e": "b",
            "s": "x,y",
            "b": 257,
            "words": 'a%s,"b"\\ (c)\n',
            "huge": "18446744073709551615",
        }


def test_cascades_and_triggers_are_on_record(template: MariaDBTemplate):
    with template.open(Pins()) as sandbox:
        changes = call(
            sandbox, "DELETE FROM parent WHERE id = 1", "UPDATE parent SET id = 3 WHERE id = 2"
        )
        assert [(each.table, each.op, each.key, each.after) for each in changes] == [
            ("audit", "insert", {"id": 2}, {"id": 2, "what": "b -> b"}),
            ("child", "delete", {"id": 10}, None),
            ("child", "delete", {"id": 11}, None),
            ("child", "update", {"id": 12}, {"parent_id": 3}),
            ("grandchild", "update", {"id": 100}, {"child_id": None}),
            ("parent", "delete", {"id": 1}, None),
            ("parent", "delete", {"id": 2}, None),
            ("parent", "insert", {"id": 3}, {"id": 3, "name": "b"}),
        ]


def test_what_foreign_keys_do_composes_with_what_the_agent_does(template: MariaDBTemplate):
    with template.open(Pins()) as sandbox:
        call(
            sandbox,
            "UPDATE child SET note = 'n' WHERE id = 10",
            "INSERT INTO child VALUES (13, 1, 'new')",
        )
        changes = call(sandbox, "DELETE FROM parent WHERE id = 1")
        assert [(each.table, each.op, each.key["id"]) for each in changes] == [
            ("child", "delete", 10),
            ("child", "delete", 11),
            ("child", "delete", 13),
            ("grandchild", "update", 100),
            ("parent", "delete", 1),
        ]
        call(
            sandbox,
            "INSERT INTO parent VALUES (1, 'a')",
            "INSERT INTO child VALUES (10, 1, 'x'), (11, 1, 'y')",
        )
        call(sandbox, "UPDATE grandchild SET child_id = 10 WHERE id = 100")
        assert not sandbox.diff()


def test_keys_may_move_over_each_other(template: MariaDBTemplate):
    with template.open(Pins()) as sandbox:
        changes = call(sandbox, "UPDATE ranked SET place = place + 1 ORDER BY place DESC")
        assert [(each.op, each.key["place"]) for each in changes] == [
            ("delete", 1),
            ("update", 2),
            ("update", 3),
            ("insert", 4),
        ]


def test_a_pooled_database_comes_back_as_it_was(template: MariaDBTemplate):
    """Rows, counters (a trigger's too) and session are those of the template again, in the same
    database.
    """
    with template.open(Pins()) as sandbox:
        start, before = sandbox.state_hash(), everything(sandbox)
        name = ask(sandbox, "SELECT DATABASE()")
    with template.open(Pins()) as sandbox:
        assert ask(sandbox, "SELECT DATABASE()") == name
        call(
            sandbox,
            "INSERT INTO kinds (words) VALUES ('x'), ('y')",
            "UPDATE parent SET name = 'q' WHERE id = 1",
        )
        call(
            sandbox,
            "DELETE FROM parent",
            "DELETE FROM loose",
            "UPDATE ranked SET name = 'w'",
            "SELECT @a := 1",
        )
    with template.open(Pins()) as sandbox:
        assert ask(sandbox, "SELECT DATABASE(), @a") == [(*name[0], None)]
        assert sandbox.state_hash() == start
        assert everything(sandbox) == before
        assert call(sandbox, "INSERT INTO kinds (words) VALUES ('x')")[0].key == {"id": 1}
        assert call(sandbox, "UPDATE parent SET name = 'q' WHERE id = 1")[0].key == {"id": 2}


def test_counters_go_back_with_a_failed_call_and_keys_are_given_once(template: MariaDBTemplate):
    with template.open(Pins()) as sandbox:
        call(sandbox, "INSERT INTO kinds (words) VALUES ('x')")
        with pytest.raises(DBAPIError):
            call(sandbox, "INSERT INTO kinds (words) VALUES ('y')", "SELECT nowhere")
        assert call(sandbox, "INSERT INTO kinds (words) VALUES ('z'), ('w')")[1].key == {"id": 3}
        call(sandbox, "DELETE FROM kinds WHERE id = 3")
        assert call(sandbox, "insert /* c */ ignore into kinds (words) values ('v')")[0].key == {
            "id": 4
        }


def test_clock_and_chance_are_pinned(template: MariaDBTemplate):
    with (
        template.open(Pins("2031-02-03T04:05:06", 7)) as one,
        template.open(Pins("2031-02-03T04:05:06", 7)) as other,
    ):
        assert ask(one, "SELECT NOW(), RAND(), UTC_TIMESTAMP()") == ask(
            other, "SELECT NOW(), RAND(), UTC_TIMESTAMP()"
        )


def test_a_commit_inside_a_procedure_fails_its_call_only(template: MariaDBTemplate):
    with template.open(Pins()) as sandbox:
        call(sandbox, "DELETE FROM audit", "INSERT INTO kinds (words) VALUES ('kept')")
        with pytest.raises(DBAPIError):
            call(sandbox, "CALL leave_it()")
        assert [(each.table, each.op) for each in sandbox.diff().changes] == [
            ("audit", "delete"),
            ("kinds", "insert"),
        ]
        assert ask(sandbox, "SELECT (SELECT COUNT(*) FROM ranked), (SELECT words FROM kinds)") == [
            (3, "kept")
        ]
        assert call(sandbox, "INSERT INTO kinds (words) VALUES ('x')")[0].key == {"id": 2}


def test_the_log_and_other_sandboxes_cannot_be_seen(template: MariaDBTemplate):
    with template.open(Pins()) as one, template.open(Pins()) as other:
        name = str(ask(other, "SELECT DATABASE()")[0][0])
        for place in (
            f"{name}.parent",
            f"{name}_log.t0",
            f"{template.database}.parent",
            f"{template.server.token}.made",
        ):
            with pytest.raises(DBAPIError):
                ask(one, f"SELECT * FROM {place}")
        assert not ask(
            one, "SELECT 1 FROM information_schema.triggers WHERE action_statement IS NOT NULL"
        )
        assert name not in str(ask(one, "SELECT schema_name FROM information_schema.schemata"))


@pytest.mark.parametrize(
    ("sql", "category"),
    [
        ("SELECT " + ", ".join(["REPEAT('x', 16000000)"] * 6), ErrorCategory.LIMIT_EXCEEDED),
        (
            "SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab' REGEXP '^(a|a?)+$'",
            ErrorCategory.LIMIT_EXCEEDED,
        ),
        (
            "SELECT GROUP_CONCAT(REPEAT('x', 1000)) FROM seq_1_to_10000",
            ErrorCategory.LIMIT_EXCEEDED,
        ),
        ("SELECT CONVERT(x'eda080' USING utf8mb3) FROM seq_1_to_9", ErrorCategory.TYPE_MISMATCH),
        ("SELECT 1\0; DELETE FROM parent", ErrorCategory.SYNTAX_ERROR),
        ("SELECT '\udc80'", ErrorCategory.SYNTAX_ERROR),
        ("SELECT `get_lock`('envs_sweep', 0)", ErrorCategory.PERMISSION_DENIED),
        ("SHOW CREATE/*TABLE*/USER CURRENT_USER", ErrorCategory.PERMISSION_DENIED),
    ],
)
def test_what_would_fill_the_process_lie_or_reach_out_is_an_error(
    template: MariaDBTemplate, sql: str, category: ErrorCategory
):
    """A row as one piece, values that the server gave up on, text that is none: typed errors, and
    the sandbox goes on.
    """
    with template.open(Pins()) as sandbox:
        call(sandbox, "DELETE FROM audit")
        with pytest.raises(DBAPIError) as caught:
            call(sandbox, sql)
        assert classify(caught.value, "mysql") is category
        assert len(sandbox.diff().changes) == 1
        assert ask(sandbox, "SELECT count(*) FROM audit") == [(0,)]


def test_changes_that_would_fill_the_process_fail_their_call(
    template: MariaDBTemplate, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(mysql_server, "MAX_CHANGED_BYTES", 1_000_000)
    with template.open(Pins()) as sandbox:
        call(sandbox, "DELETE FROM audit")
        with pytest.raises(DBAPIError) as caught:
            call(sandbox, "INSERT INTO kinds (words) SELECT REPEAT('x', 9000) FROM seq_1_to_200")
        assert classify(caught.value, "mysql") is ErrorCategory.LIMIT_EXCEEDED
        assert len(sandbox.diff().changes) == 1
        assert call(sandbox, "INSERT INTO kinds (words) VALUES ('x')")[0].key == {"id": 1}


def test_a_session_that_is_ended_from_outside_ends_its_call_only(template: MariaDBTemplate):
    with template.open(Pins()) as sandbox:
        call(
            sandbox, "INSERT INTO kinds (words) VALUES ('kept')", "DELETE FROM parent WHERE id = 1"
        )
        slot = sandbox._slot
        assert slot is not None
        with pytest.raises(DBAPIError) as caught, sandbox.transaction(Limits()) as transaction:
            transaction.connection.execute(text("DELETE FROM audit"))
            slot.session.terminate()
            transaction.connection.execute(text("SELECT 1"))
        assert classify(caught.value, "mysql") is ErrorCategory.TIMEOUT
        assert ask(sandbox, "SELECT (SELECT count(*) FROM audit), (SELECT words FROM kinds)") == [
            (1, "kept")
        ]
        assert ask(sandbox, "SELECT id FROM child") == [(12,)]
        assert len(sandbox.diff().changes) == 5
        assert call(sandbox, "INSERT INTO kinds (words) VALUES ('x')")[0].key == {"id": 2}


def test_a_fork_has_the_rows_and_goes_its_own_way(template: MariaDBTemplate):
    with template.open(Pins()) as sandbox:
        call(
            sandbox,
            "DELETE FROM parent WHERE id = 1",
            "DELETE FROM loose LIMIT 1",
            "UPDATE ranked SET name = 'f'",
        )
        with sandbox.fork() as fork:
            assert everything(fork) == everything(sandbox)
            call(fork, "DELETE FROM loose")
            assert len(ask(sandbox, "SELECT * FROM loose")) == 2
        with sandbox.fork() as again:
            assert again.state_hash() == sandbox.state_hash()


def test_what_a_killed_process_left_is_removed_by_the_next():
    """An orphan goes; a database that only looks like ours stays."""
    shown, token = server("mysql"), killed("mariadb")
    assert token.startswith("envs_")
    fresh = MariaDBServer(parse_url(shown))
    try:
        fresh.ask("CREATE DATABASE IF NOT EXISTS envs_0123456789ab_t0")
        names = [token]
        deadline = time.monotonic() + 60
        while any(token in name for name in names) and time.monotonic() < deadline:
            other = MariaDBServer(parse_url(shown))  # does nothing while another sweeps
            names = [str(row[0]) for row in other.ask("SHOW DATABASES")]
            names += [str(row[0]) for row in other.ask("SELECT user FROM mysql.user")]
            other.close()
        assert not [name for name in names if token in name]
        assert "envs_0123456789ab_t0" in names
        assert fresh.token in names
    finally:
        fresh.ask("DROP DATABASE IF EXISTS envs_0123456789ab_t0")
        fresh.close()


def test_the_first_word_is_found_behind_what_precedes_it():
    assert refusal("  (( SELECT 1)") is None
    assert refusal("/* a */ -- b\n # c\n with x as (select 1) select 1") is None
    for wrong in ("SELECTX", "", "/* unclosed SELECT", "/*!50000 SELECT 1 */", "--x\nSELECT 1"):
        assert refusal(wrong) is not None, wrong


@pytest.mark.parametrize(
    ("sql", "table"),
    [
        ("INSERT INTO a VALUES (1)", "a"),
        ("/* x */ insert ignore into `we``ird` (b) values (1)", "we`ird"),
        ("REPLACE LOW_PRIORITY a SELECT 1", "a"),
        ("INSERT INTO db.`a b` SET x = 1", "a b"),
        ("SELECT 1", None),
    ],
)
def test_the_table_that_an_insert_names(sql: str, table: str | None):
    found = read_insertion(sql)
    assert (found and found.table) == table


@pytest.mark.parametrize(
    ("sql", "generates"),
    [
        ("INSERT INTO t (a, b) VALUES (1, 2)", True),
        ("INSERT INTO t (a, `ID`) VALUES (1, 2)", False),
        ("INSERT INTO t (id, a) VALUES (5, 2)", False),
        ("INSERT INTO t (id, a) VALUES (NULL, 2)", True),
        ("INSERT INTO t VALUES (DEFAULT, 2)", True),
        ("INSERT INTO t VALUES (7, 2)", False),
        ("INSERT INTO t () VALUES ()", True),
        ("INSERT INTO t VALUES ()", True),
        ("INSERT INTO t SET a = 1", True),
        ("INSERT INTO t SET a = 1, id = 5", False),
        ("INSERT INTO t (SELECT 1, 2)", False),
        ("INSERT INTO t (a) SELECT 2", True),
    ],
)
def test_whether_an_insert_leaves_its_key_to_the_server(sql: str, generates: bool):
    found = read_insertion(sql)
    assert found is not None
    assert found.generates("id", 0) is generates


def test_a_key_that_is_given_is_not_a_triggers_and_hides_no_change(template: MariaDBTemplate):
    """A used copy, keys of one's own, a statement that inserts nothing: each change is on record,
    each counter in order.
    """
    with template.open(Pins()) as sandbox:
        call(
            sandbox,
            "INSERT INTO kinds (words) VALUES ('a'), ('b'), ('c'), ('d'), ('e'), ('f'), ('g'),"
            " ('h')",
        )
    with template.open(Pins()) as sandbox:
        assert [
            each.key for each in call(sandbox, "INSERT INTO kinds (id, words) VALUES (4, 'mine')")
        ] == [{"id": 4}]
        call(sandbox, "INSERT INTO kinds (words) SELECT 'none' FROM parent WHERE id = 99")
        changes = call(sandbox, "UPDATE parent SET name = 'z' WHERE id = 1")
        assert [(each.table, each.key) for each in changes] == [
            ("audit", {"id": 2}),
            ("parent", {"id": 1}),
        ]


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT/**/INTO kinds (words) VALUES ('x')",
        "INSERT -- to\n INTO/* the */kinds (words) VALUES ('/* x')",
        "INSERT /*!50000 INTO */ kinds (words) VALUES ('x')",
        "INSERT INTO words_of_kinds (words) VALUES ('x')",
    ],
)
def test_a_pooled_counter_is_not_the_next_rollouts(counted: MariaDBTemplate, sql: str):
    """However an insertion is written, its key is that of a fresh database."""
    keys: list[Any] = []
    for _ in range(3):
        with counted.open(Pins()) as sandbox:
            for _ in range(2):
                (change,) = call(sandbox, sql)
            keys.append(change.key)
    assert keys == [{"id": 2}] * 3


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO kinds (words, id) VALUES ('x', NULL)",
        "INSERT INTO kinds (id, words) VALUES (FALSE, 'x')",
        "INSERT INTO kinds (id, words) VALUES (DEFAULT(id), 'x')",
        "INSERT INTO kinds (id, words) SELECT NULL, 'x'",
        "INSERT INTO kinds (kinds.words) VALUES ('x')",
        "REPLACE INTO kinds SET id = NULL, words = 'x'",
    ],
)
def test_a_key_that_no_text_shows_is_that_of_a_fresh_database(plain: MariaDBTemplate, sql: str):
    with plain.open(Pins()) as sandbox:
        name = ask(sandbox, "SELECT database()")
        call(sandbox, "INSERT INTO kinds (words) VALUES ('a'), ('b'), ('c')")
    with plain.open(Pins()) as sandbox:
        assert ask(sandbox, "SELECT database()") == name
        (change,) = call(sandbox, sql)
    assert change.key == {"id": 1}


KINDS = "CREATE TABLE kinds (id int AUTO_INCREMENT PRIMARY KEY, words text)"


@pytest.fixture(scope="module")
def plain() -> Iterator[MariaDBTemplate]:
    with built("mysql", [KINDS]) as made:
        yield made


@pytest.fixture(scope="module")
def counted() -> Iterator[MariaDBTemplate]:
    with built("mysql", [KINDS, "CREATE VIEW words_of_kinds AS SELECT words FROM kinds"]) as made:
        yield made
