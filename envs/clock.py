"""The time of a rollout, on every engine."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection


def now(db: Connection) -> dt.datetime:
    """The time at which the sandbox of this connection stands: UTC, without offset.

    SQLite's ``CURRENT_TIMESTAMP`` stands still there too, a server's runs on: an executor that asks
    here writes the same rows on every engine. A connection that is no sandbox's has the real time.
    """
    pinned = db.info.get("now")
    if isinstance(pinned, dt.datetime):
        return pinned
    return dt.datetime.now(dt.UTC).replace(tzinfo=None)
