"""Load a script through a raw driver connection.

Statements go to the cursor without parameters: drivers and SQLAlchemy rewrite ``%`` and ``:name``
when they look for placeholders, and would change the data silently.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from envs.errors import ScriptError, WorldError
from envs.scripts.engines import ScriptEngine, engine_for
from envs.scripts.lexis import Dialect, Statement
from envs.scripts.policy import Policy, StatementAction
from envs.scripts.split import split
from envs.unreadable import unreadable

_DECLARED = re.compile(
    rb"(?im)^[^\n']*?\bset\s+(?:client_encoding\s*(?:=|to)\s*|names\s+)['\"]?([a-z0-9_-]+)"
)
_PYTHON_NAMES = {
    "latin1": "cp1252",
    "win1252": "cp1252",
    "latin9": "iso8859-15",
    "win1250": "cp1250",
}
MAX_DEPTH = 8
"""How deep scripts may include each other."""

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_script(path: Path) -> str:
    """UTF-8 with or without a byte order mark, or the encoding that the script itself declares to
    its server.

    WorldError where there is no such file, ScriptError with the place of the first byte that does
    not decode.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise WorldError(f"cannot be read: {unreadable(error, 'SQL')}", path) from error
    if raw.startswith(_UTF_16):
        raise ScriptError("is UTF-16 (byte offset 0); save it as UTF-8", path, 1)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        declared = _declared(raw)
        if declared is not None:
            return raw.decode(declared, "strict")
        # utf-8-sig counts from behind the mark
        offset = error.start + (len(codecs.BOM_UTF8) if raw.startswith(codecs.BOM_UTF8) else 0)
        line = raw.count(b"\n", 0, offset) + 1
        raise ScriptError(
            f"is not UTF-8: byte 0x{raw[offset]:02x} at offset {offset}; save the file as UTF-8",
            path,
            line,
        ) from error


def beside(script: Path, name: str, depth: int = 0, base: Path | None = None) -> Path:
    """A file that a script at ``depth`` includes, from the script's folder or ``base``'s; it cannot
    reach out of the first.

    Where the script is a link, the file may be one too, into the folder that the script's own leads
    to.
    """
    if depth >= MAX_DEPTH:
        raise ScriptError(f"scripts include each other more than {MAX_DEPTH} deep")
    root = script.parent.absolute()
    named = Path(os.path.normpath((base or script).parent.absolute() / name))
    path = named.resolve()
    inside = path.is_relative_to(root.resolve()) or path.is_relative_to(script.resolve().parent)
    if not (named.is_relative_to(root) and inside):
        raise ScriptError(f"a script may include files of its own folder only, not {name}")
    if not path.is_file():
        raise ScriptError(f"file not found in the script's folder: {name}")
    return path


def _declared(raw: bytes) -> str | None:
    """The encoding that SET client_encoding or SET NAMES names, if of single bytes and fitting."""
    found = _DECLARED.search(raw)
    if found is None:
        return None
    name = found.group(1).decode("ascii").lower()
    try:
        codec = codecs.lookup(_PYTHON_NAMES.get(name, name)).name
        raw.decode(codec)
    except (LookupError, UnicodeDecodeError):
        return None
    return None if codec.startswith("utf") else codec


_CLIENT_COPY = re.compile(
    r"\\copy\s+(?P<table>.+?)\s+from\s+(?:p?stdin\b|'(?P<file>[^']+)'"
    r"|(?P<bare>\S+))(?P<options>.*)",
    re.IGNORECASE,
)


Watch = Callable[[Path, int], None]
"""Called after each statement with its file and line."""


def run_script(path: Path, connection: Any, dialect: Dialect, watch: Watch | None = None) -> int:
    r"""Run every statement of ``path`` and return how many ran.

    ``connection`` is a driver's own (sqlite3, apsw, psycopg, PyMySQL) or SQLAlchemy's. On an
    autocommit connection the script's BEGIN and COMMIT run as written; otherwise the transaction is
    the caller's, who commits: theirs are left out (a COMMIT still checks deferred constraints on
    PostgreSQL), and a ROLLBACK is refused. MariaDB commits with every DDL statement whatever the
    caller wants. Session settings that the script makes end with it. Files that it includes
    (``source``, ``\\i``, ``.read``) are looked for in the script's own folder.

    ``watch`` is called after each statement.

    WorldError where the file cannot be read; ScriptError with file, line and the database's words
    where a statement fails or demands what a script may not do.
    """
    path = Path(path)
    with engine_for(dialect, connection) as engine:
        count = 0
        for file, statement, verdict in walk(path, Policy(dialect, engine.database())):
            try:
                count += _execute(engine, path, statement, verdict)
            except ScriptError as error:
                if error.file is not None:
                    raise
                raise ScriptError(error.message, file, error.line or statement.line) from error
            except engine.errors as error:
                raise ScriptError(engine.words(error), file, statement.line) from error
            if watch is not None:
                watch(file, statement.line)
        engine.finish(path)
        return count


def walk(
    script: Path, policy: Policy, included: Path | None = None, depth: int = 0
) -> Iterator[tuple[Path, Statement, StatementAction]]:
    """The statements of a script and of the files that it includes, with their file and what the
    policy makes of them. Raises WorldError and ScriptError.
    """
    path = included or script
    for statement in _statements(path, policy.dialect):
        try:
            verdict = policy.judge(statement)
            if verdict.action == "include":
                base = path if verdict.relative else None
                further = beside(script, verdict.text, depth, base)
                yield from walk(script, policy, further, depth + 1)
        except ScriptError as error:
            line = error.line or statement.line
            raise ScriptError(error.message, error.file or path, line) from error
        if verdict.action == "quit":
            return
        if verdict.action != "include":
            yield path, statement, verdict


def _statements(path: Path, dialect: Dialect) -> Iterator[Statement]:
    try:
        yield from split(read_script(path), dialect)
    except ScriptError as error:
        raise ScriptError(error.message, error.file or path, error.line) from error


def _execute(
    engine: ScriptEngine, script: Path, statement: Statement, verdict: StatementAction
) -> bool:
    """Do what the verdict says; False where there was nothing to do."""
    match verdict.action:
        case "skip":
            return False
        case "begin" | "commit" | "rollback":
            engine.transaction(verdict.action, verdict.text)
        case _ if verdict.action == "copy" or statement.kind == "copy":
            _copy(engine, script, verdict.text, statement.data)
        case _:
            engine.execute(verdict.text)
    return True


def _copy(engine: ScriptEngine, script: Path, words: str, data: str | None) -> None:
    r"""COPY with its rows, or psql's ``\copy`` with rows in the script or a file beside it."""
    if words.startswith("\\"):
        found = _CLIENT_COPY.match(words)
        if found is None:
            raise ScriptError("only \\copy TABLE FROM a file or stdin can be carried out here")
        if data is None:
            data = read_script(beside(script, found["file"] or found["bare"]))
        words = f"COPY {found['table']} FROM STDIN {found['options'].rstrip(' ;')}"
    engine.copy(words, data or "")
