"""One row read under two sessions' settings: the values are written alike.

A role, a database or a URL may set the time zone and the forms of dates, intervals, floats and
bytes.
"""

from __future__ import annotations

import pytest
import sqlalchemy

from envs.connection import open_engine, parse_url
from envs.sandboxes.attached.access import access_of
from tests.unit.envs.sandboxes.attached.databases import on_server, run

VALUES = {
    "postgresql": (
        "CREATE TABLE seen (at timestamptz, took interval, share real, raw bytea, day date)",
        r"INSERT INTO seen VALUES ('2024-03-01 12:00+00', '1 day 2:00', 0.1, '\x00ff', '2024-03-01')",
        "SELECT at::text, took::text, share::text, raw::text, day::text, at FROM seen",
        (
            "ALTER DATABASE {name} SET timezone = 'Asia/Tokyo'",
            "ALTER DATABASE {name} SET datestyle = 'German'",
            "ALTER DATABASE {name} SET intervalstyle = 'iso_8601'",
            "ALTER DATABASE {name} SET bytea_output = 'escape'",
            "ALTER DATABASE {name} SET extra_float_digits = -6",
        ),
    ),
    "mariadb": (
        "CREATE TABLE seen (at TIMESTAMP NOT NULL)",
        "INSERT INTO seen VALUES (FROM_UNIXTIME(1709294400))",
        "SELECT at, CAST(at AS CHAR) FROM seen",
        (),
    ),
}
OPTIONS = {
    "postgresql": {"options": "-c intervalstyle=sql_standard"},
    "mariadb": {"init_command": "SET time_zone = '+09:00'"},
}


@pytest.mark.parametrize("engine", sorted(VALUES))
def test_values_are_written_alike(engine: str):
    table, row, query, others = VALUES[engine]
    with on_server(engine) as address:
        run(address, "SET time_zone = '+00:00'" if engine == "mariadb" else "SELECT 1", table, row)
        before = _read(address, query)
        url = parse_url(address)
        run(address, *(one.format(name=url.database) for one in others))
        set_otherwise = url.update_query_dict(OPTIONS[engine])
        assert _read(set_otherwise.render_as_string(hide_password=False), query) == before
    assert "2024-03-01 12:00:00" in str(before[0])


def _read(address: str, query: str) -> list[tuple[object, ...]]:
    """The rows as the reader of `synth new` and the one of attached databases read them."""
    out: list[tuple[object, ...]] = []
    readers = (open_engine(parse_url(address)), access_of(address).engine())
    for reader in readers:
        with reader.connect() as connection:
            rows = connection.execute(sqlalchemy.text(query)).all()
            connection.rollback()
            again = connection.execute(sqlalchemy.text(query)).all()
        assert rows == again
        out += [tuple(map(str, one)) for one in rows]
        reader.dispose()
    return out
