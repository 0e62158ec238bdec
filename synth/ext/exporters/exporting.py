"""Exports of recorded runs: what ``synth export`` and ``synth.export`` do."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from envs.ledger import Ledger
from synth.core.api.rerunning import Source, load
from synth.core.api.threads import call, in_thread
from synth.core.config.options import parse_options
from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.atomic_files import disk, sync_directory
from synth.errors import ConfigProblems, OperatorError
from synth.ext.exporters import Exporter, Row, find_exporter
from synth.ext.exporters.base import Message, View, row_key
from synth.ext.exporters.lengths import Long
from synth.ext.exporters.rendering.control_marks import ControlMarks, marks_of
from synth.ext.exporters.rendering.presets import find_preset
from synth.ext.exporters.row_policy import Calls, Ids, RowPolicy, Unit, shaped
from synth.ext.exporters.selection import FAILED, Errors, RowChoice, Selection
from synth.ext.exporters.siblings import NO_SIBLING, SAME_REWARD
from synth.ext.hub.contamination import BenchmarkCheck, benchmarks
from synth.plugins import PluginError, resolve

Threshold = float | Literal["exporter", "success"] | None
"""A reward; ``exporter`` is the exporter's own choice, ``success`` takes what passes all gates,
None takes every scored row.
"""


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
    source: Source | Iterable[str | Path],
    to: str,
    out: str | Path,
    *,
    where: str | None = None,
    min_reward: Threshold = "exporter",
    split: str = "train",
    best: int | None = None,
    errors: Errors = "keep",
    against: Sequence[str | Path] = (),
    view: View = "full",
    unit: Unit = "rollout",
    calls: Calls | None = None,
    ids: Ids | None = None,
    keep_submit: bool = False,
    template: str | None = None,
    tokenizer: str | Path | None = None,
    max_tokens: int | None = None,
    long: Long = "drop",
    plain: bool = False,
    options: Mapping[str, Any] | None = None,
    force: bool = False,
) -> ExportReport:
    """Write the scored rows of one or several datasets in the format of a trainer.

    ``to`` names an exporter (``trl-sft``, ``openai-jsonl``, or ``package.module:attribute``),
    ``out`` the file. ``where`` is an SQL condition over the columns, ``min_reward`` the lowest
    reward that is exported (``exporter``: its own choice, successes for those that imitate; None:
    all). ``best`` takes only that many rows of each task, ``errors="drop"`` leaves out rows with a
    failed call or a turn that must not be trained on; ``against`` names files or folders with texts
    of benchmarks, and leaves out the rows that overlap with them. ``view`` is for rows whose
    context was compacted; ``unit="turn"`` makes an example of each turn; ``calls`` and ``ids`` are
    the forms of calls (None: the template's or the target's), ``keep_submit`` leaves the tool
    ``submit`` in, which prompts for an environment always keep. ``template`` names a chat template,
    a preset or a file: rows that it does not render truly are left out. ``tokenizer`` is the
    model's ``tokenizer.json``, by which rows are counted; longer ones than ``max_tokens`` are
    left out, or (``long="refuse"``) end the export. ``plain`` writes JSON columns of Parquet as
    texts, for ``datasets`` 3 and 4; a name that ends in ``.jsonl`` writes JSON lines. ``options``
    are the exporter's own.
    ``out`` appears as a whole or not at all.

    Raises:
        OperatorError: If ``out`` exists (unless ``force``) or nothing is left to export.
        ConfigProblems: For options that the exporter does not take.
        DatasetError: If there is no dataset, or it cannot be read.
    """
    exporter = _made(to, options or {}, view, unit)
    lowest = exporter.min_reward if min_reward == "exporter" else min_reward
    check = BenchmarkCheck(benchmarks(map(Path, against))) if against else None
    choice = RowChoice(where, lowest, split, best, errors, check)
    exporter.form = "plain" if plain else "columns"
    if template is not None:
        _check_by_template(exporter, template)
    preset = exporter.template
    policy = RowPolicy(
        unit,
        _first(calls, preset and preset.calls, exporter.calls),
        _first(ids, preset and preset.ids, exporter.ids),
        keep_submit or exporter.prompts,
        preset is not None and preset.thinking,
    )
    _measure(exporter, tokenizer, max_tokens, long)
    return call(lambda _: _write(load(source), exporter, Path(out), choice, policy, force=force))


aexport = in_thread(export)


def _first(*choices: Any) -> Any:
    """Return the first choice that is made."""
    return next(choice for choice in choices if choice is not None)


def _measure(
    exporter: Exporter, tokenizer: str | Path | None, most: int | None, long: Long
) -> None:
    """Give the exporter its tokenizer and its limit, after its chat template.

    Raises :class:`OperatorError` for a tokenizer without a template or a limit without a tokenizer.
    """
    exporter.lengths.most, exporter.lengths.long = most, long
    if tokenizer is None:
        if most is not None:
            raise OperatorError("--max-tokens counts tokens: give --tokenizer tokenizer.json, too")
        return
    if exporter.template is None:
        raise OperatorError("--tokenizer counts what a chat template renders: give --template, too")
    exporter.tokenizer = str(tokenizer)
    with _of_extra():
        kind: Any = resolve("synth.ext.exporters.rendering.masks:TokenCount")
    exporter.lengths.counter = kind(exporter.template, exporter.tokenizer)


@contextmanager
def _of_extra() -> Generator[None]:
    try:
        yield
    except PluginError as error:
        raise OperatorError(
            "--template and --tokenizer need an extra: pip install 'synth-worlds[templates]'"
        ) from error


def _check_by_template(exporter: Exporter, name: str) -> None:
    """Give the exporter its chat template, and the check by it.

    Raises :class:`OperatorError` for a template that there is not, and without jinja2.
    """
    exporter.template = find_preset(name)
    with _of_extra():
        kind: Any = resolve("synth.ext.exporters.rendering.gate:RenderGate")
    exporter.gate = kind(exporter.template)


def _made(name: str, options: Mapping[str, Any], view: View, unit: Unit) -> Exporter:
    """Construct an exporter with its options.

    Raises :class:`OperatorError` for a view or a unit that the exporter does not know, and
    :class:`ConfigProblems` with one line for each problem of an option.
    """
    kind = find_exporter(name)
    for key, value, known in (("view", view, kind.views), ("unit", unit, kind.units)):
        if value not in known:
            words = f"{kind.name} knows {' and '.join(known)}, not {value}"
            raise OperatorError(f"--{key}: {words}")
    if kind.Options is None:
        if options:
            raise OperatorError(f"--option {next(iter(options))}: {kind.name} has no options")
        exporter = kind()
    else:
        try:
            exporter = kind(parse_options(kind.Options, dict(options), "option"))
        except ConfigProblems as error:
            lines = [line.replace("option.", "--option ", 1) for line in error.problems]
            raise ConfigProblems(lines) from None
    exporter.view, exporter.unit = view, unit
    return exporter


def _write(
    dataset: Dataset,
    exporter: Exporter,
    out: Path,
    choice: RowChoice,
    policy: RowPolicy,
    *,
    force: bool,
) -> ExportReport:
    """Write the rows that ``choice`` takes, in the form of ``policy`` and the exporter's format.

    ``out`` appears as a whole, by rename, or not at all. Unscored rows are never exported; rollouts
    that ended in an infrastructure error have no row.
    """
    for path in dataset.paths:
        check_target(path, out, force=force)
    _check_form(exporter, out)
    selection = Selection(dataset, choice)
    temporary = out.with_name(f".{out.name}.{os.getpid()}.part")
    with disk(out), _folder_of(out):
        try:
            written = exporter.write(exporter.rows(_rows(selection, exporter, policy)), temporary)
            account = exporter.close()
            if not written:
                raise OperatorError(_nothing(selection.matched, account))
            _check(exporter)
            temporary.replace(out)
        finally:
            _remove(temporary)
        sync_directory(out.parent)
    return ExportReport(exporter.name, out, written, selection.matched, account, exporter.remark())


def _rows(selection: Selection, exporter: Exporter, policy: RowPolicy) -> Iterator[Row]:
    """The selected rows in the form that the policy asks for, less those that the exporter's
    template, its marks or its limit of tokens refuse.
    """
    preset = exporter.template
    marks = ControlMarks({*marks_of(preset), *exporter.marks} if preset else None)
    sizes = Counter(selection.task_sizes)
    if exporter.by_task:
        exporter.task_sizes = sizes
    prompts: dict[str, str] = {}

    def refused(row: Row) -> str:
        reasons = (_unfit(exporter, marks, one, row) for one in exporter.rendered(row))
        if not exporter.prompts:
            return next(filter(None, reasons), "")
        task = row["task_id"]
        if task not in prompts:
            prompts[task] = next(filter(None, reasons), "")
        return prompts[task]

    wanted = ("messages", "segments", "tools", *exporter.columns)
    for row in selection.rows(wanted, exporter.account):
        count = 0
        for part in shaped(row, policy, segments=exporter.view == "segments"):
            count += 1
            if reason := refused(part):
                exporter.leave_out(row, reason)
                sizes[row["task_id"]] -= 1
            else:
                yield part
        if not count:
            exporter.leave_out(row, "no turn that may be trained on")


def _unfit(exporter: Exporter, marks: ControlMarks, messages: Sequence[Message], row: Row) -> str:
    """Return why a conversation of a row cannot be exported; empty if it can."""
    tools: Sequence[Any] = row["tools"]
    if exporter.gate is not None and (reason := exporter.gate.reason(messages, tools)):
        return reason
    if not exporter.encodes and (mark := marks.first(messages, tools)):
        model = exporter.template.name if exporter.template else "chat templates"
        return f"a text holds {mark}, a control mark of {model}"
    return exporter.lengths.refusal(row_key(row), messages, tools)


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
