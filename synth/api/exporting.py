"""Export of recorded runs from Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from synth.api.datasets import Source, load
from synth.api.threads import acall, call
from synth.config.options import parse_options
from synth.dataset.exporters import Exporter, ExportReport, find_exporter
from synth.dataset.exporters import export as write
from synth.dataset.exporters.base import View
from synth.errors import ConfigProblems, OperatorError

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
    view: View = "full",
    options: Mapping[str, Any] | None = None,
    force: bool = False,
) -> ExportReport:
    """Write the scored rows of one or several datasets in the format of a trainer.

    ``to`` names an exporter (``trl-sft``, ``openai-jsonl``, or ``package.module:attribute``),
    ``out`` the file. ``where`` is an SQL condition over the columns, ``min_reward`` the lowest
    reward that is exported (``exporter``: its own choice, successes for those that imitate; None:
    all). ``view`` is that of rows whose context was compacted; ``options`` are the exporter's own.
    ``out`` appears as a whole or not at all.

    Raises:
        OperatorError: If ``out`` exists (unless ``force``) or nothing is left to export.
        ConfigProblems: For options that the exporter does not take.
        DatasetError: If there is no dataset, or it cannot be read.
    """
    return call(lambda _: _export(source, to, out, where, min_reward, split, view, options, force))


async def aexport(
    source: Source | Iterable[str | Path],
    to: str,
    out: str | Path,
    *,
    where: str | None = None,
    min_reward: Threshold = "exporter",
    split: str = "train",
    view: View = "full",
    options: Mapping[str, Any] | None = None,
    force: bool = False,
) -> ExportReport:
    """Export in a thread of its own; arguments and errors are those of :func:`export`."""
    return await acall(
        lambda _: _export(source, to, out, where, min_reward, split, view, options, force)
    )


def _export(
    source: Source | Iterable[str | Path],
    to: str,
    out: str | Path,
    where: str | None,
    min_reward: Threshold,
    split: str,
    view: View,
    options: Mapping[str, Any] | None,
    force: bool,
) -> ExportReport:
    exporter = make_exporter(to, options or {}, view, ("options.", "view"))
    return write(
        load(source),
        exporter,
        Path(out),
        where=where,
        min_reward=exporter.min_reward if min_reward == "exporter" else min_reward,
        split=split,
        force=force,
    )


def make_exporter(
    name: str, options: Mapping[str, Any], view: View, keys: tuple[str, str]
) -> Exporter:
    """Construct an exporter with its options; ``keys`` are the words by which messages name an
    option and the view.

    Raises :class:`OperatorError` for a view that the exporter does not know, and
    :class:`ConfigProblems` with one line for each problem of an option.
    """
    kind = find_exporter(name)
    prefix, view_key = keys
    if view not in kind.views:
        raise OperatorError(f"{view_key}: {kind.name} knows {' and '.join(kind.views)}, not {view}")
    if kind.Options is None:
        if options:
            raise OperatorError(f"{prefix}{next(iter(options))}: {kind.name} has no options")
        exporter = kind()
    else:
        try:
            exporter = kind(parse_options(kind.Options, dict(options), "option"))
        except ConfigProblems as error:
            lines = [line.replace("option.", prefix, 1) for line in error.problems]
            raise ConfigProblems(lines) from None
    exporter.view = view
    return exporter
