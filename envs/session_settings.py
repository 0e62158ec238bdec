"""Settings of a session that decide how it writes values and how long it may take, whatever its
role or database says.

A timestamp with a time zone, an interval, a float and bytes are written by the settings of the
session. Without fixed ones, two roles read two values from one row.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy
from sqlalchemy import event

POSTGRES = (
    "timezone = 'UTC'",
    "datestyle = 'ISO, MDY'",
    "intervalstyle = 'postgres'",
    "bytea_output = 'hex'",
    "extra_float_digits = 1",
    "statement_timeout = 0",
    "lock_timeout = 0",
    "idle_in_transaction_session_timeout = 0",
)
MARIADB = (
    "time_zone = '+00:00'",
    "sql_select_limit = DEFAULT /*M!100100 , max_statement_time = 0 */",
)

SETTINGS = {"postgresql": POSTGRES, "mysql": MARIADB, "mariadb": MARIADB}
"""The settings by the name of SQLAlchemy's dialect. Other dialects have none. Limits that a role or
a server sets for other work would end a long reading, or cut its rows.
"""


def fix_settings(engine: sqlalchemy.Engine) -> sqlalchemy.Engine:
    """Give each session of the engine the settings of its dialect, before anything else runs."""
    settings = SETTINGS.get(engine.dialect.name, ())

    def on_connect(raw: Any, record: object) -> None:
        cursor = raw.cursor()
        for setting in settings:
            cursor.execute(f"SET {setting}")
        cursor.close()
        raw.commit()  # or a rollback would take the settings back

    if settings:
        event.listen(engine, "connect", on_connect)
    return engine
