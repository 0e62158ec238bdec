"""The check of a whole world, by one process or several, with a cache on disk; the report is the
same either way.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter

from envs.tools.portable import beyond
from envs.tools.tool import Tool
from envs.world.loader import World
from synth.core.validation.attacks.steps import ToolStep
from synth.core.validation.cache import ReportCache
from synth.core.validation.check import FamilyChecker, Options
from synth.core.validation.executors import Execute, executor
from synth.core.validation.family_guess import FamilyGuess
from synth.core.validation.report import FamilyReport
from synth.core.validation.seed_check import check_seed

T = TypeVar("T")
Done = Callable[[FamilyReport], None]
Job = tuple[str, int]
"""A family and a universe."""

WORTH_A_PROCESS = 4
"""Families, times universes, for each worker process: its imports take as long as some proofs."""

NAMES, SEED = "of the world.families", "of the world.seed"
GUESS, PERSONAL = "of the world.guess", "of the world.personal"
"""Entries of the cache beside the families; a family's name has no blank."""


@dataclass
class WorldReport:
    """The report on a world. ``seed`` is the fault of its seed.py, ``uncached`` the reason for
    which nothing could be cached. ``notes`` are what the author of the world should know. ``guess``
    says how well the family of a task is guessed from what is shown, ``personal`` lists the columns
    whose values replies must keep to themselves.
    """

    families: list[FamilyReport] = field(default_factory=list[FamilyReport])
    seed: str | None = None
    uncached: str | None = None
    notes: list[str] = field(default_factory=list[str])
    guess: FamilyGuess | None = None
    personal: list[str] = field(default_factory=list[str])

    @property
    def ok(self) -> bool:
        return self.seed is None and all(report.ok for report in self.families)


@dataclass(frozen=True)
class Known:
    """A cached finding on a family in a universe: its report, the writes with which others are
    attacked, and the line where the family stood.
    """

    report: FamilyReport
    writes: list[ToolStep]
    line: int = 0

    def holds(self, line: int) -> bool:
        """False for a report that names lines of a family that is at another ``line`` now."""
        moved = line != self.line and (self.report.notes or self.report.other_ends)
        return self.report.ok and not moved


_KNOWN, _GUESS, _TEXTS = TypeAdapter(Known), TypeAdapter(FamilyGuess), TypeAdapter(list[str])


def check_world(
    folder: Path,
    options: Options,
    done: Done,
    workers: int | None = 1,
    cache: ReportCache | None = None,
    begun: Callable[[int, int], None] | None = None,
) -> WorldReport:
    """Prove each family on some tasks of each of its cases; ``done`` is called with each family's
    report, in their order, and ``begun`` before them with the number of families and of those that
    no cache knows. ``workers`` None: as many processes as are worth their start.

    Only reports without a finding are cached. Raises :class:`~synth.errors.TaskError` or
    :class:`~envs.errors.WorldError` if the world cannot be read at all, and
    :class:`~synth.errors.OperatorError` if a worker process dies.
    """
    out = WorldReport()
    with closing(FamilyChecker(folder, options)) as checker:
        out.notes += _commits(checker.world)
        out.notes += _beyond_servers(checker.world.toolbox.tools)
        names = _names(cache, checker)
        out.guess = _kept(cache, GUESS, _GUESS, checker.guess)
        out.personal = _kept(cache, PERSONAL, _TEXTS, checker.personal_columns) or []
        jobs: list[Job] = [
            (name, universe) for name in names for universe in range(options.universes)
        ]
        known = _known(cache, jobs)
        fresh = [job for job in jobs if job not in known]
        if begun is not None:
            begun(len(names), len({name for name, _ in fresh}))
        for universe in sorted({universe for _, universe in fresh}):
            out.notes += checker.read(universe)
        out.seed = _seed_problem(folder, options, cache)
        with executor(checker, folder, options, _processes(workers, len(fresh))) as execute:
            for (_, universe), report in _proofs(execute, jobs, known, cache):
                if universe == 0:
                    out.families.append(report)
                else:
                    out.families[-1].add(report)
                if universe == options.universes - 1:
                    done(out.families[-1])
    if cache is not None:
        if out.ok:
            cache.write(NAMES, names)
        out.uncached = cache.fault
    return out


