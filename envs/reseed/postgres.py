"""A world in a PostgreSQL database, in one transaction: all of it, or nothing has changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envs.errors import ScriptError
from envs.reseed.base import MARKER, ReseedRefused, Scripts
from envs.reseed.objects import Touch, touches
from envs.reseed.postgres_objects import Before, Found, last_values, objects
from envs.scripts import run_script

_LOCK = 0x53594E54
"""Key of the session's advisory lock that keeps two reseeds of one database apart."""


class PostgresReseed:
    """One reseed on an open psycopg connection without autocommit; the caller ends it."""

    def __init__(self, connection: Any, scripts: Scripts, digest: str, *, force: bool) -> None:
        self._connection = connection
        self._scripts = scripts
        self._digest = digest
        self._force = force
        self.replaced = False

    def run(self) -> tuple[int, dict[str, int]]:
        """Number of statements and rows per table. ReseedRefused, ScriptError: the transaction must
        be rolled back.

        The transaction sees nothing of what other sessions do meanwhile, so that their work is
        neither taken for the scripts' nor marked as made here. It begins behind the lock, which the
        session holds until it is closed.
        """
        self._rows("SELECT pg_advisory_lock(%s)", _LOCK)
        sequences = last_values(self._rows)
        self._connection.commit()
        self._rows("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        schema = self._rows("SELECT current_schema()")[0][0]
        if schema is None:
            raise ReseedRefused("this user's search_path names no schema that exists")
        ours = self._ours()
        self.replaced = bool(ours)
        self._drop(ours)
        planned = [touch for path in self._scripts.paths for touch in touches(path, "postgresql")]
        created = {self._place(item, schema) for item in planned if item.action == "create"}
        self._clear(planned, created, str(schema))
        before = Before.of(self._rows, sequences)
        self._rows("SAVEPOINT synth_load")
        try:
            statements = sum(
                run_script(path, self._connection, "postgresql") for path in self._scripts.paths
            )
            after = objects(self._rows)
            touched = before.touched(self._rows, after)
            replaced = self._replaced_routines(touched, created)
            if len(touched) > len(replaced):
                shown = ", ".join(sorted(set(touched) - replaced))
                raise ReseedRefused(f"the scripts change what they did not make: {shown}")
        except (ReseedRefused, ScriptError):
            self._rows("ROLLBACK TO SAVEPOINT synth_load")
            before.put_back_sequences(self._rows)
            raise
        made = {
            key: value
            for key, value in after.items()
            if key not in before.objects or value[1] in replaced
        }
        self._mark(made)
        tables = sorted(name for kind, name, _ in made.values() if kind == "TABLE")
        short = f"{schema}."
        return statements, {
            name.removeprefix(short): int(self._rows(f"SELECT count(*) FROM {name}")[0][0])
            for name in tables
        }

    def _ours(self) -> Found:
        """Objects that earlier reseeds of this world made, still the same under the same name."""
        if self._rows("SELECT to_regclass(%s)", MARKER)[0][0] is None:
            self._rows(
                f"CREATE TABLE {MARKER} (world text NOT NULL, digest text NOT NULL, catalog text"
                " NOT NULL, oid int8 NOT NULL, name text NOT NULL)"
            )
            self._rows(
                f"COMMENT ON TABLE {MARKER} IS 'What synth reseed made here, and may replace'"
            )
        there = objects(self._rows)
        marked = self._rows(
            f"SELECT catalog, oid, name FROM {MARKER} WHERE world = %s", self._scripts.world
        )
        return {
            (catalog, oid): there[catalog, oid]
            for catalog, oid, name in marked
            if (catalog, oid) in there and there[catalog, oid][1] == name
        }

    def _clear(self, planned: Sequence[Touch], created: set[str], schema: str) -> None:
        """Refuse, or with force drop, what stands where the world's own is to be."""
        names = {
            value[1].replace('"', ""): (key, value) for key, value in objects(self._rows).items()
        }
        for item in planned:
            place = self._place(item, schema)
            if item.action == "change" and place not in created and place in names:
                raise ReseedRefused(
                    f"{item.file}:{item.line}: {item.shown} is there already and is not created by"
                    " this world: a reseed changes nothing that it does not make"
                )
        taken = dict(names[place] for place in sorted(created & set(names)))
        if taken and not self._force:
            shown = ", ".join(sorted(name for _, name, _ in taken.values()))
            raise ReseedRefused(
                f"synth did not make {shown}; use another database, or --force to replace"
            )
        self.replaced = self.replaced or bool(taken)
        self._drop(taken)

    def _replaced_routines(self, touched: dict[str, str], created: set[str]) -> set[str]:
        """Routines of a name that the schema creates, which force lets CREATE OR REPLACE replace.

        They cannot be dropped beforehand as tables are: which of several of one name is meant, only
        the server can say.
        """
        if not self._force:
            return set()
        routines = {"FUNCTION", "PROCEDURE", "AGGREGATE"}
        return {
            name
            for name, kind in touched.items()
            if kind in routines and name.split("(", 1)[0].replace('"', "") in created
        }

    @staticmethod
    def _place(touch: Touch, schema: str) -> str:
        return f"{touch.schema or schema}.{touch.name}"

    def _drop(self, found: Found) -> None:
        """Drop objects without CASCADE: something else that depends on one of them stops it.

        They may depend on each other in any order (a view on a function, a function on a table's
        row type), so rounds are made until nothing is left or nothing moves.
        """
        left = dict(found)
        while left:
            before, words = len(left), ""
            for kind in sorted({value[0] for value in left.values()}, key=_drop_order):
                keys = [key for key, value in left.items() if value[0] == kind]
                for group in [keys, *([key] for key in keys)]:
                    group_left = [key for key in group if key in left]
                    names = ", ".join(left[key][1] for key in group_left)
                    refusal = self._try(f"DROP {kind} IF EXISTS {names}") if names else None
                    if refusal is None:
                        for key in group_left:
                            del left[key]
                    else:
                        words = refusal
            if len(left) == before:
                raise ReseedRefused(
                    f"something that this world did not make depends on it: {words}"
                )

    def _try(self, statement: str) -> str | None:
        """Run a statement, undone if it fails: then the database's words."""
        self._rows("SAVEPOINT synth_drop")
        try:
            self._rows(statement)
        except self._connection.Error as error:
            self._rows("ROLLBACK TO SAVEPOINT synth_drop")
            parts = (error.diag.message_primary, error.diag.message_detail)
            return "; ".join(str(part) for part in parts if part)
        self._rows("RELEASE SAVEPOINT synth_drop")
        return None

    def _mark(self, made: Found) -> None:
        self._rows(f"DELETE FROM {MARKER} WHERE world = %s", self._scripts.world)
        for (catalog, oid), (_, name, _) in sorted(made.items()):
            self._rows(
                f"INSERT INTO {MARKER} VALUES (%s, %s, %s, %s, %s)",
                self._scripts.world,
                self._digest,
                catalog,
                oid,
                name,
            )

    def _rows(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(statement, parameters or None)
            return cursor.fetchall() if cursor.description else []


def _drop_order(kind: str) -> tuple[bool, bool, str]:
    """Mostly the order in which things stop being needed: it saves rounds, and is not relied on."""
    return (kind in {"SCHEMA", "EXTENSION"}, "VIEW" not in kind, kind)
