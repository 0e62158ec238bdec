"""Description of a run in its directory, and the paths in that directory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self, cast

from envs.unreadable import unreadable
from synth.core.dataset.columns import SCHEMA_VERSION, check_version
from synth.core.dataset.store.layout import Layout
from synth.errors import DatasetError

CHECKSUM = "checksum"


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """Origin of the data, for manifest and card. ``more`` holds further JSON values, without
    secrets.
    """

    config_digest: str
    world_digest: str
    plan_digest: str
    env: str
    model: str
    seed: int = 0
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])


REFUSAL = "refusal"
"""Among ``more``: the reason for which no run can ask the model."""


@dataclass(frozen=True, slots=True)
class RunInfo:
    """Description of a run: in ``.synth/run.json`` while the run is live, in the manifest
    afterwards.

    ``created_at`` is ISO 8601 in UTC.
    """

    layout: Layout
    identity: RunIdentity
    max_attempts: int
    created_at: str

    def to_json(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "created_at": self.created_at,
            "identity": asdict(self.identity),
            "layout": self.layout.to_json(),
            "max_attempts": self.max_attempts,
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any], source: Path) -> Self:
        """Decode the result of :meth:`to_json`.

        Raises :class:`~synth.errors.DatasetError` for an unreadable schema version and for anything
        that does not describe a run.
        """
        try:
            check_version(raw["schema_version"], source)
            layout = Layout.from_json(raw["layout"])
            return cls(
                layout,
                RunIdentity(**raw["identity"]),
                int(raw["max_attempts"]),
                str(raw["created_at"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            reason, _, _ = f"{type(error).__name__}: {error}".partition("\n")
            raise DatasetError(f"{source} does not describe a run: {reason}") from error


@dataclass(frozen=True, slots=True)
class RunFiles:
    """Paths in a run directory."""

    directory: Path

    @property
    def manifest(self) -> Path:
        return self.directory / "manifest.json"

    @property
    def card(self) -> Path:
        return self.directory / "README.md"

    @property
    def errors(self) -> Path:
        return self.directory / "errors.parquet"

    @property
    def tasks(self) -> Path:
        return self.directory / "tasks.parquet"

    @property
    def data(self) -> Path:
        return self.directory / "data"

    @property
    def private(self) -> Path:
        return self.directory / ".synth"

    @property
    def run(self) -> Path:
        return self.private / "run.json"

    @property
    def lock(self) -> Path:
        return self.private / "lock"

    @property
    def journal(self) -> Path:
        return self.private / "journal"

    @property
    def proofs(self) -> Path:
        """Folder of the log of proofs, until tasks.parquet holds them."""
        return self.private / "proofs"

    @property
    def scratch(self) -> Path:
        """Folder of half-written files; the death of a process can leave one only here."""
        return self.private / "tmp"

    def temporary(self, path: Path) -> Path:
        return self.scratch / f"{path.stem}.part"

    def holds_run(self) -> bool:
        return self.manifest.exists() or self.run.exists()

    def info(self) -> RunInfo:
        """Return the description of the run. Raises :class:`~synth.errors.DatasetError` if there is
        none.
        """
        problem = DatasetError(f"{self.directory} holds no run")
        for path in (self.run, self.manifest):
            if path.exists():
                try:
                    raw = read_json(path)
                    info = RunInfo.from_json(raw, path)
                    check_content(raw, path)
                    return info
                except DatasetError as error:
                    problem = error
        raise problem


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object from a file. Raises :class:`~synth.errors.DatasetError` with the path."""
    try:
        raw = json.loads(path.read_bytes())
    except OSError as error:
        raise DatasetError(
            f"{path} cannot be read: {unreadable(error, 'a part of a run')}"
        ) from error
    except ValueError as error:
        raise DatasetError(f"{path} is not JSON: {error}") from error
    if not isinstance(raw, dict):
        raise DatasetError(f"{path} does not hold a JSON object")
    return cast("dict[str, Any]", raw)


def check_content(fields: Mapping[str, Any], path: Path) -> None:
    """Raise :class:`~synth.errors.DatasetError` if a JSON object is not what was written."""
    if fields.get(CHECKSUM, checksum(fields)) != checksum(fields):
        raise DatasetError(f"{path} is damaged: its content has another checksum")


def checksum(fields: Mapping[str, Any]) -> str:
    """SHA-256 of a JSON object without its own entry of that name."""
    own = {key: value for key, value in fields.items() if key != CHECKSUM}
    return hashlib.sha256(json.dumps(own, sort_keys=True).encode()).hexdigest()


def json_bytes(fields: Mapping[str, Any]) -> bytes:
    """Encode a JSON object with its checksum, for :func:`check_content`."""
    signed = {**fields, CHECKSUM: checksum(fields)}
    return json.dumps(signed, indent=2, ensure_ascii=False, allow_nan=False).encode() + b"\n"
