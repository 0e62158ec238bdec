"""One export: selection of rows, protection of the target, and an atomic result."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from synth.dataset.exporters.base import ConversationGate, Exporter, Row
from synth.dataset.exporters.row_policy import RowPolicy, shaped
from synth.dataset.exporters.selection import FAILED, RowChoice, Selection
from synth.dataset.exporters.siblings import NO_SIBLING, SAME_REWARD
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


@dataclass(frozen=True, slots=True)
class ExportReport:
    """Result of an export: ``matched`` rows met the condition, ``left_out`` counts those of them
    that are missing, by reason.

    ``compacted`` rows were exported as one conversation although the model never saw it as a whole.
    ``lost_reasoning`` counts exported turns whose reasoning is missing, by reason.
    """

    exporter: str
    out: Path
    examples: int
    matched: int
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    compacted: int = 0
    lost_reasoning: Mapping[str, int] = field(default_factory=dict[str, int])


def export(
    dataset: Dataset,
    exporter: Exporter,
    out: Path,
    choice: RowChoice | None = None,
    policy: RowPolicy | None = None,
    gate: ConversationGate | None = None,
    *,
    force: bool = False,
) -> ExportReport:
    """Write the rows that ``choice`` takes, in the form of ``policy`` and the exporter's format.

    A row that ``gate`` gives a reason to refuse is left out and counted.

    ``out`` appears as a whole, by rename, or not at all. Unscored rows are never exported; rollouts
    that ended in an infrastructure error have no row. Raises :class:`~synth.errors.OperatorError`
    if ``out`` exists (unless ``force``), belongs to the dataset or cannot be written, or if nothing
    is left to export.
    """
    for path in dataset.paths:
        check_target(path, out, force=force)
    selection = Selection(dataset, choice or RowChoice())
    rows = _Rows(selection, exporter, policy or RowPolicy(), gate)
    temporary = out.with_name(f".{out.name}.{os.getpid()}.part")
    with disk(out), _folder_of(out):
        try:
            written = exporter.write(exporter.rows(rows.stream()), temporary)
            left_out = dict(selection.left_out + rows.left_out + exporter.left_out)
            if not written:
                raise OperatorError(_nothing(selection, left_out))
            temporary.replace(out)
        finally:
            _remove(temporary)
        sync_directory(out.parent)
    return ExportReport(
        exporter.name,
        out,
        written,
        selection.matched,
        left_out,
        exporter.compacted,
        dict(exporter.lost_reasoning),
    )


class _Rows:
    """The selected rows in the form that the policy and the target ask for."""

    def __init__(
        self,
        selection: Selection,
        exporter: Exporter,
        policy: RowPolicy,
        gate: ConversationGate | None,
    ) -> None:
        self._gate = gate
        self._selection = selection
        self._exporter = exporter
        self._policy = replace(
            policy, calls=policy.calls or exporter.calls, ids=policy.ids or exporter.ids
        )
        self.left_out: Counter[str] = Counter()
        self._sizes: Counter[str] = Counter()
        self._prompts: dict[str | None, str] = {}
        exporter.unit = policy.unit
        exporter.gate = gate
        if exporter.by_task:
            exporter.task_sizes = self._sizes = Counter(selection.task_sizes())

    def stream(self) -> Iterator[Row]:
        segments = self._exporter.view == "segments"
        needed = self._policy.unit == "turn" or self._gate is not None
        wanted = ("messages", "segments", "tools") if needed else ()
        for row in self._selection.rows((*self._exporter.columns, *wanted)):
            count = 0
            for part in shaped(row, self._policy, segments=segments):
                count += 1
                if reason := self._refused(part):
                    self.left_out[reason] += 1
                    self._sizes[row["task_id"]] -= 1
                else:
                    yield part
            if not count:
                self.left_out["no turn that may be trained on"] += 1

    def _refused(self, row: Row) -> str:
        """Return why the template refuses a row, or the task of a prompt; empty if it does not."""
        if self._gate is None:
            return ""
        task = row["task_id"] if self._exporter.prompts else None
        if task in self._prompts:
            return self._prompts[task]
        reasons = (
            self._gate.reason(messages, row["tools"]) for messages in self._exporter.rendered(row)
        )
        found = next(filter(None, reasons), "")
        if task is not None:
            self._prompts[task] = found
        return found


def _nothing(selection: Selection, left_out: Mapping[str, int]) -> str:
    if not selection.matched:
        return "nothing to export: no row matches"
    if left_out.keys() <= {NO_SIBLING, SAME_REWARD}:
        return (
            "nothing to export: no pair of samples of one task with different rewards; a run with"
            " tasks.samples=4 (and a model that sometimes fails) has them"
        )
    lines = [f"nothing to export: {selection.matched} rows match, and all are left out"]
    lines += [f"  {count} {reason}" for reason, count in sorted(left_out.items())]
    if any(reason == FAILED or reason.startswith("reward below") for reason in left_out):
        lines.append("--min-reward R sets a threshold, --all exports every scored row")
    if any(reason.startswith("split ") for reason in left_out):
        lines.append("--split NAME exports another split")
    return "\n".join(lines)


def check_target(source: Path, out: Path, *, force: bool) -> None:
    """Raise OperatorError for a file that may not be written: it exists (unless ``force``), or it
    belongs to the dataset ``source``.
    """
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


@contextmanager
def _folder_of(path: Path) -> Generator[None]:
    """Make the folder of a file; after an error, remove what was made."""
    missing = [folder for folder in path.parents if not folder.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()
        raise


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
