"""A large dataset of several worlds, one run for each, and its figures over all of them.

uv run python -m tests.bench.large_dataset 20000 ehr_db shop shop_sql tests/schemata/bank.sql

A schema becomes a world by `synth new` first. Started again, the command goes on where it was. The
scripted expert plays the tasks of :mod:`tests.bench.large_plan`; all is in outputs/large.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import synth
from synth.core.dataset.reader import Dataset
from synth.core.dataset.variety import variety_table
from synth.core.report.summary import summarize
from tests.bench.large_plan import arguments, counts

HOME = Path("outputs/large")


def main(count: int, worlds: Sequence[str], home: Path = HOME) -> None:
    began = time.monotonic()
    places = {Path(name).stem: world_of(name, home) for name in worlds}
    runs = [
        play(world, share, home / name)
        for (name, world), share in zip(places.items(), counts(count, len(places)), strict=True)
    ]
    with synth.load(runs) as dataset:
        for line in report(dataset):
            print(line)
    print(f"seconds of this call: {time.monotonic() - began:.0f}")


def world_of(name: str, home: Path) -> str:
    """The world of a name or path; for a schema, one that is made from it, once."""
    if Path(name).suffix != ".sql":
        return name
    folder = home / "worlds" / Path(name).stem
    if not folder.exists():
        command = ["synth", "new", str(folder), "--from", name]
        subprocess.run([sys.executable, "-m", *command], check=True)
    return str(folder)


def play(world: str, count: int, directory: Path) -> Path:
    """Play so many tasks of a world, or what is missing of them."""
    began = time.monotonic()
    if directory.exists():
        run = synth.run(resume=directory, progress=False)
    else:
        options = [*arguments(world, count), "runtime=inline", f"output.dir={directory}"]
        run = synth.run(options, progress=False)
    print(f"{run} [{time.monotonic() - began:.0f} s]", flush=True)
    return directory


def report(dataset: Dataset) -> Iterator[str]:
    """The figures of all rows; a composed task counts for the family of each request."""
    figures = summarize(dataset)
    rows = figures["rows"]
    full = sum(row["reward"] == 1.0 for row in dataset.rows(["reward"]))
    yield f"rollouts: {rows:,}, {full:,} at reward 1.0 ({full / rows:.2%})"
    yield f"error rows: {sum(error['count'] for error in figures['infrastructure_errors'])}"
    yield from (f"{name}: {text}" for name, text in variety_table(figures["variety"]))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
