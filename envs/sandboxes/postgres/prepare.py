"""``python -m envs.sandboxes.postgres.prepare ROLE --dsn-env-var NAME``: let a role that is no
superuser make sandboxes.

Run it once per server and version as a superuser. The role needs CREATEDB and CREATEROLE; it then
owns the databases of its sandboxes and touches no other. It is granted ``pg_signal_backend`` (to
end sessions of sandboxes), three settings for the roles that it makes, and a function that reads
how much memory a session takes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import psycopg
import sqlalchemy

from envs.connection import DatabaseConnectionConfig, connect_args, connect_postgres, driver_args
from envs.errors import DatabaseConfigError
from envs.quoting import quoted
from envs.sandboxes.postgres.base_database import GROUP, PARAMETERS, furnish, prepared_name
from envs.sandboxes.postgres.schema import ask
from envs.sandboxes.postgres.server import first_line
from envs.sandboxes.postgres.template_objects import grant_loading

_OWNER = f"{GROUP}_owner"
"""The account that the bounded functions act as."""

_MEMORY = f"""
CREATE SCHEMA IF NOT EXISTS {GROUP};
CREATE OR REPLACE FUNCTION {GROUP}.memory(pid int) RETURNS text
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
  SELECT pg_read_file('/proc/' || pid || '/statm', 0, 200, true)
$$;
REVOKE ALL ON FUNCTION {GROUP}.memory(int) FROM PUBLIC;
GRANT USAGE ON SCHEMA {GROUP} TO {GROUP};
GRANT EXECUTE ON FUNCTION {GROUP}.memory(int) TO {GROUP};
"""


def prepare(url: sqlalchemy.URL, role: str) -> str:
    """Prepare the server for a role; ``url`` is a superuser's, with the database that the role
    will connect to.

    Returns the name of the prepared database; one of an older version is left for other roles.
    Raises DatabaseConfigError where the server refuses.
    """
    try:
        with _connect(url) as admin:
            ask(admin, "SELECT pg_advisory_lock(hashtext(%s))", GROUP)
            _allow(admin, role)
            name = prepared_name()
            if not ask(admin, "SELECT FROM pg_database WHERE datname = %s", name).fetchall():
                ask(admin, f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
                ask(admin, f"REVOKE ALL ON DATABASE {name} FROM PUBLIC")
                with _connect(url.set(database=name)) as base:
                    furnish(base, _OWNER)
                    grant_loading(base, GROUP, "WITH GRANT OPTION")
                ask(admin, f"ALTER DATABASE {name} IS_TEMPLATE true")
    except psycopg.Error as error:
        raise DatabaseConfigError(f"PostgreSQL refused: {first_line(error)}") from None
    return name


def _allow(admin: psycopg.Connection[tuple[object, ...]], role: str) -> None:
    if int(admin.info.server_version) < 150_000:
        raise DatabaseConfigError("sandboxes of a role without superuser need PostgreSQL 15")
    known = {str(name) for (name,) in ask(admin, "SELECT rolname FROM pg_roles")}
    if role not in known:
        raise DatabaseConfigError(
            f"unknown role {role}: CREATE ROLE {quoted(role)} LOGIN CREATEDB CREATEROLE"
        )
    for name in {GROUP, _OWNER} - known:
        ask(admin, f"CREATE ROLE {name} NOLOGIN")
    ask(admin, f"GRANT SET ON PARAMETER {', '.join(PARAMETERS)} TO {GROUP}")
    ask(admin, _MEMORY)
    ask(admin, f"GRANT {GROUP}, pg_signal_backend TO {quoted(role)}")


def _connect(url: sqlalchemy.URL) -> psycopg.Connection[tuple[object, ...]]:
    return connect_postgres(
        psycopg, **{**connect_args(url, 10), **driver_args(url)}, autocommit=True
    )


def main(arguments: Sequence[str]) -> int:
    """Run the command; 0 when the role can make sandboxes, 2 with a message where it cannot."""
    parser = argparse.ArgumentParser(
        prog="python -m envs.sandboxes.postgres.prepare",
        description="Let an ordinary role make sandboxes on a PostgreSQL server.",
    )
    parser.add_argument("role", metavar="ROLE", help="a role with LOGIN, CREATEDB and CREATEROLE")
    parser.add_argument(
        "--dsn-env-var",
        metavar="NAME",
        required=True,
        help="the variable with a superuser's URL, whose database the role connects to, too",
    )
    options = parser.parse_args(arguments)
    try:
        url = DatabaseConnectionConfig(dsn_env_var=options.dsn_env_var).url()
        name = prepare(url, options.role)
    except DatabaseConfigError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write(f"prepared {name}: the role {options.role} can make sandboxes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
