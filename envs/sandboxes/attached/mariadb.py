"""MariaDB and MySQL: READ ONLY transactions, and no statement that writes beside them."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from typing import Any

import sqlalchemy
from pymysql.constants import CLIENT
from pymysql.cursors import SSCursor

from envs.connection import bound_connects
from envs.sandboxes.attached.access import CONNECT_S, ONLY_READS, QUERIES, Access, first_word
from envs.sandboxes.mariadb import statement_guard
from envs.sandboxes.mariadb.wire import abandon

_BESIDE = re.compile(
    r"\b(OUTFILE|DUMPFILE|LOAD_FILE|FOR\s+UPDATE|LOCK\s+IN\s+SHARE\s+MODE)\b", re.IGNORECASE
)
"""Words of a query that writes files of the server, reads them, or locks rows. They are refused
wherever they stand, texts and comments included: a comment may be code to the server.
"""


class MariaDBAccess(Access):
    """Reading a database on a server of MariaDB or MySQL."""

    hangs_up = True

    def reading_url(self) -> sqlalchemy.URL:
        return self.url.set(drivername="mysql+pymysql")

    def engine_options(self) -> dict[str, Any]:
        flags = int(str(self.url.query.get("client_flag", 0)))
        own = {"client_flag": flags & ~CLIENT.MULTI_STATEMENTS, "local_infile": False}
        limit = {} if "connect_timeout" in self.url.query else {"connect_timeout": CONNECT_S}
        return {"connect_args": {**limit, **own}}

    def engine(self) -> sqlalchemy.Engine:
        engine = super().engine()
        bound_connects(engine)
        return engine

    def begin(self, raw: Any, timeout_ms: int | None) -> None:
        ms = timeout_ms or 0
        limit = (
            f"max_statement_time = {ms / 1000}"
            if "MariaDB" in raw.get_server_info()
            else f"max_execution_time = {ms}"
        )
        with raw.cursor() as cursor:
            cursor.execute(f"SET SESSION {limit}")
            cursor.execute("START TRANSACTION READ ONLY")

    def pin(self, raw: Any, moment: dt.datetime) -> None:
        with raw.cursor() as cursor:
            cursor.execute(f"SET SESSION timestamp = {moment.replace(tzinfo=dt.UTC).timestamp()}")

    def refusal(self, raw: Any, sql: str, parameters: Any) -> str | None:
        if (denied := statement_guard.refusal(sql, read_only=True)) is not None:
            raise denied
        if first_word(sql) not in QUERIES:
            return ONLY_READS
        if (found := _BESIDE.search(sql)) is not None:
            return f"{ONLY_READS}; {' '.join(found.group().upper().split())} may not stand in one"
        return None

    def rows(self, cursor: Any, sql: str, parameters: Any) -> Iterator[Any]:
        reader = SSCursor(cursor.connection)
        try:
            reader.execute(sql, parameters)
            cursor.description = reader.description
            yield from iter(reader.fetchone, None)
        except GeneratorExit:
            abandon(reader)
            raise
