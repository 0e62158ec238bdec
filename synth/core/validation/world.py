"""The check of a whole world, by one process or several, with a cache on disk; the report is the
same either way.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from envs.tools.portable import beyond
from envs.tools.tool import Tool
from envs.world.loader import World
from synth.core.validation.attacks.steps import ToolStep
from synth.core.validation.cache import ReportCache
from synth.core.validation.check import FamilyChecker, Options
from synth.core.validation.executors import Executor, InProcessExecutor, Job, MultiprocessExecutor
from synth.core.validation.family_guess import FamilyGuess
from synth.core.validation.report import FamilyReport
from synth.core.validation.seed_check import check_seed

Done = Callable[[FamilyReport], None]

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

    def to_json(self) -> dict[str, object]:
        writes = [asdict(write) for write in self.writes]
        return {"report": self.report.to_json(), "writes": writes, "line": self.line}

    @classmethod
    def from_json(cls, raw: Any, line: int = 0) -> Known | None:
        """Read what :meth:`to_json` wrote; None for anything else, such as a damaged entry, and for
        a report that names lines of a family that is at another ``line`` now.
        """
        try:
            report = FamilyReport.from_json(raw["report"])
            writes = [ToolStep(**write) for write in raw["writes"]]
        except (KeyError, TypeError, ValueError, AttributeError):
            return None
        report.cached = True
        moved = line != raw.get("line") and (report.notes or report.other_ends)
        return cls(report, writes, line) if report.ok and not moved else None


def check_world(
    folder: Path,
    options: Options,
    done: Done,
    workers: int = 1,
    cache: ReportCache | None = None,
    begun: Callable[[int, int], None] | None = None,
) -> WorldReport:
    """Prove each family on some tasks of each of its cases; ``done`` is called with each family's
    report, in their order, and ``begun`` before them with the number of families and of those that
    no cache knows.

    Only reports without a finding are cached. Raises :class:`~synth.errors.TaskError` or
    :class:`~envs.errors.WorldError` if the world cannot be read at all, and
    :class:`~synth.errors.OperatorError` if a worker process dies.
    """
    out = WorldReport()
    with closing(FamilyChecker(folder, options)) as checker:
        out.notes += _commits(checker.world)
        out.notes += _beyond_servers(checker.world.toolbox.tools)
        names = _names(cache, checker)
        out.guess = _guess(cache, checker)
        out.personal = _lines(cache, PERSONAL, checker.personal_columns)
        jobs: list[Job] = [
            (name, universe) for name in names for universe in range(options.universes)
        ]
        known = _known(cache, jobs)
        fresh = [job for job in jobs if job not in known]
        if begun is not None:
            begun(len(names), len({name for name, _ in fresh}))
        for universe in sorted({universe for _, universe in fresh}):
            out.notes += checker.read(universe)
        if options.universes > 1:
            out.seed = _seed_problem(folder, options, cache)
        with _executor(checker, folder, options, min(workers, len(fresh))) as executor:
            for (_, universe), report in _proofs(executor, jobs, known, cache):
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


def _known(cache: ReportCache | None, jobs: Sequence[Job]) -> dict[Job, Known]:
    """The cached findings on these jobs."""
    if cache is None:
        return {}
    found = {job: Known.from_json(_read(cache, job), cache.family_line(job[0])) for job in jobs}
    return {job: known for job, known in found.items() if known is not None}


def _seed_problem(folder: Path, options: Options, cache: ReportCache | None) -> str | None:
    """The fault of the world's seed.py; None if it has none, or had none when it was checked."""
    if cache is not None and cache.read(SEED) is True:
        return None
    problem = check_seed(folder, options.engine, options.place)
    if cache is not None and problem is None:
        cache.write(SEED, value=True)
    return problem


def _executor(checker: FamilyChecker, folder: Path, options: Options, count: int) -> Executor:
    if count <= 1:
        return InProcessExecutor(checker)
    return MultiprocessExecutor(folder, options, count)


def _proofs(
    executor: Executor, jobs: Sequence[Job], known: Mapping[Job, Known], cache: ReportCache | None
) -> Iterator[tuple[Job, FamilyReport]]:
    """The report of each job in order, from the cache or from the executor."""
    fresh = [job for job in jobs if job not in known]
    proved = dict(zip(fresh, executor.prove(fresh), strict=True))
    writes = {job: known[job].writes if job in known else proved[job].writes for job in jobs}
    strays: dict[int, list[ToolStep]] = {}
    for (_, universe), acts in writes.items():
        strays.setdefault(universe, []).extend(acts)
    attacked = executor.attack([(proved[job], strays[job[1]]) for job in fresh])
    for job in jobs:
        if job in known:
            yield job, known[job].report
            continue
        report = next(attacked)
        if report.ok and cache is not None:
            name = job[0]
            proof = Known(report, writes[job], cache.family_line(name))
            cache.write(_entry(job), proof.to_json(), cache.family_key(name))
        yield job, report


def _guess(cache: ReportCache | None, checker: FamilyChecker) -> FamilyGuess | None:
    cached = None if cache is None else cache.read(GUESS)
    if isinstance(cached, dict):
        with suppress(TypeError):
            return FamilyGuess.from_json(cast("dict[str, Any]", cached))
    guess = checker.guess()
    if cache is not None and guess is not None:
        cache.write(GUESS, guess.to_json())
    return guess


def _names(cache: ReportCache | None, checker: FamilyChecker) -> list[str]:
    """The families in their order; from the cache if the world passed before."""
    return _lines(cache, NAMES, checker.families, keep=False)


def _lines(
    cache: ReportCache | None, entry: str, make: Callable[[], list[str]], *, keep: bool = True
) -> list[str]:
    """The texts of an entry of the cache; those that ``make`` returns if there is none."""
    cached = None if cache is None else cache.read(entry)
    if isinstance(cached, list):
        texts = cast("list[object]", cached)
        if all(isinstance(text, str) for text in texts):
            return cast("list[str]", texts)
    made = make()
    if cache is not None and keep:
        cache.write(entry, made)
    return made


def _read(cache: ReportCache, job: Job) -> Any:
    return cache.read(_entry(job), cache.family_key(job[0]))


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
