"""The files of a run that leave its directory."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from synth.core.dataset.store.run_info import RunFiles

LAST = ("README.md", "manifest.json")
"""The files that make a dataset of the others. They are sent last."""

_UPLOADED = "uploaded.json"
"""The file in ``.synth`` that says where the run has been uploaded."""


def published_files(directory: Path) -> list[Path]:
    """The files of a run that are published: no journal, log or page."""
    names = ("config.yaml", "tasks.parquet", "errors.parquet", *LAST)
    files = [directory / name for name in names if (directory / name).is_file()]
    for folder in ("data", "world", "card"):
        files += sorted(path for path in (directory / folder).glob("*") if path.is_file())
    return [file for file in files if not file.name.startswith(".")]


def mark_uploaded(directory: Path, url: str) -> None:
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
