"""The way from the Hub: a pushed run as a run directory again, with its shards checked."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError, HFValidationError

from synth.errors import DatasetError, OperatorError

WANTED = (
    *("README.md", "manifest.json", "config.yaml", "*.parquet"),
    *("data/*.parquet", "world/*.tar.zst", "card/*.svg"),
)
"""What a run directory is made of; nothing else of a repository is fetched."""


def pull(repo: str, directory: Path, revision: str | None = None) -> dict[str, Any]:
    """Download a run into a directory; what is there already is not fetched again.

    Returns its manifest. Raises OperatorError with what the Hub says, and DatasetError for a
    repository without a run or a shard that is not the manifest's. Nothing of it is executed.
    """
    if directory.exists() and any(directory.iterdir()) and not (directory / ".cache").exists():
        raise OperatorError(f"{directory} is not empty; name another directory")
    snapshot(repo, revision=revision, local_dir=directory, allow_patterns=list(WANTED))
    return _checked(directory, repo)


def snapshot(repo: str, **options: Any) -> Path:
    """Download a repository; ``options`` go to ``snapshot_download``. Raises OperatorError
    with what the Hub says.
    """
    api: Any = HfApi()
    try:
        return Path(api.snapshot_download(repo, repo_type="dataset", **options))
    except (HfHubHTTPError, HFValidationError) as error:
        raise OperatorError(f"the Hub has no {repo} for you: {_line(error)}") from None
    except OSError as error:
        raise OperatorError(f"the Hub ({api.endpoint}) cannot be reached: {_line(error)}") from None


def _checked(directory: Path, repo: str) -> dict[str, Any]:
    file = directory / "manifest.json"
    if not file.is_file():
        raise DatasetError(f"{repo} holds no run of synth: it lacks manifest.json")
    try:
        manifest: dict[str, Any] = json.loads(file.read_text("utf-8"))
        shards = [(str(shard["path"]), str(shard["sha256"])) for shard in manifest["shards"]]
    except (ValueError, KeyError, TypeError) as error:
        raise DatasetError(f"{file} is not a valid manifest: {error}") from None
    for name, digest in shards:
        shard = directory / name
        if not shard.is_file() or hashlib.sha256(shard.read_bytes()).hexdigest() != digest:
            raise DatasetError(f"{shard} is not what the manifest describes; pull it again")
    return manifest


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:400]
