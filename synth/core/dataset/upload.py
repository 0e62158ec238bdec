"""Upload of a run's files to a filesystem of Arrow or fsspec, such as ``s3://bucket/runs/ehr``.

A file is sent whole, and then noted in :data:`RECORD` beside it, with its digest. An upload that
was interrupted goes on after the last file so noted, from any machine that has the run. The
manifest is sent last, and taken away before a file that it describes is replaced: who finds it
finds a whole dataset.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
from pyarrow.fs import FileSelector, FileSystem, FileType

from synth.core.dataset.store.parquet_shard import file_digest
from synth.core.dataset.store.run_info import RunFiles, RunIdentity
from synth.core.foundation.credentials import redact
from synth.errors import OperatorError
from synth.plugins import find_module, resolve

LAST = ("README.md", "manifest.json")
"""The files that make a dataset of the others. They are sent last."""

_UPLOADED = "uploaded.json"
"""The file in ``.synth`` that says where the run has been uploaded."""


def published_files(directory: Path) -> dict[str, Path]:
    """The files of a run that are published, by name: no journal, log or page."""
    names = ("config.yaml", "tasks.parquet", "errors.parquet", *LAST)
    files = [directory / name for name in names if (directory / name).is_file()]
    for folder in ("data", "world", "card"):
        files += sorted(path for path in (directory / folder).glob("*") if path.is_file())
    shown = (file for file in files if not file.name.startswith("."))
    return {file.relative_to(directory).as_posix(): file for file in shown}


def _mark_uploaded(directory: Path, url: str) -> None:
    """Note in the run's directory that the run, as it is now, is at ``url``."""
    private = RunFiles(directory).private
    private.mkdir(exist_ok=True)
    (private / _UPLOADED).write_text(json.dumps(_state(directory, url)), "utf-8")


