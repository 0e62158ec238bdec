"""``synth decontaminate``: the rows of a dataset that overlap with texts of benchmarks."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from synth.core.cli.command import Arguments, command
from synth.core.dataset.reader import Dataset
from synth.core.dataset.several import open_datasets
from synth.core.dataset.subset import write_subset
from synth.core.foundation.standard_output import stdout
from synth.core.screen.screen import Screen, safe_line
from synth.errors import OperatorError
from synth.ext.exporters.exporting import check_target
from synth.ext.hub.contamination import COLUMNS, Benchmark, Overlap, benchmarks, overlaps

HELP = """synth decontaminate

List the rows that overlap with texts of benchmarks: user turns, replies and answers that share 13
words in a row with a text, hold a text of 8 to 12 words as a whole, or are a near-duplicate of one.
Exit code 1 if there are such rows and no --out.

arguments:
  PATH...             a run's directory, a .parquet file or a folder of them; several read as one
options:
  --against FILE|FOLDER  a benchmark: JSON, JSONL, Parquet, text (required) (repeatable)
  --out FILE          write the other rows, with all their columns, as one Parquet file
  --limit N|0         rows to list; 0 for all [default: 50]
  --force             replace the file if it exists
  --json              print every overlap as JSON

examples:
  synth decontaminate out/ehr --against tau2-bench/data
  synth decontaminate out/ehr out/shop --against bfcl.jsonl --against dev.json --json
  synth decontaminate out/ehr --against bfcl.jsonl --out clean.parquet
  synth export out/ehr --to trl-sft --against bfcl.jsonl       leaves such rows out, too
"""
_SHOWN = 60


@command(HELP)
def main(options: Arguments) -> int:
    """Run the command; returns 1 if rows overlap and ``--out`` does not leave them out, else 0.

    Raises OperatorError or DatasetError, which the dispatcher prints.
    """
    held = benchmarks(options.against)
    with open_datasets(options.path) as dataset:
        found = _Found(held)
        kept = _read(dataset, found, options.out, force=options.force)
    if options.json:
        stdout().write(json.dumps(found.to_json(options.out, kept), indent=2) + "\n")
    else:
        _show(found, dataset.name, options)
    return 1 if found.rows and options.out is None else 0


class _Found:
    """The rows that overlap, and the number of all that were read."""

    def __init__(self, held: Sequence[Benchmark]) -> None:
        self.benchmarks = held
        self.rows: list[tuple[Mapping[str, Any], list[Overlap]]] = []
        self.read = 0

    def is_clean(self, row: Mapping[str, Any]) -> bool:
        """Look at a row."""
        self.read += 1
        found = overlaps(row, self.benchmarks)
        if found:
            kept = {name: row[name] for name in ("trajectory_id", "family", "split")}
            self.rows.append((kept, found))
        return not found

    @property
    def kinds(self) -> Counter[str]:
        """The number of rows by the kind of their first overlap."""
        return Counter(found[0].how for _, found in self.rows)

    def to_json(self, out: Path | None, kept: int | None) -> dict[str, Any]:
        return {
            "rows": self.read,
            "overlapping": len(self.rows),
            "kinds": dict(self.kinds),
            "benchmarks": [
                {"name": one.name, "texts": one.texts, "texts_found": len(one.found)}
                for one in self.benchmarks
            ],
            "found": [
                {**row, "overlaps": [asdict(overlap) for overlap in found]}
                for row, found in self.rows
            ],
            "out": None if out is None else str(out),
            "kept": kept,
        }


def _read(dataset: Dataset, found: _Found, out: Path | None, *, force: bool) -> int | None:
    """Look at all rows; with ``out``, write those that do not overlap and return their number."""
    columns = ["trajectory_id", "family", "split", *COLUMNS]
    if out is None:
        for row in dataset.rows(columns):
            found.is_clean(row)
        return None
    if out.suffix != ".parquet":
        raise OperatorError(f"--out {out}: the rows are written as Parquet; call it NAME.parquet")
    for path in dataset.paths:
        check_target(path, out, force=force)
    return write_subset(dataset, out, columns, found.is_clean)


def _show(found: _Found, name: str, options: Arguments) -> None:
    screen = Screen()
    for one in found.benchmarks:
        screen.line(f"{one.name}: {one.texts:,} texts, {len(one.found):,} of them found")
    share = f" ({len(found.rows) / found.read:.1%})" if found.read else ""
    kinds = ", ".join(f"{how} {count}" for how, count in found.kinds.most_common())
    screen.line(
        f"{name}: {len(found.rows):,} of {found.read:,} rows overlap{share}"
        + (f": {kinds}" if kinds else "")
    )
    listed = found.rows[: options.limit] if options.limit else found.rows
    if listed:
        screen.line()
        screen.columns([_HEADER, *(_line(row, first[0]) for row, first in listed)])
    if len(listed) < len(found.rows):
        screen.line(f"{len(listed)} of {len(found.rows)} rows; --limit 0 shows all", "dim")
    if options.out is not None:
        left = found.read - len(found.rows)
        screen.line(f"{options.out}: {left:,} rows, {len(found.rows):,} left out")
    elif found.rows:
        screen.line()
        screen.line("--out NAME.parquet writes the other rows; so does synth export --against")


_HEADER = ["trajectory_id", "family", "where", "how", "shared words", "file"]


def _line(row: Mapping[str, Any], overlap: Overlap) -> list[str]:
    shared = safe_line(overlap.shared)
    cut = shared if len(shared) <= _SHOWN else f"{shared[:_SHOWN]}..."
    where = [row["trajectory_id"], row["family"], overlap.place, overlap.how]
    return [*where, cut, safe_line(Path(overlap.file).name)]
