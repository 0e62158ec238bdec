"""A script's bytes as text."""

from __future__ import annotations

import codecs
import os
import re
from pathlib import Path

from envs.errors import ScriptError, WorldError
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
