"""The proofs of a whole world, by one process or several, remembered on disk; the report is the same either way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from synth.admission.cache import ReportCache
from synth.admission.check import Bench, Options
from synth.admission.crew import Alone, Crew, Job, Processes
from synth.admission.moves import Act
from synth.admission.report import FamilyReport
from synth.admission.seeds import check_seed

Json = Any
Done = Callable[[FamilyReport], None]

NAMES, SEED = "of the world.families", "of the world.seed"
"""Entries of the cache beside those of families, whose names hold no blank."""


@dataclass
class WorldReport:
    """What became of a world. ``seed`` says what is wrong with its seed.py, ``uncached`` why nothing could be remembered."""

    families: list[FamilyReport] = field(default_factory=list[FamilyReport])
    seed: str | None = None
    uncached: str | None = None

    @property
    def ok(self) -> bool:
        return self.seed is None and all(each.ok for each in self.families)


@dataclass(frozen=True)
class Known:
    """What is known of a family in a universe: its report, and the writes that others are attacked with."""

    report: FamilyReport
    writes: list[Act]

    def to_json(self) -> Json:
        return {"report": self.report.to_json(), "writes": [asdict(each) for each in self.writes]}

    @classmethod
    def from_json(cls, raw: Json) -> Known | None:
        """What :meth:`to_json` wrote; None for anything else: a damaged entry is none."""
        try:
            report = FamilyReport.from_json(raw["report"])
            writes = [Act(**each) for each in cast("list[dict[str, Json]]", raw["writes"])]
        except (KeyError, TypeError, ValueError, AttributeError):
            return None
        report.cached = True
        return cls(report, writes) if report.ok else None


def check_world(
    folder: Path, options: Options, done: Done, workers: int = 1, cache: ReportCache | None = None
) -> WorldReport:
    """Prove each family on some tasks of each of its branches; ``done`` is told of each family, in their order.

    Only what is clean is remembered. Raises :class:`~synth.errors.TaskError` or :class:`~envs.errors.WorldError` for
    what keeps the world from being read at all, :class:`~synth.errors.OperatorError` where a worker process dies.
    """
    out = WorldReport()
    with closing(Bench(folder, options)) as bench:
        names = _names(cache, bench)
        jobs: list[Job] = [(name, universe) for name in names for universe in range(options.universes)]
        known = {job: one for job in jobs if (one := Known.from_json(_read(cache, job))) is not None}
        fresh = [job for job in jobs if job not in known]
        for universe in sorted({universe for _, universe in fresh}):
            bench.read(universe)
        if options.universes > 1 and (cache is None or cache.read(SEED) is not True):
            out.seed = check_seed(folder, options.engine, options.place)
            if cache is not None and out.seed is None:
                cache.write(SEED, value=True)
        count = min(workers, len(fresh))
        with Alone(bench) if count <= 1 else Processes(folder, options, count) as crew:
            for (_, universe), report in _proofs(crew, jobs, known, cache):
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


def _proofs(
    crew: Crew, jobs: Sequence[Job], known: Mapping[Job, Known], cache: ReportCache | None
) -> Iterator[tuple[Job, FamilyReport]]:
    """The report of each job in order: what is known, and what the crew finds."""
    fresh = [job for job in jobs if job not in known]
    proved = dict(zip(fresh, crew.prove(fresh), strict=True))
    writes = {job: known[job].writes if job in known else proved[job].writes for job in jobs}
    strays: dict[int, list[Act]] = {}
    for (_, universe), acts in writes.items():
        strays.setdefault(universe, []).extend(acts)
    attacked = crew.attack([(proved[job], strays[job[1]]) for job in fresh])
    for job in jobs:
        if job in known:
            yield job, known[job].report
            continue
        report = next(attacked)
        if report.ok and cache is not None:
            cache.write(_entry(job), Known(report, writes[job]).to_json())
        yield job, report


def _names(cache: ReportCache | None, bench: Bench) -> list[str]:
    """The families in their order; a world that proved itself need not be read for them."""
    names: Json = None if cache is None else cache.read(NAMES)
    good = isinstance(names, list) and all(isinstance(each, str) for each in cast("list[Json]", names))
    return cast("list[str]", names) if good else bench.families()


def _read(cache: ReportCache | None, job: Job) -> Json:
    return None if cache is None else cache.read(_entry(job))


def _entry(job: Job) -> str:
    return f"{job[0]}.{job[1]}"
