"""The objects that are built into a PostgreSQL template: a log of changes, a way back, exact
rights.

Every table has a trigger that records a row before and after its change. Its name begins with a
blank, so that it fires before the world's own triggers, and the log is in the order of the changes.
``taken()`` returns the log and empties it; ``put()`` sets rows and counters, past all triggers and
foreign keys. Both need the secret.
"""

from __future__ import annotations

import secrets
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg

from envs.quoting import quoted
from envs.sandboxes.postgres.clock import MOMENT, pin_defaults
from envs.sandboxes.postgres.schema import WORLD, PostgresTable, ask

FUNCTIONS_DENIED = (
    r"lo\_%", r"loread", r"lowrite", r"set\_config", r"pg\_advisory%", r"pg\_try\_advisory%",
    r"pg\_notify", r"pg\_terminate\_backend", r"pg\_cancel\_backend", r"pg\_export\_snapshot",
    r"pg\_logical%", r"pg\_replication%", r"pg\_read%", r"pg\_ls%", r"pg\_stat\_file",
    r"pg\_stat\_get%", r"pg\_stat\_reset%", r"pg\_lock\_status", r"pg\_log%", r"pg\_switch%",
    r"pg\_create%", r"pg\_drop%", r"pg\_reload%", r"pg\_rotate%", r"pg\_promote", r"pg\_backup%",
    r"pg\_wal\_%", r"query\_to\_xml%", r"cursor\_to\_xml%", r"table\_to\_xml%", r"schema\_to\_xml%",
    r"database\_to\_xml%", r"dblink%", r"pg\_tablespace\_databases", r"inet\_server%",
    r"inet\_client%", r"pg\_prepared%", r"pg\_cursor",
)  # fmt: skip
"""Large objects outlive a rollback and a read-only transaction, set_config undoes limits, counts
of a database's work tell of earlier rollouts, the others reach beyond the database.
"""

VIEWS_DENIED = (
    "pg_stat_activity", "pg_locks", "pg_database", "pg_roles", "pg_user", "pg_group",
    "pg_auth_members", "pg_stat_database", "pg_stat_database_conflicts", "pg_shdepend",
    "pg_replication_slots", "pg_stat_replication", "pg_shdescription", "pg_largeobject_metadata",
    "pg_db_role_setting",
)  # fmt: skip
"""Names of other sandboxes, and of what else is on the server."""

MAX_CHANGED_BYTES = 64_000_000
"""Text of the rows that one call may change, before and after: it comes to this process."""

