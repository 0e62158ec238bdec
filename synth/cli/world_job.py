"""Jobs in which a model writes for a world: their config, their world's folder and its journals."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from synth.cli.live_options import model_overrides
from synth.config.compose import compose
from synth.config.quoting import quoted_value
from synth.config.schema import RunConfig
from synth.dataset.store.atomic_files import disk
from synth.dataset.store.lock import RunLock
from synth.errors import OperatorError
from synth.foundation.hashing import digest
from synth.foundation.shipped import examples_dir, find_world
from synth.generation.folder import copy_world
from synth.report import Screen

STATE = ".synth"
"""The folder of a world that holds the journals; hidden, so that it is no part of the world."""

HEEDED = ("model", "budget.usd", "budget.tokens", "database", "preflight")
"""The sections and keys of the config that these commands heed."""

DEFAULTS = {"model.max_tokens": "8192", "model.options.max_response_bytes": "2000000"}
"""Limits on one answer, unless an override sets another."""


def check_options(
    options: argparse.Namespace, command: str, least: Sequence[tuple[str, int]]
) -> None:
    """Raise OperatorError for options that cannot work. ``least`` are the smallest numbers that
    options may be.
    """
    for name, number in least:
        if getattr(options, name) < number:
            raise OperatorError(f"--{name} is a number of at least {number}")
    if options.model == "scripted":
        raise OperatorError("--model scripted writes nothing: name a model at an endpoint")
    for override in options.overrides:
        key = override.lstrip("+~").partition("=")[0]
        if not any(key == heeded or key.startswith(f"{heeded}.") for heeded in HEEDED):
            raise OperatorError(
                f"{override}: `synth {command}` heeds {', '.join(HEEDED)}; --seed is an option of"
                " its own"
            )


def job_config(source: Path, options: argparse.Namespace) -> RunConfig:
    """The config of a job on the world in a folder."""
    given = [
        f"env.path={quoted_value(str(source))}",
        *model_overrides(options),
        *(f"{key}={value}" for key, value in DEFAULTS.items()),
        f"seed={options.seed}",
    ]
    own = {override.lstrip("+").partition("=")[0] for override in options.overrides}
    kept = [line for line in given if line.partition("=")[0] not in own]
    (job,) = compose([*kept, *options.overrides])
    return job.config


def own_folder(source: Path, to: Path | None, what: str) -> Path:
    """The folder of the world that is added to: the world's, or its copy at ``to``.

    Raises OperatorError for a world that ships, which is never changed.
    """
    if to is not None:
        if not to.exists():
            copy_world(source, to)
        return find_world(str(to.resolve()))
    if source.is_relative_to(examples_dir().resolve()):
        raise OperatorError(
            f"{source.name} ships with synth and is not changed: --to PATH adds the {what} to a"
            " copy of it"
        )
    return source


@contextmanager
def locked_state(folder: Path) -> Generator[Path]:
    """The folder of the journals, locked: one job at a time adds to a world."""
    state = folder / STATE
    with disk(state):
        state.mkdir(exist_ok=True)
    lock = RunLock(state / "lock")
    try:
        yield state
    finally:
        lock.release()


def journal_name(config: RunConfig, what: str) -> str:
    """The name of a job's journal: jobs of other models, sampling and seeds have their own."""
    model = config.model
    identity = [model.kind, model.name, model.temperature, model.top_p, config.seed]
    return f"{what}-{digest(*identity)}.jsonl"


def show_causes(screen: Screen, causes: Counter[str], left_out: str) -> None:
    """Print why answers were left out, the most common cause first; nothing if none was.

    ``left_out`` is what is counted, such as ``drafts``.
    """
    if not causes:
        return
    rows = [(cause, str(count)) for cause, count in causes.most_common()]
    screen.table(("left out because", left_out), rows, right=(1,))
    screen.line()
