"""One export: which rows, where to, and all of it or nothing."""

from __future__ import annotations

import math
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from synth.dataset.durable import disk, sync_directory
from synth.dataset.exporters.base import Exporter, Row
from synth.dataset.reader import Dataset
from synth.errors import OperatorError

# What a run directory consists of: an export never lands on it, nor where load_dataset would take it for a shard.
_RUN_FOLDERS = frozenset({"data", "world", ".synth"})
_RUN_FILES = frozenset({"README.md", "errors.parquet", "tasks.parquet", "config.yaml", "manifest.json"})


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export did. ``matched`` rows met the condition; ``left_out`` says why the others of them are missing.

    ``unseen`` rows were exported as a whole conversation that the model never saw as a whole.
    """

    exporter: str
    out: Path
    examples: int
    matched: int
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    unseen: int = 0


def export(
    dataset: Dataset,
    exporter: Exporter,
    out: Path,
    *,
    where: str | None = None,
    min_reward: float | None = None,
    split: str = "train",
    force: bool = False,
) -> ExportReport:
    """Write the dataset's scored rows of one split, from ``min_reward`` on (None: all), as the exporter says.

    ``out`` appears as a whole, by rename, or not at all. Unscored rows are never exported, and rollouts that
    infrastructure broke are no rows. Raises OperatorError where ``out`` exists (unless ``force``), belongs to the
    dataset, cannot be written, or nothing is left to export.
    """
    _check_target(dataset.path, out, force=force)
    selection = _Selection(dataset, exporter, where, min_reward, split)
    temporary = out.with_name(f".{out.name}.{os.getpid()}.part")
    with disk(out):
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            written = exporter.write(exporter.rows(selection.rows()), temporary)
            left_out = dict(selection.left_out + exporter.left_out)
            if not written:
                raise OperatorError(_nothing(selection, left_out))
            temporary.replace(out)
        finally:
            _remove(temporary)
        sync_directory(out.parent)
    return ExportReport(exporter.name, out, written, selection.matched, left_out, exporter.unseen)


class _Selection:
    """The rows that an exporter is given, and the count of those that it is not."""

    def __init__(
        self, dataset: Dataset, exporter: Exporter, where: str | None, min_reward: float | None, split: str
    ) -> None:
        self._dataset = dataset
        self._columns = list(dict.fromkeys(("trajectory_id", "split", "reward", *exporter.columns)))
        self._min_reward = -math.inf if min_reward is None else min_reward
        self._split = split
        self._ids: set[str] | None = None
        if where is not None:
            self._ids = {row["trajectory_id"] for row in dataset.query(where, ["trajectory_id"]).to_pylist()}
        self.matched = 0
        self.left_out: Counter[str] = Counter()

    def rows(self) -> Iterator[Row]:
        for row in self._dataset.rows(self._columns):
            if self._ids is not None and row["trajectory_id"] not in self._ids:
                continue
            self.matched += 1
            if row["split"] != self._split:
                self.left_out[f"split {row['split']}"] += 1
            elif row["reward"] is None:
                self.left_out["unscored"] += 1
            elif row["reward"] < self._min_reward:
                self.left_out[f"reward below {self._min_reward:g}"] += 1
            else:
                yield row


def _nothing(selection: _Selection, left_out: Mapping[str, int]) -> str:
    if not selection.matched:
        return "nothing to export: no row matches"
    lines = [f"nothing to export: {selection.matched} rows match, and all are left out"]
    lines += [f"  {count} {reason}" for reason, count in sorted(left_out.items())]
    if any(reason.startswith("reward below") for reason in left_out):
        lines.append("--min-reward R takes rows from another reward on, --all takes every scored row")
    if any(reason.startswith("split ") for reason in left_out):
        lines.append("--split NAME takes another split")
    return "\n".join(lines)


def _check_target(source: Path, out: Path, *, force: bool) -> None:
    root, target = source.resolve(), out.resolve()
    if root.is_dir() and target.is_relative_to(root):
        inside = target.relative_to(root).parts
        if not inside or inside[0] in _RUN_FOLDERS or (len(inside) == 1 and inside[0] in _RUN_FILES):
            raise OperatorError(f"{out} belongs to the dataset itself; choose another --out")
    if target == root:
        raise OperatorError(f"{out} is the dataset itself; choose another --out")
    if out.is_dir():  # never removed, not even by force: it may hold anything
        raise OperatorError(f"{out} is a directory; choose another --out")
    if (out.exists() or out.is_symlink()) and not force:
        raise OperatorError(f"{out} exists; --force replaces it, --out FILE writes elsewhere")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
