"""Files that a seal writes besides the shards: errors.parquet, the card and the manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synth.core.dataset.arrow_schema import ERRORS_SCHEMA
from synth.core.dataset.store.atomic_files import Fault, disk, write_file
from synth.core.dataset.store.card import card
from synth.core.dataset.store.counts import COUNTED_COLUMNS, RunCounts
from synth.core.dataset.store.errors_file import error_tables
from synth.core.dataset.store.journal import Segment
from synth.core.dataset.store.layout import Layout
from synth.core.dataset.store.parquet_shard import file_digest, write_parquet
from synth.core.dataset.store.part import Part
from synth.core.dataset.store.run_info import RunFiles, json_bytes


def survey(
    files: RunFiles, layout: Layout, digests: Mapping[int, str], counts: RunCounts
) -> list[dict[str, Any]]:
    """Return the committed shards as {path, split, rows, sha256}, and count their rows into
    ``counts``.

    ``digests`` are known for the shards that this process wrote; the others are computed.
    """
    shards: list[dict[str, Any]] = []
    for shard in layout:
        path = files.directory / shard.path
        if not path.exists():
            continue
        rows = 0
        for table in Part(path).tables(COUNTED_COLUMNS):
            for row in table.to_pylist():
                counts.add_row(row)
            rows += table.num_rows
        sha256 = digests.get(shard.number) or file_digest(path)
        shards.append({"path": shard.path, "split": shard.split, "rows": rows, "sha256": sha256})
    return shards


def write_errors(
    files: RunFiles,
    journal: Segment | None,
    broken: list[int],
    max_attempts: int,
    counts: RunCounts,
) -> None:
    """Write errors.parquet with the last error of each of those jobs; without jobs, delete it."""
    path = files.errors
    if journal is None or not broken:
        with disk(path, "delete"):
            path.unlink(missing_ok=True)
        return
    tables = error_tables(journal, broken, max_attempts, counts)
    write_parquet(path, tables, ERRORS_SCHEMA, files.temporary(path))


def write_claim(files: RunFiles, manifest: Mapping[str, object], fault: Fault) -> None:
    """Write the card, then the manifest; from then on the directory is a sealed dataset."""
    text = card(manifest, has_tasks=files.tasks.exists())
    write_file(files.card, text.encode(), files.temporary(files.card))
    fault("seal:card")
    write_file(files.manifest, json_bytes(manifest), files.temporary(files.manifest))
    fault("seal:manifest")