def is_uploaded(directory: Path, url: str) -> bool:
    """True if the run, as it is now, was uploaded to ``url`` from this directory."""
    try:
        noted = json.loads((RunFiles(directory).private / _UPLOADED).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return noted == _state(directory, url)


def _state(directory: Path, url: str) -> dict[str, str]:
    manifest = RunFiles(directory).manifest.read_bytes()
    return {"url": url, "manifest": hashlib.sha256(manifest).hexdigest()}


RECORD = ".synth-upload.json"
"""The file at the target that names the run and the files that have arrived."""

_CHUNK = 8 * 1024 * 1024  # bytes


@dataclass(frozen=True, slots=True)
class Uploaded:
    """Result of an upload: how many files were sent, were there already, and were removed."""

    url: str
    sent: int
    unchanged: int
    removed: int


def check_target(url: str, identity: RunIdentity) -> None:
    """Write the record of a run's files to ``url``, before the run is paid for.

    Raises OperatorError for an address that cannot be used, a place that cannot be written to, and
    one with other files.
    """
    target = _Target(url, identity)
    target.read()
    target.write()


def upload(
    directory: Path, url: str, identity: RunIdentity, say: Callable[[str], None] = print
) -> Uploaded:
    """Send what differs. ``say`` gets a line before each file.

    Raises OperatorError with what the filesystem says; what has arrived is not sent again.
    """
    target = _Target(url, identity)
    target.read()
    local = published_files(directory)
    ordered = sorted(local, key=lambda name: (name == LAST[-1], name in LAST))
    digests = {name: file_digest(local[name]) for name in ordered}
    changed = [name for name in ordered if not target.has(name, digests[name], local[name])]
    gone = [name for name in target.arrived if name not in local]
    if changed or gone:
        target.remove(LAST[-1])
        changed = [name for name in changed if name != LAST[-1]] + [LAST[-1]]
    for number, name in enumerate(changed, start=1):
        size = local[name].stat().st_size
        say(f"uploading {number} of {len(changed)}: {name}, {size / 1e6:,.1f} MB")
        target.send(name, local[name], digests[name])
    for name in gone:
        target.remove(name)
    _mark_uploaded(directory, url)
    return Uploaded(url, len(changed), len(local) - len(changed), len(gone))


class _Target:
    """A folder of a filesystem, with the record of what has arrived."""

    def __init__(self, url: str, identity: RunIdentity) -> None:
        self.url, self.arrived = url, dict[str, str]()
        self._env = identity.env
        self._run = [identity.config_digest, identity.world_digest, identity.plan_digest]
        self._filesystem, self._path = _open(url)

    def read(self) -> None:
        """Read the record. Raises OperatorError for a folder with files of something else."""
        with _operators(self.url):
            folder = self._filesystem.get_file_info(self._path)
            if folder.type == FileType.File:
                raise OperatorError(f"output.upload: {self.url} is a file; give a folder")
            record = self._filesystem.get_file_info(self._at(RECORD))
            if record.type == FileType.NotFound:
                self._refuse_files()
                return
            with self._filesystem.open_input_stream(self._at(RECORD), compression=None) as stream:
                text = stream.read()
        try:
            found = cast("Mapping[str, Any]", json.loads(text))
        except ValueError:  # the process died while it wrote: every file is sent again
            return
        if found["files"] and found["run"] != self._run:
            raise OperatorError(
                f"output.upload: {self.url} holds another run, of {found['env']}; give a new folder"
            )
        self.arrived = dict(found["files"])

    def _refuse_files(self) -> None:
        selector = FileSelector(self._path, allow_not_found=True)
        if names := [found.base_name for found in self._filesystem.get_file_info(selector)]:
            raise OperatorError(
                f"output.upload: {self.url} is not empty (it has {names[0]}); give a new folder"
            )

    def has(self, name: str, digest: str, file: Path) -> bool:
        """True if the file has arrived as it is."""
        if self.arrived.get(name) != digest:
            return False
        with _operators(self.url):
            info = self._filesystem.get_file_info(self._at(name))
        return info.type == FileType.File and info.size == file.stat().st_size

    def send(self, name: str, file: Path, digest: str) -> None:
        """Send a file and note that it has arrived."""
        self._note(name, None)
        with _operators(self.url):
            self._filesystem.create_dir(self._at(name).rpartition("/")[0], recursive=True)
            with (
                file.open("rb") as source,
                self._filesystem.open_output_stream(self._at(name), compression=None) as sink,
            ):
                shutil.copyfileobj(source, sink, _CHUNK)
        self._note(name, digest)

    def remove(self, name: str) -> None:
        """Remove a file that may be there."""
        self._note(name, None)
        with _operators(self.url):
            if self._filesystem.get_file_info(self._at(name)).type == FileType.File:
                self._filesystem.delete_file(self._at(name))

    def _note(self, name: str, digest: str | None) -> None:
        """Write the record with a file that has arrived, or without it."""
        self.arrived.pop(name, None)
        if digest is not None:
            self.arrived[name] = digest
        self.write()

    def write(self) -> None:
        """Write the record."""
        record = {"run": self._run, "env": self._env, "files": self.arrived}
        with _operators(self.url):
            self._filesystem.create_dir(self._path, recursive=True)
            with self._filesystem.open_output_stream(self._at(RECORD), compression=None) as sink:
                sink.write(json.dumps(record, indent=1).encode())

    def _at(self, name: str) -> str:
        return f"{self._path.rstrip('/')}/{name}"


def _open(url: str) -> tuple[FileSystem, str]:
    """The filesystem of a URL, and the path in it: Arrow's own, else fsspec's."""
    with _operators(url):
        try:
            return FileSystem.from_uri(url)
        except (pa.ArrowInvalid, NotImplementedError) as error:
            if "://" not in url:
                raise OperatorError(
                    f"output.upload: {url} is neither a URL nor an absolute path: {error}"
                ) from None
        if find_module("fsspec") is None:
            raise OperatorError(
                f"output.upload: {url}: Arrow has no such filesystem;"
                " fsspec may have: pip install 'synth-worlds[fsspec]'"
            )
        return resolve("synth.core.dataset.fsspec_filesystem:open_url")(url)


@contextlib.contextmanager
def _operators(url: str) -> Generator[None]:
    """Turn the errors of a filesystem into the operator's."""
    try:
        yield
    except (OSError, pa.ArrowException, ValueError, ImportError) as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise OperatorError(f"output.upload: {url}: {redact(lines[0])}") from error
