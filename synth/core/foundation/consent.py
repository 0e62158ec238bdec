"""Consent to the code of a run directory, before it is executed.

Three parts of a run directory can bring code: the archive of its world (Python files, executors and
extensions that its YAML names), its config (extensions; a resume also asks the model that it names,
with the key that it names) and its tasks (extensions as gates). A part needs no consent if it
brings no code, if this user's machine made it, or if it is a world that is installed here.

What this machine made is known by digests, one a line, in ``$XDG_STATE_HOME/synth/known_code``
(by default below ``~/.local/state``). A file that cannot be written breaks no run: the question is
asked later instead.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

import yaml

from envs.errors import EnvsError
from envs.tools.tools_yaml import DeclaredTool, read_tools_yaml
from envs.world.files import WORLD_FILE, world_files
from synth.core.foundation.archive import archive_files
from synth.core.foundation.shipped import installed_worlds
from synth.errors import UntrustedCode

_REFERENCE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d][\w.]*")
"""``package.module:attribute``."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

LISTED = 6
"""Names of code in an error message."""

_ENDPOINT_KEYS = ("api_key_env", "base_url", "address")


@dataclass(frozen=True, slots=True)
class CodePart:
    """One part of a run directory; ``code`` names what it would execute, for people."""

    kind: Literal["world", "config", "tasks"]
    digest: str
    code: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        return f"{self.kind} {self.digest}"


@dataclass(frozen=True, slots=True)
class ForeignCode:
    """The parts of a run directory that bring code which was not made on this machine."""

    directory: Path
    parts: Sequence[CodePart]

    @property
    def code(self) -> list[str]:
        """Names of what would be executed, without characters that move a cursor."""
        return [
            "".join(char if char.isprintable() else "?" for char in name)
            for part in self.parts
            for name in part.code
        ]

    def remember(self) -> None:
        """Treat the parts as made on this machine from now on."""
        remember(self.parts)


Consent = Callable[[ForeignCode], bool]
"""Decides whether foreign code is executed."""


def refuse(_: ForeignCode) -> bool:
    """Consent to nothing."""
    return False


def agree(_: ForeignCode) -> bool:
    """Consent to everything."""
    return True


def require_consent(directory: Path, parts: Iterable[CodePart], consent: Consent) -> None:
    """Ask for consent to those parts that bring code and are not known on this machine.

    Raises :class:`~synth.errors.UntrustedCode` if consent is not given.
    """
    known = _known_lines()
    foreign = [
        part for part in parts if part.code and part.line not in known and not _is_installed(part)
    ]
    code = ForeignCode(directory, foreign)
    if foreign and not consent(code):
        more = f" and {len(code.code) - LISTED} more" if len(code.code) > LISTED else ""
        names = ", ".join(code.code[:LISTED]) + more
        raise UntrustedCode(
            f"{directory} was not made on this machine, and brings {names}: it would act with your"
            " rights and keys. Read it (tar -xf unpacks world/*.tar.zst), then add --trust (in"
            " Python: trust=True)"
        )


def world_part(archive: bytes) -> CodePart:
    """The archive of a world. Raises :class:`~envs.errors.WorldError` for what is none."""
    files = list(archive_files(archive))
    own = {name for name, _ in files}
    code = [item for name, content in files for item in _code_of(name, content, own)]
    return CodePart("world", _digest(files), tuple(dict.fromkeys(code)))


def config_part(text: bytes, *, resumes: bool = False) -> CodePart:
    """A run's config.yaml. With ``resumes`` it counts as code whatever it holds: it decides which
    model is asked, at which address and with which key.
    """
    scalars = list(_scalars(text))
    code = [f"config.yaml: {name}" for name in scalars if _REFERENCE.fullmatch(name)]
    if resumes:
        named = [
            f"config.yaml: {key} {value}"
            for key, value in pairwise(scalars)
            if key in _ENDPOINT_KEYS and value != "null"
        ]
        code = [*code, *named] or ["config.yaml"]
    return CodePart("config", hashlib.sha256(text).hexdigest(), tuple(dict.fromkeys(code)))


def tasks_part(file: Path, gates: Iterable[str]) -> CodePart:
    """A run's tasks.parquet; ``gates`` are the names of the gates in it."""
    with file.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    code = tuple(f"{file.name}: {name}" for name in sorted(set(gates)) if ":" in name)
    return CodePart("tasks", digest, code)


def remember(parts: Iterable[CodePart]) -> None:
    """Note that this machine made these parts. A home that is read-only or full is not an error."""
    file = known_file()
    if file is None:
        return
    known = _known_lines()
    lines = [part.line for part in parts if part.line not in known]
    if not lines:
        return
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, "".join(f"{line}\n" for line in lines).encode())
        finally:
            os.close(handle)


def known_file() -> Path | None:
    """The file of what this machine made; None where the user has no home."""
    base = Path(os.environ.get("XDG_STATE_HOME", ""))
    if not base.is_absolute():
        try:
            base = Path.home() / ".local" / "state"
        except RuntimeError:
            return None
    return base / "synth" / "known_code"


def _known_lines() -> set[str]:
    file = known_file()
    try:
        return set(file.read_text("utf-8").splitlines()) if file is not None else set()
    except (OSError, UnicodeDecodeError):
        return set()


def _is_installed(part: CodePart) -> bool:
    """True for the archive of a world that ships, or that an installed distribution offers."""
    return part.kind == "world" and any(
        part.digest == _digest((name, file.read_bytes()) for name, file in files.items())
        for files in map(world_files, installed_worlds())
    )


def _digest(files: Iterable[tuple[str, bytes]]) -> str:
    total = hashlib.sha256()
    for name, content in files:
        total.update(f"{len(name.encode())} {name} {len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()


def _code_of(name: str, content: bytes, own: Collection[str]) -> Iterator[str]:
    """What one of a world's ``own`` files executes. Not every file system tells .PY from .py."""
    suffix = Path(name).suffix.lower()
    if suffix == ".py" or name == WORLD_FILE:
        yield name
    if suffix in {".yaml", ".yml"}:
        for scalar in _scalars(content):
            if _REFERENCE.fullmatch(scalar):
                yield f"{name}: {scalar}"
    if name == "tools.yaml":
        # A file that cannot be read is refused later, before anything of it is executed.
        with contextlib.suppress(EnvsError, UnicodeDecodeError):
            for entry in read_tools_yaml(Path(name), content.decode()):
                if isinstance(entry, DeclaredTool):
                    module = entry.executor.rpartition(".")[0].replace(".", "/")
                    if f"{module}.py" not in own:
                        yield f"{name}: {entry.executor}"


def _scalars(text: bytes) -> Iterator[str]:
    """The scalars of a YAML document in their order, as far as it can be read.

    Aliases are not followed, so that a document cannot blow up.
    """
    with contextlib.suppress(yaml.YAMLError, UnicodeDecodeError):
        for event in yaml.parse(text, Loader=_LOADER):
            if isinstance(event, yaml.ScalarEvent):
                yield str(event.value)
