"""A world as a SQLite file: built beside its place, synced, and renamed into it."""

from __future__ import annotations

import os
import shlex
import sqlite3
import stat
import tempfile
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from envs.errors import WorldError
from envs.reseed.base import ReseedRefused, ReseedReport, Scripts
from envs.sandboxes.load_bounds import bounded_load
from envs.scripts import run_script
from envs.world.seed_rows import insert_rows
from envs.world.world import check_keys

APPLICATION_ID = 0x53594E54
"""``SYNT`` in ASCII, in the header of every file that a reseed makes (``PRAGMA application_id``):
its licence to replace it.
"""

_MAGIC = b"SQLite format 3\0"
_SIDES = ("-wal", "-shm", "-journal")


def reseed_sqlite(scripts: Scripts, out: Path, *, force: bool) -> ReseedReport:
    """Build the file. ReseedRefused, and left as it was, where another is there or it is in use."""
    target = Path(os.path.realpath(out))
    if not target.parent.is_dir():
        raise ReseedRefused(f"folder not found: {target.parent}")
    replaced = _may_replace(target, force=force)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".reseed", dir=target.parent)
    os.close(handle)
    built = Path(name)
    try:
        statements, rows = _build(scripts, built)
        built.chmod(target.stat().st_mode & 0o777 if replaced else 0o666 & ~_umask())
        _sync(built)
        _put(built, target, force=force)
    finally:
        for item in (built, *(Path(f"{built}{side}") for side in _SIDES)):
            item.unlink(missing_ok=True)
    return ReseedReport(
        world=scripts.world,
        engine="sqlite",
        where=str(target),
        rows=rows,
        statements=statements,
        replaced=replaced,
        open_with=f"sqlite3 {shlex.quote(str(out))}",
    )


def _build(scripts: Scripts, path: Path) -> tuple[int, dict[str, int]]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        # The file is worth nothing before it is whole: no sync until then.
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("PRAGMA journal_mode=MEMORY")
        with bounded_load(lambda: path.stat().st_size, connection.interrupt):
            statements = sum(run_script(item, connection, "sqlite") for item in scripts.paths)
            if scripts.rows:
                statements += sum(insert_rows(connection, scripts.rows, "sqlite").values())
            check_keys(connection, scripts.paths[0], scripts.paths[-1])
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        names = [
            str(row[0])
            for row in connection.execute(
                "SELECT name FROM pragma_table_list WHERE schema='main' AND type IN ('table',"
                " 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
            )
        ]
        if not names:
            raise WorldError("the schema creates no table", scripts.paths[0])
        quoted = {name: '"' + name.replace('"', '""') + '"' for name in names}
        return statements, {
            name: int(connection.execute(f"SELECT count(*) FROM {quoted[name]}").fetchone()[0])
            for name in names
        }


def _may_replace(target: Path, *, force: bool) -> bool:
    """True if there is a file to replace; ReseedRefused if a reseed did not make it."""
    try:
        state = target.stat()
    except FileNotFoundError:
        left = [f"{target}{side}" for side in _SIDES if Path(f"{target}{side}").exists()]
        if left and not force:
            raise ReseedRefused(
                f"{left[0]} belongs to a database that is gone, and SQLite would apply it to the"
                " new one; move it away, or use --force"
            ) from None
        return False
    if not stat.S_ISREG(state.st_mode):
        raise ReseedRefused(f"{target} is not a file")
    with target.open("rb") as file:
        header = file.read(100)
    if force:
        return True
    if not header.startswith(_MAGIC):
        raise ReseedRefused(
            f"{target} is not a SQLite database; choose another file by --out, or use --force"
        )
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise ReseedRefused(
            f"{target} is a database that synth did not make; choose another file by --out, or use"
            " --force"
        )
    return True


def _put(built: Path, target: Path, *, force: bool) -> None:
    with _alone(target):
        _may_replace(target, force=force)  # it may have come while we built
        for side in _SIDES:
            Path(f"{target}{side}").unlink(missing_ok=True)
        built.replace(target)
    _sync(target.parent)


@contextmanager
def _alone(target: Path) -> Generator[None]:
    """Hold the database that is about to be replaced, so that nobody is in the middle of using it.

    A process that has it open in WAL mode would write the old database's log beside the new one,
    hence the switch out of WAL, which SQLite grants to the last connection only. A file that is no
    database has nobody to ask.
    """
    if not target.exists() or not target.read_bytes()[:16].startswith(_MAGIC):
        yield
        return
    with closing(sqlite3.connect(target, timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("PRAGMA journal_mode=DELETE").fetchall()
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                raise ReseedRefused(
                    f"{target} is in use by another process; close it there first"
                ) from error
            raise ReseedRefused(f"{target} cannot be opened: {error}") from error
        except sqlite3.DatabaseError:
            # not a readable database: it was allowed to be replaced, and cannot be in use as one
            pass
        yield


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
