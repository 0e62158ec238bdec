"""PostgreSQL and MariaDB as engines of sandboxes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

from envs.connection import Driver, parse_url, require_driver
from envs.plugins import resolve
from envs.sandboxes.base import DatabaseTarget, Engine, Template


class _ServerEngine(Engine):
    """Sandboxes on a server; subclasses name the driver, the template and the default server."""

    needs_server = True

    driver: Driver
    template: str
    """The template's class as ``package.module:attribute``, since its module imports the driver."""

    default_url: str
    """The server on this machine, for a target without a URL."""

    def build(self, load: Callable[[Any], object], target: DatabaseTarget) -> Template:
        require_driver(self.driver)
        template = resolve(self.template)
        return template.build(
            load, target.url or self.default_url, target.kind, pool_size=target.pool_size
        )

    def leftovers(self, target: DatabaseTarget, *, remove: bool = False) -> Sequence[str]:
        require_driver(self.driver)
        template = resolve(self.template)
        url = parse_url(target.url or self.default_url)
        with closing(template.server_class(url, sweep=False)) as server:
            if remove:
                server.sweep()
            return server.orphans()


class PostgresEngine(_ServerEngine):
    """Sandboxes on a PostgreSQL server."""

    dialect = "postgresql"
    driver = "postgresql"
    template = "envs.sandboxes.postgres.sandbox:PostgresTemplate"
    default_url = "postgresql://postgres@127.0.0.1:5432/postgres"


class MariaDBEngine(_ServerEngine):
    """Sandboxes on a MariaDB server."""

    dialect = "mysql"
    driver = "mariadb"
    template = "envs.sandboxes.mariadb.sandbox:MariaDBTemplate"
    default_url = "mariadb://root@127.0.0.1:3306/"


POSTGRES = PostgresEngine()
MARIADB = MariaDBEngine()
