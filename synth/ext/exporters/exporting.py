"""Export of recorded runs from Python."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from synth.core.api.rerunning import Source, load
from synth.core.api.threads import call, in_thread
from synth.core.config.options import parse_options
from synth.errors import ConfigProblems, OperatorError
from synth.ext.exporters import Exporter, ExportReport, find_exporter
from synth.ext.exporters import export as write
from synth.ext.exporters.base import ConversationGate, View
from synth.ext.exporters.lengths import Long
from synth.ext.exporters.rendering.presets import find_preset
from synth.ext.exporters.row_policy import Calls, Ids, RowPolicy, Unit
from synth.ext.exporters.selection import Errors, RowChoice
from synth.ext.hub.contamination import BenchmarkCheck, benchmarks
from synth.plugins import PluginError, resolve

Threshold = float | Literal["exporter", "success"] | None
"""A reward; ``exporter`` is the exporter's own choice, ``success`` takes what passes all gates,
None takes every scored row.
"""


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
    gate, policy = _through_template(exporter, template, RowPolicy(unit, calls, ids, keep_submit))
    _measure(exporter, tokenizer, max_tokens, long)
    return call(
        lambda _: write(load(source), exporter, Path(out), choice, policy, gate, force=force)
    )


aexport = in_thread(export)


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


def _through_template(
    exporter: Exporter, name: str | None, policy: RowPolicy
) -> tuple[ConversationGate | None, RowPolicy]:
    """Give the exporter its chat template. Returns the gate, and the policy with the forms that the
    template needs.

    Raises :class:`OperatorError` for a template that there is not, and without jinja2.
    """
    if name is None:
        return None, policy
    preset = exporter.template = find_preset(name)
    with _of_extra():
        kind: Any = resolve("synth.ext.exporters.rendering.gate:RenderGate")
    forms = replace(
        policy,
        calls=policy.calls or preset.calls,
        ids=policy.ids or preset.ids,
        thinking=preset.thinking,
    )
    return kind(preset), forms


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
    exporter.view = view
    return exporter
