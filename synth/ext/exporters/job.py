"""One export: selection of rows, protection of the target, and an atomic result."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from envs.ledger import Ledger
from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.atomic_files import disk, sync_directory
from synth.errors import OperatorError
from synth.ext.exporters.base import ConversationGate, Exporter, Message, Row
from synth.ext.exporters.rendering.control_marks import ControlMarks, marks_of
from synth.ext.exporters.row_policy import RowPolicy, shaped
from synth.ext.exporters.selection import FAILED, RowChoice, Selection
from synth.ext.exporters.siblings import NO_SIBLING, SAME_REWARD

_RUN_FOLDERS = frozenset({"data", "world", ".synth"})
_RUN_FILES = frozenset(
    {"README.md", "errors.parquet", "tasks.parquet", "config.yaml", "manifest.json"}
)
"""Parts of a run directory; an export never replaces them, nor is it written where `load_dataset`
would take it for a shard.
"""


_LINES = frozenset({".jsonl", ".json"})


@dataclass(frozen=True, slots=True)
class ExportReport:
    """Result of an export: ``matched`` rows met the condition; ``account`` says what became of each
    of them, and of the reasoning of their turns; ``remark`` is the exporter's line about the file.
    """

    exporter: str
    out: Path
    examples: int
    matched: int
    account: Ledger
    remark: str = ""

    @property
    def left_out(self) -> Mapping[str, int]:
        """Number of rows that are missing, by reason."""
        return self.account.reasons("row")


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

    A row that ``gate`` gives a reason to refuse is left out by name.

    ``out`` appears as a whole, by rename, or not at all. Unscored rows are never exported; rollouts
    that ended in an infrastructure error have no row. Raises :class:`~synth.errors.OperatorError`
    if ``out`` exists (unless ``force``), belongs to the dataset or cannot be written, or if nothing
    is left to export.
    """
    for path in dataset.paths:
        check_target(path, out, force=force)
    _check_form(exporter, out)
    account = exporter.account
    selection = Selection(dataset, choice or RowChoice(), account)
    rows = _Rows(selection, exporter, policy or RowPolicy(), gate)
    temporary = out.with_name(f".{out.name}.{os.getpid()}.part")
    with disk(out), _folder_of(out):
        try:
            written = exporter.write(exporter.rows(rows.stream()), temporary)
            exporter.close()
            if not written:
                raise OperatorError(_nothing(selection.matched, account))
            _check(exporter)
            temporary.replace(out)
        finally:
            _remove(temporary)
        sync_directory(out.parent)
    remark = exporter.remark()
    return ExportReport(exporter.name, out, written, selection.matched, account, remark)


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
            policy,
            calls=policy.calls or exporter.calls,
            ids=policy.ids or exporter.ids,
            keep_submit=policy.keep_submit or exporter.prompts,
        )
        preset = exporter.template
        self._marks = ControlMarks({*marks_of(preset), *exporter.marks} if preset else None)
        self._sizes: Counter[str] = Counter()
        self._prompts: dict[str | None, str] = {}
        exporter.unit = policy.unit
        exporter.gate = gate
        if exporter.by_task:
            exporter.task_sizes = self._sizes = Counter(selection.task_sizes())

    def stream(self) -> Iterator[Row]:
        segments = self._exporter.view == "segments"
        wanted = ("messages", "segments", "tools", *self._exporter.columns)
        for row in self._selection.rows(wanted):
            count = 0
            for part in shaped(row, self._policy, segments=segments):
                count += 1
                if reason := self._refused(part):
                    self._exporter.leave_out(row, reason)
                    self._sizes[row["task_id"]] -= 1
                else:
                    yield part
            if not count:
                self._exporter.leave_out(row, "no turn that may be trained on")

    def _refused(self, row: Row) -> str:
        """Return why a row, or the task of a prompt, cannot be rendered; empty if it can."""
        task = row["task_id"] if self._exporter.prompts else None
        if task in self._prompts:
            return self._prompts[task]
        reasons = (self._unfit(messages, row["tools"]) for messages in self._exporter.rendered(row))
        found = next(filter(None, reasons), "")
        if task is not None:
            self._prompts[task] = found
        return found

    def _unfit(self, messages: Sequence[Message], tools: Sequence[Any]) -> str:
        reason = self._gate.reason(messages, tools) if self._gate is not None else ""
        if reason:
            return reason
        mark = None if self._exporter.encodes else self._marks.first(messages, tools)
        if mark:
            model = self._exporter.template.name if self._exporter.template else "chat templates"
            return f"a text holds {mark}, a control mark of {model}"
        return self._exporter.lengths.refusal(messages, tools)


def _check_form(exporter: Exporter, out: Path) -> None:
    """Take the form that the file's name says. Raises OperatorError for one that the target does
    not write.
    """
    if exporter.parquet and out.suffix in _LINES:
        exporter.form = "lines"
    elif not exporter.parquet and (out.suffix == ".parquet" or exporter.form == "plain"):
        raise OperatorError(f"{exporter.name} writes {exporter.suffix} files, no Parquet")


def _check(exporter: Exporter) -> None:
    """Raise OperatorError for an exporter that does not say what became of each row."""
    try:
        exporter.account.check()
    except AssertionError as error:
        raise OperatorError(
            f"{exporter.name} must call exported(row) or leave_out(row, reason) for each row:"
            f" {error}"
        ) from None


def _nothing(matched: int, account: Ledger) -> str:
    left_out = account.reasons("row")
    if not matched:
        return "nothing to export: no row matches"
    if left_out.keys() <= {NO_SIBLING, SAME_REWARD}:
        return (
            "nothing to export: no pair of samples of one task with different rewards; a run with"
            " tasks.samples=4 (and a model that sometimes fails) has them"
        )
    lines = [f"nothing to export: {matched} rows match, and all are left out"]
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