_INSTALL = """
CREATE SCHEMA envs_guard;
CREATE UNLOGGED TABLE envs_guard.log
  (id bigint GENERATED ALWAYS AS IDENTITY, rel oid NOT NULL, old text, new text);
CREATE TABLE envs_guard.shape (rel oid PRIMARY KEY, wipe text NOT NULL, fill text NOT NULL);
CREATE TABLE envs_guard.secret (secret text NOT NULL);
CREATE TABLE envs_guard.counter
  (place int PRIMARY KEY, seq oid NOT NULL, last bigint NOT NULL, called bool NOT NULL);

CREATE FUNCTION envs_guard.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO envs_guard.log (rel, old, new) VALUES (TG_RELID, NULL, NEW::text);
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO envs_guard.log (rel, old, new) VALUES (TG_RELID, OLD::text, NULL);
  ELSE
    INSERT INTO envs_guard.log (rel, old, new) VALUES (TG_RELID, OLD::text, NEW::text);
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION envs_guard.taken(given text, room bigint)
RETURNS TABLE (rel oid, old text, new text)
LANGUAGE plpgsql SECURITY DEFINER AS $$
#variable_conflict use_column
BEGIN
  IF NOT EXISTS (SELECT FROM envs_guard.secret s WHERE s.secret = given) THEN
    RETURN;
  END IF;
  IF (SELECT sum(COALESCE(octet_length(old), 0) + COALESCE(octet_length(new), 0))
      FROM envs_guard.log) > least(room, {bytes}) THEN
    RAISE program_limit_exceeded USING MESSAGE = 'the call changes rows of more than '
      || least(room, {bytes}) || ' bytes';
  END IF;
  RETURN QUERY
    WITH gone AS (DELETE FROM envs_guard.log RETURNING *)
    SELECT g.rel, g.old, g.new FROM gone g ORDER BY g.id;
END $$;

CREATE FUNCTION envs_guard.counters() RETURNS bigint[] LANGUAGE sql SECURITY DEFINER AS $$
  SELECT array_agg(pg_catalog.pg_sequence_last_value(seq) ORDER BY place) FROM envs_guard.counter
$$;

CREATE FUNCTION envs_guard.put(secret text, what jsonb) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET session_replication_role = replica SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  part jsonb;
  found envs_guard.shape;
  counted envs_guard.counter;
BEGIN
  IF NOT EXISTS (SELECT FROM envs_guard.secret s WHERE s.secret = put.secret) THEN
    RAISE insufficient_privilege USING MESSAGE = 'permission denied for function put';
  END IF;
  FOR part IN SELECT jsonb_array_elements(what -> 'rows') LOOP
    SELECT * INTO STRICT found FROM envs_guard.shape s WHERE s.rel = (part ->> 0)::oid;
    EXECUTE found.wipe USING ARRAY(SELECT jsonb_array_elements_text(part -> 1));
    EXECUTE found.fill USING ARRAY(SELECT jsonb_array_elements_text(part -> 2));
  END LOOP;
  FOR part IN SELECT jsonb_array_elements(what -> 'counters') LOOP
    SELECT * INTO STRICT counted FROM envs_guard.counter c WHERE c.place = (part ->> 0)::int;
    IF part ->> 1 IS NULL THEN
      PERFORM setval(counted.seq, counted.last, counted.called);
    ELSE
      PERFORM setval(counted.seq, (part ->> 1)::bigint, true);
    END IF;
  END LOOP;
END $$;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA envs_guard FROM PUBLIC;
"""


_LOADING = """
CREATE SCHEMA envs_load;
CREATE FUNCTION envs_load.replica(role text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  PERFORM set_config('session_replication_role',
    CASE role WHEN 'replica' THEN 'replica' ELSE 'origin' END, false);
END $$;
CREATE FUNCTION envs_load.extension(name text, place text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  IF name NOT IN ({extensions}) THEN
    RAISE insufficient_privilege
      USING MESSAGE = format('permission denied to create extension "%s"', name);
  END IF;
  EXECUTE format('CREATE EXTENSION IF NOT EXISTS %I SCHEMA %I', name, place);
END $$;
CREATE FUNCTION envs_load.done() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  name text;
BEGIN
  FOR name IN SELECT p.oid::regprocedure::text FROM pg_proc p
      WHERE p.prokind = 'f' AND p.proname LIKE ANY (ARRAY[{functions}]) LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', name);
  END LOOP;
  FOREACH name IN ARRAY ARRAY[{views}] LOOP
    EXECUTE format('REVOKE ALL ON %I FROM PUBLIC', name);
  END LOOP;
  DROP SCHEMA envs_load CASCADE;
END $$;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA envs_load FROM PUBLIC;
"""

EXTENSIONS = (
    "autoinc", "bloom", "earthdistance", "insert_username", "intagg", "moddatetime", "refint",
)  # fmt: skip
"""Extensions that PostgreSQL trusts to superusers, though they reach rows only."""


def prepare_loading(db: psycopg.Connection[Any]) -> None:
    """Make the functions that :func:`loading` needs, as superuser, whose rights they have."""
    names = {"extensions": EXTENSIONS, "functions": FUNCTIONS_DENIED, "views": VIEWS_DENIED}
    lists = {kind: ", ".join(f"'{name}'" for name in own) for kind, own in names.items()}
    ask(db, _LOADING.format_map(lists))


