"""A run and a world on the Hub: what is missing there is uploaded, the manifest last; a pushed run
becomes a run directory again, with its shards checked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, errors
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalTokenNotFoundError
from huggingface_hub.hf_api import RepoFile

from synth.core.dataset.upload import LAST, Uploaded
from synth.errors import DatasetError, OperatorError

NO_ANSWER = (errors.HTTPError, OSError)  # pyright: ignore[reportPrivateImportUsage]
"""Errors of a Hub that cannot be reached."""
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
    except NO_ANSWER as error:
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


BATCH_FILES, BATCH_BYTES = 50, 1_000_000_000
"""Bounds of one commit; an interrupted push goes on after the last one."""

_OWN = ("data/", "world/", "card/", "errors.parquet", "tasks.parquet")
"""Paths of ours, of which those go that the run does not have."""


def push(
    local: Mapping[str, Path], repo: str, *, private: bool, say: Callable[[str], None]
) -> Uploaded:
    """Upload files by their names in the repository; those that are there are not sent again.

    Raises OperatorError with what the Hub says.
    """
    api = HfApi()
    try:
        url = str(api.create_repo(repo, repo_type="dataset", private=private, exist_ok=True))
        return _send(api, local, repo, url, say)
    except (HfHubHTTPError, HFValidationError, LocalTokenNotFoundError) as error:
        raise OperatorError(_refusal(error, repo)) from None
    except NO_ANSWER as error:
        raise OperatorError(f"the Hub ({api.endpoint}) cannot be reached: {_line(error)}") from None


def _send(
    api: HfApi, local: Mapping[str, Path], repo: str, url: str, say: Callable[[str], None]
) -> Uploaded:
    """Send what differs in batches, then what claims to be a dataset."""
    remote = _remote(api, repo)
    changed = [name for name, file in local.items() if remote.get(name) not in _digests(file)]
    gone = [name for name in remote if name.startswith(_OWN) and name not in local]
    for batch in _batches([name for name in changed if name not in LAST], local):
        size = sum(local[name].stat().st_size for name in batch) / 1e6
        say(f"uploading {len(batch)} files, {size:,.1f} MB")
        adds = [CommitOperationAdd(name, local[name]) for name in batch]
        _commit(api, repo, adds, f"Add {len(batch)} files")
    last = [
        *(CommitOperationDelete(name) for name in gone),
        *(CommitOperationAdd(name, local[name]) for name in changed if name in LAST),
    ]
    if last:
        _commit(api, repo, last, "Describe the dataset")
    return Uploaded(url, len(changed), len(local) - len(changed), len(gone))


def _commit(api: HfApi, repo: str, operations: Sequence[Any], message: str) -> None:
    api.create_commit(repo, operations, commit_message=message, repo_type="dataset")


def _remote(api: HfApi, repo: str) -> dict[str, str]:
    """The digest of each file that the Hub has: SHA-256 of large files, git's of others."""
    return {
        entry.path: entry.lfs.sha256 if entry.lfs is not None else entry.blob_id
        for entry in api.list_repo_tree(repo, recursive=True, repo_type="dataset")
        if isinstance(entry, RepoFile)
    }


def _digests(file: Path) -> tuple[str, str]:
    """Both digests that the Hub may know a file by."""
    blob = hashlib.sha1(f"blob {file.stat().st_size}\0".encode(), usedforsecurity=False)
    with file.open("rb") as stream:
        hashlib.file_digest(stream, lambda: blob)
        stream.seek(0)
        return blob.hexdigest(), hashlib.file_digest(stream, "sha256").hexdigest()


def _batches(names: Sequence[str], local: Mapping[str, Path]) -> list[list[str]]:
    batches: list[list[str]] = []
    size = 0
    for name in names:
        more = local[name].stat().st_size
        if not batches or len(batches[-1]) >= BATCH_FILES or size + more > BATCH_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(name)
        size += more
    return batches


def _refusal(error: Exception, repo: str) -> str:
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status in (401, 403) or isinstance(error, LocalTokenNotFoundError):
        return (
            f"the Hub refuses a push to {repo}: export HF_TOKEN with a token that may write there,"
            " or log in with `hf auth login`"
        )
    return f"the Hub refuses {repo}: {_line(error)}"
