"""Proof of a draft in a copy of its world, in a process that can be ended.

The SQL of a draft may be endless and its rows too many, so that each proof has a process of its
own, with limits on time and memory.
"""

from __future__ import annotations

import multiprocessing
import resource
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path

from envs.errors import EnvsError
from synth.core.validation.attacks.steps import ToolStep
from synth.core.validation.check import FamilyChecker, Options
from synth.core.validation.executors import end_with_parent
from synth.errors import OperatorError, TaskError, all_task_errors
from synth.ext.authoring.drafting.similarity import TASKS, Signature, signature, twin
from synth.ext.authoring.prove import LEAST

MEMORY = 4 * 1024**3
"""Bytes that a proof may use."""

Strays = Mapping[int, Sequence[ToolStep]]
"""The writes of all families, by universe: a new family is attacked with them."""


@dataclass(frozen=True)
class Survey:
    """The families that a world has."""

    signatures: Sequence[Signature] = ()
    strays: Strays = field(default_factory=dict[int, list[ToolStep]])


@dataclass(frozen=True)
class Examination:
    """The finding on a draft: the cause and the reasons for which it is not kept, or nothing."""

    cause: str = ""
    reasons: Sequence[str] = ()
    capacity: int = 0
    signature: Signature | None = None
    strays: Strays = field(default_factory=dict[int, list[ToolStep]])


def survey(folder: Path, options: Options) -> Survey:
    """The signatures and the writes of a world's families.

    Raises OperatorError for a world that cannot be read.
    """
    found = _in_process(_survey, (folder, options), None)
    if isinstance(found, Survey):
        return found
    raise OperatorError(f"the world cannot be read: {found}")


def examine(
    folder: Path, options: Options, family: str, known: Survey, seconds: float
) -> Examination:
    """Prove a family of the world in ``folder``, as `synth check` does, within ``seconds``."""
    found = _in_process(_examine, (folder, options, family, known), seconds)
    if isinstance(found, Examination):
        return found
    if found is None:
        message = f"its proof takes more than {seconds:g} s: ask for fewer rows and calls"
        return Examination("too slow", [message])
    return Examination("broke off", [str(found)])


def _in_process(
    work: Callable[..., object], arguments: Sequence[object], seconds: float | None
) -> Survey | Examination | str | None:
    """The result of a function in a process of its own, or the reason why there is none; None if
    the time was over.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(there, work, *arguments))
    process.start()
    there.close()
    try:
        if not here.poll(seconds):
            return None
        return here.recv()
    except EOFError:
        return "the proof ended its process: it may have used too much memory"
    finally:
        process.kill()
        process.join()
        here.close()


def _serve(there: Connection, work: Callable[..., object], *arguments: object) -> None:
    """Send the result of a function. Ctrl-C is for the parent, which then ends this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    least = MEMORY if most == resource.RLIM_INFINITY else min(MEMORY, most)
    resource.setrlimit(resource.RLIMIT_DATA, (least, most))
    try:
        found = work(*arguments)
    except Exception as error:  # the boundary: what breaks a proof must not break the command
        found = f"{type(error).__name__}: {error}"
    there.send(found)


def _survey(folder: Path, options: Options) -> Survey | str:
    strays: dict[int, list[ToolStep]] = {}
    signatures: list[Signature] = []
    try:
        with closing(FamilyChecker(folder, replace(options, per_case=1))) as checker:
            for name in checker.families():
                signatures.append(signature(name, checker.tasks(name, TASKS)))
                for universe in range(options.universes):
                    writes = checker.prove(name, universe).writes
                    strays.setdefault(universe, []).extend(writes)
    except (TaskError, EnvsError) as error:
        return str(error)
    return Survey(signatures, strays)


def _examine(folder: Path, options: Options, family: str, known: Survey) -> Examination:
    try:
        with closing(FamilyChecker(folder, replace(options, families=(family,)))) as checker:
            checker.families()
            found = signature(family, checker.tasks(family, TASKS))
            if not any(found.tools):
                return Examination("notation", ["gold calls no tool"])
            if other := twin(found, known.signatures):
                message = (
                    f"it repeats the family {other!r}: the same tools in the same order, and the"
                    " same words; write a family about other work"
                )
                return Examination("duplicate", [message])
            return _proved(checker, family, known, found)
    except TaskError as error:
        return Examination("notation", [str(one) for one in all_task_errors(error)])
    except EnvsError as error:
        return Examination("notation", [str(error)])


def _proved(checker: FamilyChecker, family: str, known: Survey, found: Signature) -> Examination:
    strays: dict[int, list[ToolStep]] = {}
    capacity = 0
    for universe in range(checker.options.universes):
        if universe:
            checker.read(universe)
        proved = checker.prove(family, universe)
        capacity = capacity or proved.capacity
        if proved.problems:
            return Examination("gold", list(proved.problems))
        strays[universe] = list(proved.writes)
        report = checker.attack(proved, [*known.strays.get(universe, ()), *proved.writes])
        for cause, reasons in (
            ("gold", report.problems),
            ("mutant survives", report.surviving),
            ("honest agent loses", report.honest_lost),
        ):
            if reasons:
                return Examination(cause, list(reasons))
    if capacity < LEAST:
        return Examination("too few tasks", [f"it has {capacity} task: at least {LEAST} are due"])
    return Examination(capacity=capacity, signature=found, strays=strays)