def _processes(workers: int | None, jobs: int) -> int:
    if workers is None:
        return min(os.cpu_count() or 1, jobs // WORTH_A_PROCESS)
    return min(workers, jobs)


def _names(cache: ReportCache | None, checker: FamilyChecker) -> list[str]:
    """The families in their order; from the cache if the world passed before."""
    return _read(cache, NAMES, _TEXTS) or checker.families()


def _known(cache: ReportCache | None, jobs: Sequence[Job]) -> dict[Job, Known]:
    """The cached findings on these jobs."""
    found: dict[Job, Known] = {}
    if cache is None:
        return found
    for job in jobs:
        known = _read(cache, _entry(job), _KNOWN, cache.family_key(job[0]))
        if known is not None and known.holds(cache.family_line(job[0])):
            known.report.cached = True
            found[job] = known
    return found


def _seed_problem(folder: Path, options: Options, cache: ReportCache | None) -> str | None:
    """The fault of the world's seed.py; None if it has none, or had none when it was checked."""
    if options.universes < 2 or (cache is not None and cache.read(SEED) is True):
        return None
    problem = check_seed(folder, options.engine, options.place)
    if cache is not None and problem is None:
        cache.write(SEED, value=True)
    return problem


def _proofs(
    execute: Execute, jobs: Sequence[Job], known: Mapping[Job, Known], cache: ReportCache | None
) -> Iterator[tuple[Job, FamilyReport]]:
    """The report of each job in order, from the cache or from the executor."""
    fresh = [job for job in jobs if job not in known]
    proved = dict(zip(fresh, execute(FamilyChecker.prove, fresh), strict=True))
    writes = {job: known[job].writes if job in known else proved[job].writes for job in jobs}
    strays: dict[int, list[ToolStep]] = {}
    for (_, universe), acts in writes.items():
        strays.setdefault(universe, []).extend(acts)
    attacked = execute(FamilyChecker.attack, [(proved[job], strays[job[1]]) for job in fresh])
    for job in jobs:
        if job in known:
            yield job, known[job].report
            continue
        report = next(attacked)
        if report.ok and cache is not None:
            name = job[0]
            proof = Known(report, writes[job], cache.family_line(name))
            plain = _KNOWN.dump_python(proof, mode="json")
            cache.write(_entry(job), plain, cache.family_key(name))
        yield job, report


def _read(
    cache: ReportCache | None, entry: str, kind: TypeAdapter[T], key: str | None = None
) -> T | None:
    """The value of an entry of the cache; None if there is none, or a damaged one."""
    with suppress(ValueError):
        return None if cache is None else kind.validate_python(cache.read(entry, key))
    return None


def _kept(
    cache: ReportCache | None, entry: str, kind: TypeAdapter[T], make: Callable[[], T | None]
) -> T | None:
    """The value of an entry of the cache, or else what ``make`` returns, which is cached."""
    found = _read(cache, entry, kind)
    if found is None and (found := make()) is not None and cache is not None:
        cache.write(entry, kind.dump_python(found, mode="json"))
    return found


def _entry(job: Job) -> str:
    return f"{job[0]}.{job[1]}"


def _beyond_servers(tools: Iterable[Tool]) -> list[str]:
    """A line for each keyword of tools' schemata that some server does not take."""
    places: dict[tuple[str, str], list[str]] = {}
    for tool in tools:
        for keyword, place, why in beyond(tool.parameters):
            places.setdefault((keyword, why), []).append(f"{tool.name}.{place}".rstrip("."))
    return [f"`{key}` of {', '.join(where)}: {why}" for (key, why), where in places.items()]


_CONNECTION = "Connection"
"""The annotation by which a function's parameter is known as the database connection."""


def _commits(world: World) -> list[str]:
    """A line, with file and line number, for each call of ``commit()`` on a connection that a
    function of the world is given.
    """
    found: list[str] = []
    for file in sorted(world.path.rglob("*.py")):
        try:
            tree = ast.parse(file.read_text("utf-8"))
        except (OSError, SyntaxError, ValueError):
            continue  # a file that no tool imports; one that is imported was refused before
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                found += [_line(file, function, call) for call in _commits_in(function)]
    return found


def _commits_in(function: ast.FunctionDef) -> Iterator[ast.Call]:
    arguments = function.args
    connections = {
        argument.arg
        for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        if argument.annotation is not None and _CONNECTION in ast.unparse(argument.annotation)
    }
    for node in ast.walk(function):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "commit"
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id in connections
        ):
            yield node


def _line(file: Path, function: ast.FunctionDef, call: ast.Call) -> str:
    name = ast.unparse(call)
    return (
        f"{file}:{call.lineno}: {function.name} calls {name}, which commits nothing: a call is one"
        " transaction, which ends with it and is undone as a whole if it fails; leave it out"
    )
