"""Jobs in which a model writes for a world: their options, config, folder, journals and reports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from synth.core.cli.command import Arguments
from synth.core.cli.end_report import INTERRUPTED, PARTIAL
from synth.core.cli.live_options import model_overrides
from synth.core.config.compose import compose
from synth.core.config.database import DatabaseConfig
from synth.core.config.quoting import quoted_value
from synth.core.dataset.store.atomic_files import disk
from synth.core.dataset.store.lock import RunLock
from synth.core.foundation.hashing import digest
from synth.core.foundation.shipped import examples_dir, find_world
from synth.core.runner.build import build_model
from synth.core.runner.setup import run_spec
from synth.core.screen import Screen
from synth.errors import OperatorError
from synth.ext.authoring.asking.budget import AskingBudget, AskingStopped, Spending
from synth.ext.authoring.folder import copy_world
from synth.model import Model

STATE = ".synth"
"""The folder of a world that holds the journals; hidden, so that it is not part of the world."""

HEEDED = ("model", "budget.usd", "budget.tokens", "database", "preflight")
"""The sections and keys of the config that these commands heed."""

DEFAULTS = {"model.max_tokens": "8192", "model.options.max_response_bytes": "2000000"}
"""Limits on one answer, unless an override sets another."""


@dataclass
class JobReport(ABC):
    """The report of a job. ``stopped`` is the reason for which it ended early, ``spent`` what all
    answers in its journal cost.
    """

    world: Path
    model: str
    stopped: str | None = field(default=None, kw_only=True)
    interrupted: bool = field(default=False, kw_only=True)
    spent: Spending = field(default=Spending(0, 0, None), kw_only=True)

    @property
    @abstractmethod
    def kept(self) -> int:
        """The number of the model's answers that are in the world now."""

    @property
    def ended_early(self) -> str | None:
        """The reason for which the job ended early; None if it did not."""
        return "interrupted" if self.interrupted else self.stopped

    @property
    def exit_code(self) -> int:
        if self.interrupted:
            return INTERRUPTED
        if self.stopped is not None:
            return PARTIAL
        return 0 if self.kept else 1

    @property
    def expense(self) -> str:
        """Tokens, and US dollars where the price is known."""
        cost = "" if self.spent.cost_usd is None else f", ${self.spent.cost_usd:.4g}"
        return f"{self.spent.input_tokens + self.spent.output_tokens:,} tokens{cost}"

    @contextmanager
    def recording_end(self) -> Generator[None]:
        """Record why the block ended early: its budget was spent, or it was interrupted."""
        try:
            yield
        except AskingStopped as error:
            self.stopped = str(error)
        except KeyboardInterrupt:
            self.interrupted = True

    def common_json(self) -> dict[str, object]:
        return {
            "world": str(self.world),
            "model": self.model,
            "stopped": self.ended_early,
            "input_tokens": self.spent.input_tokens,
            "output_tokens": self.spent.output_tokens,
            "cost_usd": self.spent.cost_usd,
        }


JOB = """arguments:
  WORLD               a world's folder, or a name with --to
  [key=value...]      overrides of model, budget.usd, budget.tokens and database, as in `synth run`
options:
  --model NAME        the model at the endpoint (required)
  --base-url URL      an OpenAI-compatible endpoint, by default without a key
  --api-key-env NAME  the environment variable that holds its key
  --to PATH           add to a copy of the world there, which is made if it is not there yet
  --seed N|0          another seed is another job [default: 0]
  --dry-run           print the first prompt, and ask nothing
  --json              print the report as JSON"""
"""What such a job takes: lines of a command's help."""


def check_options(options: Arguments, command: str) -> None:
    """Raise OperatorError for options that cannot work."""
    if options.model == "scripted":
        raise OperatorError("--model scripted writes nothing: name a model at an endpoint")
    for override in options.overrides:
        key = override.lstrip("+~").partition("=")[0]
        if not any(key == heeded or key.startswith(f"{heeded}.") for heeded in HEEDED):
            raise OperatorError(
                f"{override}: `synth {command}` heeds {', '.join(HEEDED)}; --seed is an option of"
                " its own"
            )


@dataclass(frozen=True)
class WritingSpec:
    """What a job needs of its config. ``identity`` is of its model, sampling and seed."""

    database: DatabaseConfig
    budget: AskingBudget
    preflight: bool
    identity: str
    model: Callable[[], Model]

    def journal(self, what: str) -> str:
        """The name of the job's journal: jobs of another identity have their own."""
        return f"{what}-{self.identity}.jsonl"


def writing_spec(source: Path, options: Arguments) -> WritingSpec:
    """The settings of a job on the world in a folder."""
    given = [
        f"env.path={quoted_value(str(source))}",
        *model_overrides(options),
        *(f"{key}={value}" for key, value in DEFAULTS.items()),
        f"seed={options.seed}",
    ]
    own = {override.lstrip("+").partition("=")[0] for override in options.overrides}
    kept = [line for line in given if line.partition("=")[0] not in own]
    (job,) = compose([*kept, *options.overrides])
    config, model = job.config, job.config.model

    def writer() -> Model:
        spec = run_spec(config)
        if not spec.asks_endpoint:
            raise OperatorError(f"model.kind={model.kind} asks no endpoint, and writes nothing")
        return build_model(spec.model)

    return WritingSpec(
        config.database,
        AskingBudget(config.budget.usd, config.budget.tokens),
        config.preflight,
        digest(model.kind, model.name, model.temperature, model.top_p, config.seed),
        writer,
    )


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


def show_causes(screen: Screen, causes: Counter[str], left_out: str) -> None:
    """Print why answers were left out, the most common cause first; nothing if none was.

    ``left_out`` is what is counted, such as ``drafts``.
    """
    if not causes:
        return
    rows = [(cause, str(count)) for cause, count in causes.most_common()]
    screen.table(("left out because", left_out), rows, right=(1,))
    screen.line()
