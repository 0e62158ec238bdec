"""Seeded kills: a process of a run is killed again and again, at any moment, and the run resumed
until it is complete; then the next run begins, until there were enough kills.
"""

from __future__ import annotations

import itertools
import math
import os
import random
import signal
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from synth.core.dataset.store.task_table import TaskTable
from synth.model import Completion
from synth.task import Task
from tests.e2e.command import COMMAND, stable_rows, synth
from tests.e2e.expert_endpoint import Expert, endpoint
from tests.e2e.test_kill import command_line, group_of, kill_all, rows_so_far
from tests.faults.promises import promise
from tests.servers import VARIABLES, server

KILLS = int(os.environ.get("SYNTH_FAULT_KILLS", "100"))
JOBS = 80
"""Rollouts of a run."""
CONCURRENCY = 8
"""Rollouts at a time: a kill meets some of them, and others are before and behind it."""
LAST_SECOND_S = 1.0
SETTLING_S = 0.5
"""From an endpoint's last answer to the row in the journal, on a busy machine."""
LONGEST_S = 300
POSTGRES = ("database=postgres", f"database.dsn_env_var={VARIABLES['postgresql']}")
INLINE = ("runtime=inline",)
RAY = ("runtime=ray", "runtime.workers=2")
MOMENTS = ("start", "proof", "play", "play", "play", "seal")


@dataclass(frozen=True)
class Configuration:
    """Overrides of runtime and database, whether the model is asked over HTTP, and what can be
    killed.
    """

    runtime: tuple[str, ...]
    database: tuple[str, ...]
    http: bool
    targets: tuple[str, ...]


ALONE = ("driver", "group")
WITH_RAY = ("driver", "group", "worker", "raylet", "GCS")
CONFIGURATIONS = {
    "inline, SQLite, scripted": Configuration(INLINE, (), http=False, targets=ALONE),
    "inline, PostgreSQL, HTTP": Configuration(INLINE, POSTGRES, http=True, targets=ALONE),
    "Ray, SQLite, HTTP": Configuration(RAY, (), http=True, targets=WITH_RAY),
    "Ray, PostgreSQL, scripted": Configuration(RAY, POSTGRES, http=False, targets=WITH_RAY),
}
PROCESSES = {"worker": b"_Actor", "raylet": b"/raylet", "GCS": b"/gcs_server"}


@dataclass
class Ledger:
    """An expert that notes when it answered what; ``ends`` are the lengths of whole conversations
    by task.
    """

    expert: Expert
    answered: dict[str, list[tuple[int, float]]] = field(
        default_factory=lambda: defaultdict[str, list[tuple[int, float]]](list)
    )

    async def __call__(self, request: dict[str, Any]) -> Completion:
        completion = await self.expert(request)
        messages = request["messages"]
        opening = str([item["content"] for item in messages[:2]])
        self.answered[opening].append((len(messages), time.time()))
        return completion

    shared: set[str] = field(default_factory=set[str])
    """Openings that several tasks have in common."""

    def begin(self) -> None:
        """Forget the undisturbed run, but for the openings that it had more than once."""
        self.shared = {opening for opening, times in self.finished().items() if len(times) > 1}
        self.answered.clear()

    def finished(self) -> dict[str, list[float]]:
        """When each conversation got its last answer; more than once where it was played again."""
        longest = {opening: max(answers)[0] for opening, answers in self.answered.items()}
        return {
            opening: [at for length, at in answers if length == longest[opening]]
            for opening, answers in self.answered.items()
            if opening not in self.shared
        }


