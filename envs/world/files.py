"""The files of a world's folder, and those that it shares with a world beside it.

A world whose ``world.yaml`` names another ``database`` has the schema, the seed and the ``seed.py``
of that folder: every ``.sql``, ``.csv``, ``.txt`` and ``.json`` file of it, the modules that its
``seed.py`` imports, and the columns that its own ``world.yaml`` declares. Its own policy, tools,
tasks and README stay its own. For the digest, for archives and for workers a shared file counts as
a file of this world, and the ``world.yaml`` that shares it does not: an unpacked archive is a
complete world that needs no folder beside it.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath

from envs.errors import WorldError
from envs.plugins import ENGINES
from envs.sandboxes.base import find_engine
from envs.world.world_file import WORLD_FILE, read_world_file

SUFFIXES = frozenset({".sql", ".py", ".yaml", ".yml", ".md", ".json", ".csv", ".txt"})
"""Files that make a world, beside :data:`PHRASINGS`; others neither count nor travel."""

PHRASINGS = "phrasings.jsonl"
"""The file of a world with other words for its users, which counts as well."""

_SHARED_SUFFIXES = frozenset({".sql", ".json", ".csv", ".txt"})

_NEVER_SHARED = frozenset({"executors.py", "tasks.py", "rewards.py"})
"""Modules that a world loader reads by name: in an archive they would add what is not its own."""


def world_files(folder: Path) -> dict[str, Path]:
    """The files that make a world by their names in it, sorted; shared files lie in other folders.

    Hidden files are left out, and so are links that lead elsewhere than into this world or into a
    world beside it. Raises :class:`~envs.errors.WorldError` for a wrong ``world.yaml``.
    """
    own = _own_files(folder)
    home = database_folder(folder)
    if home == folder.resolve():
        return own
    del own[WORLD_FILE]
    shared = _shared_files(home)
    for name in sorted(own.keys() & shared.keys()):
        raise _fault(
            folder, f"{name} is in this world and in the world whose database it shares ({home})"
        )
    return _by_parts(own | shared)


def world_digest(folder: Path, without: Collection[str] = ()) -> str:
    """Digest over the names and bytes of :func:`world_files`, but for those ``without``."""
    total = hashlib.sha256()
    kept = {name: file for name, file in world_files(folder).items() if name not in without}
    for name, file in kept.items():
        total.update(f"{name}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()[:16]


def database_folder(folder: Path) -> Path:
    """The folder that holds the schema and the seed of a world: its own unless ``world.yaml`` names
    another.

    Raises :class:`~envs.errors.WorldError` with file and line for a ``world.yaml`` that is wrong, a
    folder that holds no world, and worlds that share in a circle.
    """
    folder = folder.resolve()
    passed = [folder]
    while (target := _shared_folder(passed[-1])) is not None:
        if target in passed:
            circle = " -> ".join(item.name for item in [*passed, target])
            raise _fault(passed[-1], f"`database` goes round in a circle: {circle}")
        passed.append(target)
    if len(passed) > 1 and not _holds_database(passed[-1]):
        raise _fault(
            passed[-2], f"`database` leads to {passed[-1]}, which has no schema.sql and seed.sql"
        )
    return passed[-1]


def find_script(folder: Path, stem: str, engine: str) -> Path | None:
    """Find a script for an engine: the engine's, its SQL dialect's, or the plain one.

    So ``schema.mysql.sql`` serves MariaDB, unless there is a ``schema.mariadb.sql``.
    """
    names = dict.fromkeys((ENGINES.find(engine).name, find_engine(engine).dialect))
    candidates = [folder / f"{stem}.{name}.sql" for name in names]
    return next((path for path in [*candidates, folder / f"{stem}.sql"] if path.is_file()), None)


def read_text(file: Path) -> str:
    """The text of a world's file. Raises :class:`~envs.errors.WorldError` for what is not UTF-8."""
    try:
        return file.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise WorldError(f"not UTF-8 at byte {error.start}", file) from None


