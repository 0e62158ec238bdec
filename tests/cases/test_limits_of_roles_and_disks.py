"""Issue 29: a timeout of a role, or a disk that cannot be written, while a world is made.

Limits that are meant for other work are lifted for our own sessions, and a disk is the operator's.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from envs.connection import open_engine, parse_url
from synth.errors import OperatorError
from synth.ext.authoring.folder import new_folder, write_files
from tests.live_schema import empty_database
from tests.servers import server


def test_a_timeout_of_a_role_ends_no_reading():
    with empty_database("postgresql") as url:
        reader = open_engine(parse_url(url))
        with reader.begin() as db:
            db.exec_driver_sql(f"ALTER DATABASE {reader.url.database} SET statement_timeout = 1000")
        reader.dispose()
        with reader.connect() as db:
            assert db.exec_driver_sql("SHOW statement_timeout").scalar_one() == "0"
            reset = "SELECT reset_val FROM pg_settings WHERE name = 'statement_timeout'"
            assert db.exec_driver_sql(reset).scalar_one() == "1000"
        reader.dispose()


def test_a_limit_of_a_server_cuts_no_rows():
    url = parse_url(server("mariadb")).update_query_dict(
        {"init_command": "SET sql_select_limit = 1"}
    )
    reader = open_engine(url)
    with reader.connect() as db:
        assert len(db.exec_driver_sql("SELECT 1 UNION SELECT 2").all()) == 2
    reader.dispose()


def test_a_full_or_read_only_disk_is_the_operators(tmp_path: Path):
    place = tmp_path / "file"
    place.write_text("no folder")
    with (
        pytest.raises(OperatorError, match="world: cannot be written: "),
        new_folder(place / "world"),
    ):
        pass
    with (
        pytest.raises(OperatorError, match="cannot be written: No space left"),
        new_folder(tmp_path / "full") as folder,
    ):
        (folder / "a").symlink_to("/dev/full")
        write_files(folder, {"a": "x" * 100_000})
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
