"""Jobs in which a model writes for a world: their options, config, folder, journals and reports."""

from __future__ import annotations

import shlex
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from envs.world.loader import World, load_world
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
from synth.core.foundation.standard_output import say
from synth.core.report.json_output import print_document
from synth.core.runner.build import build_model
from synth.core.runner.setup import run_spec
from synth.core.screen import Screen
from synth.errors import OperatorError
from synth.ext.authoring.asking.budget import AskingBudget, AskingStopped, Spending
from synth.ext.authoring.asking.journal import AskingJournal
from synth.ext.authoring.asking.questions import AskingSession
from synth.ext.authoring.folder import copy_world
from synth.model import Model
from synth.task import Message

Outcome = TypeVar("Outcome")

STATE = ".synth"
"""The folder of a world that holds the journals; hidden, so that it is not part of the world."""

HEEDED = ("model", "budget.usd", "budget.tokens", "database", "preflight")
"""The sections and keys of the config that these commands heed."""

DEFAULTS = {"model.max_tokens": "8192", "model.options.max_response_bytes": "2000000"}
"""Limits on one answer, unless an override sets another."""


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


def _check_options(options: Arguments, command: str) -> None:
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
class _WritingSpec:
    """What a job needs of its config. ``identity`` is of its model, sampling and seed."""

    database: DatabaseConfig
    budget: AskingBudget
    preflight: bool
    identity: str
    model: Callable[[], Model]


def _writing_spec(source: Path, options: Arguments) -> _WritingSpec:
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

    return _WritingSpec(
        config.database,
        AskingBudget(config.budget.usd, config.budget.tokens),
        config.preflight,
        digest(model.kind, model.name, model.temperature, model.top_p, config.seed),
        writer,
    )


def _own_folder(source: Path, to: Path | None, what: str) -> Path:
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
def _locked_state(folder: Path) -> Generator[Path]:
    """The folder of the journals, locked: one job at a time adds to a world."""
    state = folder / STATE
    with disk(state):
        state.mkdir(exist_ok=True)
    lock = RunLock(state / "lock")
    try:
        yield state
    finally:
        lock.release()


@dataclass
class WorldJob(ABC, Generic[Outcome]):
    """A job on a world, and its report: a subclass says what is asked and what is shown of it.

    ``stopped`` is the reason for which the job ended early, ``spent`` what all answers in its
    journal cost, ``outcomes`` what became of them.
    """

    command: ClassVar[str]
    nouns: ClassVar[tuple[str, str]]
    """The names of the answers: those that are added to the world, and those that are counted."""
    does: ClassVar[str]
    end: ClassVar[type[Any]]
    """The kind of the end that the journal keeps of a question."""

    options: Arguments
    spec: _WritingSpec = field(init=False)
    screen: Screen = field(init=False)
    model: Model = field(init=False)
    folder: Path = field(init=False)
    outcomes: list[Outcome] = field(default_factory=list[Outcome], init=False)
    stopped: str | None = field(default=None, init=False)
    interrupted: bool = field(default=False, init=False)
    spent: Spending = field(default=Spending(0, 0, None), init=False)

    def run(self) -> int:
        """Run the command: 0 if something is kept, 1 if nothing is, 3 if the job ended early.

        Raises OperatorError, ConfigProblems, ModelError, and the errors of worlds and tasks.
        """
        options = self.options
        _check_options(options, self.command)
        source = find_world(options.world)
        self.spec = _writing_spec(source, options)
        self.screen = Screen(sys.stderr if options.json or options.dry_run else None)
        if options.dry_run:
            for message in self.first_prompt(load_world(source)):
                say(f"[{message['role']}]\n{message['content']}\n")
            return 0
        self.model = self.spec.model()
        adds, counts = self.nouns
        self.folder = _own_folder(source, options.to, adds)
        name = f"{counts}-{self.spec.identity}.jsonl"  # jobs of another identity have their own
        with (
            _locked_state(self.folder) as state,
            closing(AskingJournal(state / name, self.end)) as journal,
        ):
            self.ask(load_world(self.folder), journal)
            self.spent = Spending.of(list(journal.answers.values()))
        document: dict[str, object] = {
            "world": str(self.folder),
            "model": self.model.name,
            "stopped": self.ended_early,
            **asdict(self.spent),
            "kept": self.kept,
            "left_out": dict(self.causes.most_common()),
            **self.to_json(),
        }
        print_document(document, self._conclude, as_json=options.json)
        return self._exit_code

    @abstractmethod
    def first_prompt(self, world: World) -> Sequence[Message]:
        """The first messages that the job would send."""

    @abstractmethod
    def ask(self, world: World, journal: AskingJournal[Any]) -> None:
        """Ask, in the block of :meth:`asking`, and fill in ``outcomes``."""

    @property
    @abstractmethod
    def kept(self) -> int:
        """The number of the model's answers that are in the world now."""

    @property
    @abstractmethod
    def causes(self) -> Counter[str]:
        """The number of answers that are left out, by cause."""

    @abstractmethod
    def to_json(self) -> dict[str, object]:
        """The part of the report that only this kind of job has."""

    @abstractmethod
    def conclusion(self) -> Iterator[tuple[str, str]]:
        """The lines of the report, each with its style."""

    @contextmanager
    def asking(self, session: AskingSession[Any]) -> Generator[None]:
        """Check the model, and record why the block ended early: its budget was spent, or it was
        interrupted.
        """
        shown = self.screen.working(f"{self.model.name} {self.does}")
        with closing(session), nullcontext() if self.options.json else shown:
            for warning in session.preflight() if self.spec.preflight else ():
                self.screen.line(f"warning: {warning}", "yellow")
            try:
                yield
            except AskingStopped as error:
                self.stopped = str(error)
            except KeyboardInterrupt:
                self.interrupted = True

    @property
    def ended_early(self) -> str | None:
        """The reason for which the job ended early; None if it did not."""
        return "interrupted" if self.interrupted else self.stopped

    @property
    def expense(self) -> str:
        """The share that is kept, and the tokens, with US dollars where the price is known."""
        asked = self.kept + self.causes.total()
        share = f" ({self.kept / asked:.0%})" if asked else ""
        cost = "" if self.spent.cost_usd is None else f", ${self.spent.cost_usd:.4g}"
        return f"{share}; {self.spent.input_tokens + self.spent.output_tokens:,} tokens{cost}"

    @property
    def _exit_code(self) -> int:
        if self.interrupted:
            return INTERRUPTED
        if self.stopped is not None:
            return PARTIAL
        return 0 if self.kept else 1

    def _conclude(self, screen: Screen) -> None:
        screen.line()
        if self.causes:
            rows = [(cause, str(count)) for cause, count in self.causes.most_common()]
            screen.table(("left out because", self.nouns[1]), rows, right=(1,))
            screen.line()
        for line, style in self.conclusion():
            screen.line(line, style)
        if self.ended_early is not None:
            screen.line("The same command goes on from here.")
        elif self.kept:
            screen.line(f"Next: {shlex.join(['synth', 'check', str(self.folder)])}")
