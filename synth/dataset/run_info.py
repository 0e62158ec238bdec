"""What a run is, as far as its directory has to know it, and where things are in that directory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self, cast

from synth.dataset.columns import SCHEMA_VERSION
from synth.dataset.layout import Layout
from synth.errors import DatasetError

Json = Any


@dataclass(frozen=True, slots=True)
class Identity:
    """What made the data: stands in manifest and card. ``more`` is anything else worth keeping, as JSON, no secrets."""

    config_digest: str
    world_digest: str
    plan_digest: str
    env: str
    model: str
    seed: int = 0
    more: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What resuming needs: kept in ``.synth/run.json`` while the run lives and in the manifest afterwards.

    ``created_at`` is ISO 8601, UTC.
    """

    layout: Layout
    identity: Identity
    max_attempts: int
    created_at: str

    def to_json(self) -> dict[str, Json]:
        return {
            "schema_version": SCHEMA_VERSION,
            "created_at": self.created_at,
            "identity": asdict(self.identity),
            "layout": self.layout.to_json(),
            "max_attempts": self.max_attempts,
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Json], source: Path) -> Self:
        """Raises :class:`~synth.errors.DatasetError` for another schema version and for what is no run's."""
        try:
            version = raw["schema_version"]
            if version != SCHEMA_VERSION:
                raise DatasetError(f"{source} has schema version {version}; this software reads {SCHEMA_VERSION}")
            layout = Layout.from_json(raw["layout"])
            return cls(layout, Identity(**raw["identity"]), int(raw["max_attempts"]), str(raw["created_at"]))
        except (KeyError, TypeError, ValueError) as error:
            raise DatasetError(f"{source} does not describe a run: {error!r}") from error


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The places of a run directory."""

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
    def scratch(self) -> Path:
        """Half-written files: the only place where a death can leave one."""
        return self.private / "tmp"

    def temporary(self, path: Path) -> Path:
        return self.scratch / f"{path.stem}.part"

    def holds_run(self) -> bool:
        return self.manifest.exists() or self.run.exists()

    def info(self) -> RunInfo:
        """The run's description. Raises :class:`~synth.errors.DatasetError` where there is none to be read."""
        for path in (self.run, self.manifest):
            if path.exists():
                return RunInfo.from_json(read_json(path), path)
        raise DatasetError(f"{self.directory} holds no run")


def read_json(path: Path) -> dict[str, Json]:
    """A JSON object from a file. Raises :class:`~synth.errors.DatasetError` with the path."""
    try:
        raw = json.loads(path.read_bytes())
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise DatasetError(f"{path} is no JSON: {error}") from error
    if not isinstance(raw, dict):
        raise DatasetError(f"{path} holds no JSON object")
    return cast("dict[str, Json]", raw)