def grant_loading(db: psycopg.Connection[Any], role: str, option: str = "") -> None:
    ask(db, f"GRANT USAGE ON SCHEMA envs_load TO {role} {option}")
    ask(db, f"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA envs_load TO {role} {option}")


@contextmanager
def loading(db: psycopg.Connection[Any], owner: str) -> Generator[None]:
    """Context in which the owner loads a template: rows may come in any order, past triggers and
    foreign keys, where a script asks for it, and with EXTENSIONS. After it PUBLIC has no right to
    FUNCTIONS_DENIED and VIEWS_DENIED. ``db`` is a connection that may pass on the rights of
    :func:`grant_loading`.
    """
    grant_loading(db, owner)
    yield
    ask(db, "SELECT envs_load.done()")


def install(db: psycopg.Connection[Any], shapes: Mapping[int, PostgresTable], users: str) -> str:
    """Build the guard into a template, as the administrator; returns the secret of ``put``."""
    secret = secrets.token_hex(16)
    with db.transaction():
        ask(db, _INSTALL.replace("{bytes}", str(MAX_CHANGED_BYTES)) + MOMENT)
        pin_defaults(db)
        ask(db, "INSERT INTO envs_guard.secret VALUES (%s)", secret)
        for shape in shapes.values():
            ask(
                db,
                "INSERT INTO envs_guard.shape VALUES (%s, %s, %s)",
                shape.oid,
                shape.wipe,
                shape.fill,
            )
            ask(
                db,
                f'CREATE TRIGGER " envs_note" AFTER INSERT OR UPDATE OR DELETE ON {shape.path}'
                " FOR EACH ROW EXECUTE FUNCTION envs_guard.note()",
            )
        _count(db)
        _grant(db, users)
    _order(db, shapes)
    return secret


def _order(db: psycopg.Connection[Any], shapes: Mapping[int, PostgresTable]) -> None:
    """Write the rows of a table with a key in its order, as ``put`` writes them again: there a row
    has the same place in every copy, so that a query without ORDER BY finds the same order.

    VACUUM comes first: it makes a map of free space, which a table written again has not.
    """
    if not shapes:
        return
    paths = ", ".join(shape.path for shape in shapes.values())
    ask(db, f"VACUUM (FREEZE) {paths}")
    for shape in shapes.values():
        if shape.key:
            (index,) = ask(
                db,
                "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE"
                f" i.indisprimary AND i.indrelid = {shape.oid}",
            ).fetchone() or ("",)
            ask(db, f"CLUSTER {shape.path} USING {quoted(index)}")
    ask(db, f"ANALYZE {paths}")


def _count(db: psycopg.Connection[Any]) -> None:
    sequences = ask(
        db,
        "SELECT c.oid, n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid ="
        f" c.relnamespace WHERE c.relkind = 'S' AND {WORLD} ORDER BY n.nspname, c.relname",
    ).fetchall()
    for place, (oid, schema, name) in enumerate(sequences):
        state = ask(
            db, f"SELECT last_value, is_called FROM {quoted(schema)}.{quoted(name)}"
        ).fetchone()
        assert state is not None
        ask(db, "INSERT INTO envs_guard.counter VALUES (%s, %s, %s, %s)", place, oid, *state)


def _grant(db: psycopg.Connection[Any], users: str) -> None:
    schemas: Iterable[tuple[str]] = ask(
        db, f"SELECT n.nspname FROM pg_namespace n WHERE {WORLD}"
    ).fetchall()
    for (schema,) in schemas:
        name = quoted(schema)
        ask(db, f"REVOKE CREATE ON SCHEMA {name} FROM PUBLIC")
        ask(db, f"GRANT USAGE ON SCHEMA {name} TO {users}")
        ask(db, f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {name} TO {users}")
        ask(db, f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {name} TO {users}")
    ask(db, f"GRANT USAGE ON SCHEMA envs_guard TO {users}")
    ask(
        db,
        "GRANT EXECUTE ON FUNCTION envs_guard.taken(text, bigint), envs_guard.counters(),"
        f" envs_guard.put(text, jsonb) TO {users}",
    )
