"""One export: selection of rows, protection of the target, and an atomic result."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from synth.dataset.exporters.base import Exporter, MinReward, Row
from synth.dataset.reader import Dataset
from synth.dataset.store.atomic_files import disk, sync_directory
from synth.errors import OperatorError

_RUN_FOLDERS = frozenset({"data", "world", ".synth"})
_RUN_FILES = frozenset(
    {"README.md", "errors.parquet", "tasks.parquet", "config.yaml", "manifest.json"}
)
"""Parts of a run directory; an export never replaces them, nor is it written where `load_dataset`
would take it for a shard.
"""

FAILED = "no success: a gate failed"


@dataclass(frozen=True, slots=True)
class ExportReport:
    """Result of an export: ``matched`` rows met the condition, ``left_out`` counts those of them
    that are missing, by reason.

    ``compacted`` rows were exported as one conversation although the model never saw it as a whole.
    """

    exporter: str
    out: Path
    examples: int
    matched: int
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    compacted: int = 0


def export(
    dataset: Dataset,
    exporter: Exporter,
    out: Path,
    *,
    where: str | None = None,
    min_reward: MinReward = None,
    split: str = "train",
    force: bool = False,
) -> ExportReport:
    """Write the scored rows of one split that ``min_reward`` selects in the exporter's format.

    ``out`` appears as a whole, by rename, or not at all. Unscored rows are never exported; rollouts
    that ended in an infrastructure error have no row. Raises :class:`~synth.errors.OperatorError`
    if ``out`` exists (unless ``force``), belongs to the dataset or cannot be written, or if nothing
    is left to export.
    """
    for path in dataset.paths:
        _check_target(path, out, force=force)
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
    return ExportReport(
        exporter.name, out, written, selection.matched, left_out, exporter.compacted
    )


class _Selection:
    """Rows that pass to the exporter, and the count of those that do not."""

    def __init__(
        self,
        dataset: Dataset,
        exporter: Exporter,
        where: str | None,
        min_reward: MinReward,
        split: str,
    ) -> None:
        self._dataset = dataset
        self._columns = list(
            dict.fromkeys(("trajectory_id", "split", "reward", "outcome", *exporter.columns))
        )
        self._min_reward = min_reward
        self._split = split
        self._ids: set[str] | None = None
        if where is not None:
            self._ids = {
                row["trajectory_id"] for row in dataset.query(where, ["trajectory_id"]).to_pylist()
            }
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
            elif reason := self._too_low(row):
                self.left_out[reason] += 1
            else:
                yield row

    def _too_low(self, row: Row) -> str:
        """The reason why a scored row is left out; empty if it is exported."""
        if self._min_reward is None:
            return ""
        if self._min_reward == "success":
            return "" if row["outcome"] == "success" else FAILED
        return f"reward below {self._min_reward:g}" if row["reward"] < self._min_reward else ""


def _nothing(selection: _Selection, left_out: Mapping[str, int]) -> str:
    if not selection.matched:
        return "nothing to export: no row matches"
    lines = [f"nothing to export: {selection.matched} rows match, and all are left out"]
    lines += [f"  {count} {reason}" for reason, count in sorted(left_out.items())]
    if any(reason == FAILED or reason.startswith("reward below") for reason in left_out):
        lines.append("--min-reward R sets a threshold, --all exports every scored row")
    if any(reason.startswith("split ") for reason in left_out):
        lines.append("--split NAME exports another split")
    return "\n".join(lines)


def _check_target(source: Path, out: Path, *, force: bool) -> None:
    root, target = source.resolve(), out.resolve()
    if root.is_dir() and target.is_relative_to(root):
        inside = target.relative_to(root).parts
        if (
            not inside
            or inside[0] in _RUN_FOLDERS
            or (len(inside) == 1 and inside[0] in _RUN_FILES)
        ):
            raise OperatorError(f"{out} belongs to the dataset itself; choose another --out")
    if target == root:
        raise OperatorError(f"{out} is the dataset itself; choose another --out")
    if out.is_dir():  # never removed, even with --force: it may hold anything
        raise OperatorError(f"{out} is a directory; choose another --out")
    if (out.exists() or out.is_symlink()) and not force:
        raise OperatorError(f"{out} exists; --force replaces it, --out FILE writes elsewhere")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
