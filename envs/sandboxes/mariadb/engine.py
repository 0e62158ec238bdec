"""MariaDB as an engine of sandboxes."""

from __future__ import annotations

from envs.sandboxes.server.engine import ServerEngine


class MariaDBEngine(ServerEngine):
    """Sandboxes on a MariaDB server."""

    dialect = "mysql"
    driver = "mariadb"
    template = "envs.sandboxes.mariadb.sandbox:MariaDBTemplate"
    default_url = "mariadb://root@127.0.0.1:3306/"


ENGINE = MariaDBEngine()