@dataclass
class Disturbed:
    """One run in a folder, which is killed and resumed."""

    cwd: Path
    options: tuple[str, ...]
    draw: random.Random
    targets: tuple[str, ...]
    kills: Counter[str] = field(default_factory=Counter[str])
    moments: Counter[str] = field(default_factory=Counter[str])
    killed_at: list[float] = field(default_factory=list[float])
    seen: set[int] = field(default_factory=set[int])

    @property
    def run(self) -> Path:
        return self.cwd / "killed"

    def go_on(self, most: int) -> bool:
        """Start or resume the run, and kill once or, where the driver survives it, several times;
        returns whether the run is complete.
        """
        begun = (self.run / "config.yaml").exists()
        arguments = ("--resume", "killed") if begun else ("output.dir=killed", *self.options)
        with (self.cwd / "said").open("a") as said:
            process = subprocess.Popen(
                [*COMMAND, "run", *arguments],
                cwd=self.cwd,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
            deadline = time.monotonic() + LONGEST_S
            while process.poll() is None and self.kills.total() < most:
                self._kill_one(process, deadline)
            code = process.wait(max(1.0, deadline - time.monotonic()))
        kill_all(process.pid)
        return code == 0

    def _kill_one(self, process: subprocess.Popen[bytes], deadline: float) -> None:
        target, moment = self.draw.choice(self.targets), self.draw.choice(MOMENTS)
        self._await(process, moment, deadline)
        group = group_of(process.pid)
        self.seen.update(group)
        if process.poll() is not None:
            return
        if target == "group":
            kill_all(process.pid)
        elif target == "driver":
            process.kill()
        else:
            found = [pid for pid in group if PROCESSES[target] in command_line(pid)]
            if not found:
                return  # Ray has not started it yet
            os.kill(self.draw.choice(found), signal.SIGKILL)
        self.killed_at.append(time.time())
        self.kills[target] += 1
        self.moments[moment] += 1

    def _await(self, process: subprocess.Popen[bytes], moment: str, deadline: float) -> None:
        """Wait for a moment of the run, or for its end."""
        before = rows_so_far(self.run)
        wanted = JOBS if moment == "seal" else before + self.draw.randrange(12)

        def come() -> bool:
            if moment == "start":
                return True
            if moment == "proof":
                return b"proving" in self._words() or rows_so_far(self.run) > before
            return rows_so_far(self.run) >= wanted

        while process.poll() is None and not come():
            assert time.monotonic() < deadline, f"no progress in {LONGEST_S} s: {self._words()!r}"
            time.sleep(0.03)
        time.sleep(self.draw.random() * {"start": 3.0, "seal": 0.1}.get(moment, 0.3))

    def _words(self) -> bytes:
        return (self.cwd / "said").read_bytes()[-2000:]

    def left_over(self) -> list[int]:
        """Processes of the run that still live, after a minute of grace."""
        alive = self.seen
        for _ in range(300):
            alive = {pid for pid in alive if b"ray" in command_line(pid)}
            if not alive:
                break
            time.sleep(0.2)
        return sorted(alive)


@contextmanager
def model(config: Configuration, cwd: Path, options: tuple[str, ...]) -> Iterator[Ledger | None]:
    """The model of a run: the expert in process, or a ledger behind an endpoint. Its address is
    written to ``model.txt``.
    """
    if not config.http:
        yield None
        return
    synth("run", *options, *INLINE, "output.dir=planned", cwd=cwd)
    table = TaskTable(cwd / "planned" / "tasks.parquet")
    ledger = Ledger(Expert([Task.from_json(table.task(at)) for at in range(len(table))]))
    with endpoint(ledger) as url:
        (cwd / "model.txt").write_text(url)
        yield ledger


def rows_of(run: Path) -> list[dict[str, Any]]:
    """The rows of a run, without the numbers by which an endpoint counts its answers."""
    return [{**row, "provider_fields": None} for row in stable_rows(run)]


def over_http(url: str) -> tuple[str, ...]:
    """Overrides that ask an endpoint."""
    return (
        *("model=openai", "model.name=expert", "model.api_key_env=null"),
        f"model.base_url={url}",
    )


@pytest.mark.long
@promise("A run that is killed at any moment resumes to the dataset of an undisturbed run")
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_seeded_kills(
    name: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    config, draw = CONFIGURATIONS[name], random.Random(name)
    if "PostgreSQL" in name:
        server("postgresql")
    kills, moments, runs, again = Counter[str](), Counter[str](), 0, 0
    for seed in itertools.count(1):
        if kills.total() >= KILLS:
            break
        cwd = tmp_path / str(seed)
        cwd.mkdir()
        options = (
            *("env=shop", f"tasks.count={JOBS}", f"seed={seed}", "output.rows_per_shard=32"),
            f"runtime.concurrency={CONCURRENCY}",
            *config.database,
        )
        with model(config, cwd, options) as ledger:
            if ledger is not None:
                options = (*options, *over_http((cwd / "model.txt").read_text()))
            synth("run", *options, *INLINE, "output.dir=whole", cwd=cwd)
            if ledger is not None:
                ledger.begin()
            one = Disturbed(cwd, (*options, *config.runtime), draw, config.targets)
            for _ in range(KILLS + 3):
                if one.go_on(KILLS - kills.total()):
                    break
            assert rows_of(one.run) == rows_of(cwd / "whole"), one.kills
            assert one.left_over() == []
            again += 0 if ledger is None else played_again(ledger, one.killed_at)
        kills, moments, runs = kills + one.kills, moments + one.moments, runs + 1
    twice = f", {again} rollouts played again" if config.http else ""
    record_property(
        "figure",
        f"{name}: {kills.total()} kills in {runs} runs of {JOBS} rollouts"
        f" ({listed(kills)}; {listed(moments)}){twice}",
    )


def played_again(ledger: Ledger, kills: list[float]) -> int:
    """How many rollouts were finished more than once: those only that ended in the last second
    before a kill, or, in a worker that outlived its driver, in the first second after it.
    """
    count = 0
    for times in ledger.finished().values():
        for at in sorted(times)[:-1]:
            count += 1
            nearest = min((abs(kill - at) for kill in kills), default=math.inf)
            assert nearest <= LAST_SECOND_S + SETTLING_S, f"a loss {nearest:.2f} s from any kill"
    return count


def listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
