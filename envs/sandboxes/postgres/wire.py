"""psycopg's connection, which gives up a server that falls silent: libpq bounds only the login."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

import psycopg

from envs import connection


class PostgresConnection(psycopg.Connection[Any]):
    """A connection that is lost where the server says nothing for
    :data:`envs.connection.SILENCE_S`: what waits raises :class:`psycopg.OperationalError`.
    """

    def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
        return super().wait(self._hear(gen), *args, **kwargs)

    def _hear(self, gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """Pass on what psycopg waits for, and what came: 0 where its short wait was in vain."""
        silence_s, heard = connection.SILENCE_S, time.monotonic()
        try:
            wanted = next(gen)
            while True:
                if ready := (yield wanted):
                    heard = time.monotonic()
                elif time.monotonic() - heard > silence_s:
                    self.pgconn.finish()
                    raise psycopg.OperationalError(
                        f"the connection is lost: the server was silent for {silence_s:g} s"
                    )
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value
        finally:
            gen.close()