def _own_files(folder: Path) -> dict[str, Path]:
    home = folder.resolve()
    files = {
        file.relative_to(folder).as_posix(): file
        for file in folder.rglob("*")
        if file.is_file()
        and (file.suffix in SUFFIXES or file == folder / PHRASINGS)
        and _stays_home(file.resolve(), home)
        and not any(
            part.startswith((".", "__pycache__")) for part in file.relative_to(folder).parts
        )
    }
    return _by_parts(files)


def _by_parts(files: Mapping[str, Path]) -> dict[str, Path]:
    """Sorted as paths are: what is in a folder comes before a file whose name begins like it."""
    return dict(sorted(files.items(), key=lambda item: PurePosixPath(item[0]).parts))


def _stays_home(file: Path, folder: Path) -> bool:
    """True for a file in this world, or in a world whose folder is beside this one."""
    beside = file.parent.parent == folder.parent and any(file.parent.glob("schema*.sql"))
    return file.is_relative_to(folder) or beside


def _holds_database(folder: Path) -> bool:
    return (folder / "databases.json").is_file() or all(
        any(folder.glob(f"{stem}*.sql")) for stem in ("schema", "seed")
    )


def _shared_folder(folder: Path) -> Path | None:
    """The folder that ``world.yaml`` names, or None where there is no such file."""
    file = folder / WORLD_FILE
    named = read_world_file(folder).database
    if named is None:
        return None
    value, line = named
    if Path(value).is_absolute():
        raise WorldError(
            f"`database: {value}` is an absolute path; name a folder beside this world, as"
            " ../NAME, so that the worlds can move together",
            file,
            line,
        )
    target = (folder / value).resolve()
    if not target.is_relative_to(folder.parent) or target == folder.parent:
        raise WorldError(
            f"`database: {value}` leads out of the folder {folder.parent}; name a folder beside"
            " this world, as ../NAME",
            file,
            line,
        )
    if not target.is_dir():
        beside = [item.name for item in folder.parent.iterdir() if _holds_database(item)]
        near = difflib.get_close_matches(target.name, beside, n=1)
        meant = f"; did you mean ../{near[0]}?" if near else ""
        raise WorldError(f"`database: {value}`: folder not found: {target}{meant}", file, line)
    return target


def _fault(folder: Path, message: str) -> WorldError:
    """An error at the ``database`` key of a folder's ``world.yaml``."""
    file = folder / WORLD_FILE
    named = read_world_file(folder).database
    return WorldError(message, file, 1 if named is None else named[1])


def _shared_files(home: Path) -> dict[str, Path]:
    """The files of a world that a world which shares its database takes from it."""
    own = _own_files(home)
    shared = {
        name: file
        for name, file in own.items()
        if file.suffix in _SHARED_SUFFIXES or name == WORLD_FILE
    }
    waiting = ["seed.py"] if "seed.py" in own else []
    while waiting:
        name = waiting.pop()
        if name in _NEVER_SHARED:
            raise WorldError(
                f"seed.py imports {name}, which a world that shares this database cannot have;"
                " move what seed.py needs into a module of its own",
                home / "seed.py",
            )
        if name not in shared:
            shared[name] = own[name]
            waiting += [file for file in _imported_files(name, own[name]) if file in own]
    return shared


def _imported_files(name: str, file: Path) -> Iterator[str]:
    """Names of the files that the relative imports of a module may load, there or not."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):  # importing it reports the error with its line
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or node.level == 0:
            continue
        package = PurePosixPath(name)
        for _ in range(node.level):
            package = package.parent
        base = package.joinpath(*(node.module or "").split("."))
        yield from (f"{parent}/__init__.py" for parent in base.parents[:-1])
        for module in (base, *(base / alias.name for alias in node.names)):
            yield f"{module}.py"
            yield f"{module}/__init__.py"
