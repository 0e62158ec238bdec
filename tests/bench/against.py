"""CPU of `synth run`, as a ratio to that of an older commit in the same run.

    uv run python -m tests.bench.against 556babe

The commit is checked out beside this tree. Both run the expert on the same worlds in turns, on few
different tasks and on many, each time as a whole command in a process of its own. What the many
cost more, divided by their number, is a task: planned, proved, played, judged and recorded; the
rest is the start. Of several turns the least counts, as others may use the machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORLDS = ("ehr_db", "shop")
FEW, MANY, TURNS = 50, 550, 3
"""Tasks of a command, and how often it runs. ``ehr_db`` and ``shop`` have 45 and 41 families."""


def cpu_s(tree: Path, world: str, tasks: int, more: Sequence[str]) -> float:
    """Seconds of CPU of one command and its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as home:
        words = [f"env={world}", f"tasks.count={tasks}", "runtime=inline", "seed=7", *more]
        subprocess.run(
            [sys.executable, "-m", "synth", "run", *words, f"output.dir={home}/run"],
            cwd=tree,
            env={**os.environ, "PYTHONPATH": str(tree)},
            capture_output=True,
            check=True,
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(commit: str, more: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as place:
        old = Path(place, "tree")
        worktree = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*worktree, "add", "-q", "--detach", str(old), commit], check=True)
        try:
            print(f"{'CPU against ' + commit:24}{'a task':>10}{'the start':>12}")
            for world in WORLDS:
                least: dict[tuple[Path, int], float] = {}
                for _ in range(TURNS):
                    for tasks in (FEW, MANY):
                        for tree in (old, ROOT):
                            spent = cpu_s(tree, world, tasks, more)
                            least[tree, tasks] = min(spent, least.get((tree, tasks), spent))
                a_task = {t: (least[t, MANY] - least[t, FEW]) / (MANY - FEW) for t in (old, ROOT)}
                start = {t: least[t, FEW] - FEW * a_task[t] for t in (old, ROOT)}
                ratios = a_task[ROOT] / a_task[old], start[ROOT] / start[old]
                print(f"{world:24}{ratios[0]:10.2f}{ratios[1]:12.2f}", flush=True)
        finally:
            subprocess.run([*worktree, "remove", "--force", str(old)], check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commit", help="the older commit")
    parser.add_argument("overrides", nargs="*", help="further overrides of `synth run`, for both")
    options = parser.parse_args()
    main(options.commit, options.overrides)
