"""Run of a job from Python."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import Literal, cast

from rich.console import Console

from synth.config import RunConfig, from_dict, to_dict
from synth.coordinator import Coordinator, RunReport
from synth.core.api.threads import Interrupt, Work, call, in_thread
from synth.core.config.compose import compose
from synth.core.config.overrides import flat_values, override_lines, plain_changes
from synth.core.dataset.reader import Dataset
from synth.core.foundation.consent import agree, refuse
from synth.core.runner.resuming import resume as resume_run
from synth.errors import OperatorError
from synth.launch import launch

Overrides = str | Mapping[str, object] | RunConfig
"""A ``key=value`` of the command line, a mapping of config values, or a whole config."""


@dataclass(frozen=True)
class Run:
    """A run that has ended: complete, or partial with a ``reason``.

    ``planned`` counts rollouts; ``rows`` those that have a row in the dataset, ``failed`` those
    that infrastructure broke in this session.
    """

    report: RunReport

    @property
    def directory(self) -> Path:
        """The run directory, which is the dataset."""
        return self.report.directory

    @property
    def status(self) -> Literal["complete", "partial"]:
        """``complete``, or ``partial`` if there is work left: ``synth.run(resume=directory)``."""
        return self.report.status

    @property
    def reason(self) -> str | None:
        """The end of a partial run: a budget, the breaker, ``interrupted``; None if complete."""
        return self.report.reason

    @property
    def planned(self) -> int:
        """Number of rollouts of the plan."""
        return self.report.planned

    @property
    def rows(self) -> int:
        """Number of rows in the dataset."""
        return self.report.totals.rows

    @property
    def failed(self) -> int:
        """Number of rollouts of this session that infrastructure broke."""
        return self.report.totals.failed

    @property
    def seconds(self) -> float:
        """Duration of this session."""
        return self.report.seconds

    @cached_property
    def dataset(self) -> Dataset:
        """The rows, opened when first asked for."""
        return Dataset.open(self.directory)

    def __repr__(self) -> str:
        why = f" ({self.reason})" if self.reason else ""
        return f"Run({str(self.directory)!r}: {self.status}{why}, {self._counts()})"

    def _repr_html_(self) -> str:
        why = f": {escape(self.reason)}" if self.reason else ""
        return (
            f"<div><b>{self.status}</b>{why} &middot; {escape(self._counts())} &middot; "
            f"{self.seconds:.1f} s<br><code>{escape(str(self.directory))}</code></div>"
        )

    def _counts(self) -> str:
        totals = self.report.totals
        share = f", {totals.successes / totals.scored:.1%} successful" if totals.scored else ""
        broken = f", {totals.failed} failed" if totals.failed else ""
        return f"{totals.rows} of {self.planned} rollouts{broken}{share}"


def run(
    *overrides: Overrides | Iterable[str],
    resume: str | Path | None = None,
    config_dir: str | Path | None = None,
    progress: bool = True,
    trust: bool = False,
    **keys: object,
) -> Run:
    """Make a dataset, or go on with one.

    ``overrides`` are written as for ``synth run`` (``"tasks.count=8"``), mappings of keys, or
    one :class:`RunConfig`; further keyword arguments are sections or keys of the config. A text for
    a section chooses a config of its group::

        synth.run("env=shop", "tasks.count=8", seed=7)
        synth.run(env="shop", tasks={"count": 8}, model={"mistake_rate": 0.2})
        synth.run(resume="out/shop", budget={"tokens": 2_000_000})

    ``resume`` is the directory of an earlier run, ``config_dir`` a folder with config groups.
    Progress is written to standard error; ``progress=False`` writes nothing. ``trust=True``
    executes the code in a directory that was not made on this machine.

    An interrupt (Ctrl-C, a notebook's stop button) finishes what is in flight and returns a partial
    run with the reason ``interrupted``; a second one raises KeyboardInterrupt, and what had
    finished is kept. Rollouts that infrastructure broke do not raise: they are in
    ``Run.dataset.errors()``.

    Returns:
        The run, whose ``dataset`` has the rows.

    Raises:
        ConfigProblems: With everything that is wrong with the config, before anything starts.
        OperatorError: For a key, an endpoint, a database or a directory that cannot be used.
        ResumeRefused: If ``resume`` names a run that these changes would make into another.
        UntrustedCode: If ``resume`` names a directory from elsewhere, without ``trust``.
        WorldError: For a world that cannot be loaded.
        TaskError: For a task that cannot be proved.
    """
    return call(_work(overrides, resume, config_dir, progress, trust, keys))


arun = in_thread(run)


def _work(
    overrides: Iterable[Overrides | Iterable[str]],
    directory: str | Path | None,
    config_dir: str | Path | None,
    progress: bool,
    trust: bool,
    keys: Mapping[str, object],
) -> Work[Run]:
    lines: list[str] = []
    values: dict[str, object] = {}
    whole: list[RunConfig] = []
    for item in overrides:
        if isinstance(item, RunConfig):
            whole.append(item)
        elif isinstance(item, Mapping):
            values |= flat_values(cast("Mapping[str, object]", item))
        else:
            lines += [item] if isinstance(item, str) else item
    values |= flat_values(keys)
    if directory is None:
        given = [*lines, *override_lines(values)]
        if not whole:
            (job,) = compose(given, config_dir=None if config_dir is None else Path(config_dir))
            return partial(_run, partial(launch, job.config), progress)
        if len(whole) > 1 or given or config_dir is not None:
            raise OperatorError(
                "a RunConfig is the whole config: give no other overrides beside it"
            )
        config = from_dict(to_dict(whole[0]))
        return partial(_run, partial(launch, config), progress)
    if whole or config_dir is not None:
        raise OperatorError("resume goes on with the run's own config: give only keys that change")
    changes = plain_changes(lines) | values
    own, consent = Path(directory).expanduser().absolute(), agree if trust else refuse
    return partial(_run, partial(resume_run, own, changes, consent=consent), progress)


def _run(play: Callable[..., RunReport], progress: bool, interrupt: Interrupt) -> Run:
    def connect(coordinator: Coordinator) -> None:
        interrupt.connect(coordinator.interrupt)

    # In a notebook, Rich would write HTML; lines on standard error can be read everywhere.
    console = Console(file=sys.stderr, quiet=not progress, force_jupyter=False, highlight=False)
    return Run(play(console=console, begun=connect))
