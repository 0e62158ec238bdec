"""What a seal writes besides the shards: their survey, errors.parquet, the card, the manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synth.dataset.card import card
from synth.dataset.durable import Fault, disk, write_file
from synth.dataset.errors_file import error_tables
from synth.dataset.journal import Segment
from synth.dataset.layout import Layout
from synth.dataset.manifest import manifest_bytes
from synth.dataset.merge import read_shard
from synth.dataset.record import ERRORS_SCHEMA
from synth.dataset.run_info import RunFiles
from synth.dataset.shard import file_digest, write_parquet
from synth.dataset.tally import TALLIED, Census

Json = Any


def survey(files: RunFiles, layout: Layout, digests: Mapping[int, str], census: Census) -> list[dict[str, Json]]:
    """The shards that stand, as {path, split, rows, sha256}, their rows counted into ``census``.

    ``digests`` are those that are known because this process wrote the shard; the others are computed.
    """
    shards: list[dict[str, Json]] = []
    for shard in layout:
        path = files.directory / shard.path
        if not path.exists():
            continue
        rows = read_shard(path, TALLIED).to_pylist()
        for row in rows:
            census.add_row(row)
        sha256 = digests.get(shard.number) or file_digest(path)
        shards.append({"path": shard.path, "split": shard.split, "rows": len(rows), "sha256": sha256})
    return shards


def write_errors(
    files: RunFiles, journal: Segment | None, broken: list[int], max_attempts: int, census: Census
) -> None:
    """errors.parquet of those jobs, from the journal's last word on each; no file where there are none."""
    path = files.errors
    if journal is None or not broken:
        with disk(path, "delete"):
            path.unlink(missing_ok=True)
        return
    tables = error_tables(journal, broken, max_attempts, census)
    write_parquet(path, tables, ERRORS_SCHEMA, files.temporary(path))


def write_claim(files: RunFiles, manifest: Mapping[str, Json], fault: Fault) -> None:
    """The card, then the manifest: from then on the directory is a dataset."""
    text = card(manifest, has_tasks=files.tasks.exists())
    write_file(files.card, text.encode(), files.temporary(files.card))
    fault("seal:card")
    write_file(files.manifest, manifest_bytes(manifest), files.temporary(files.manifest))
    fault("seal:manifest")
