"""Recorded trajectories judged again, by the verifiers of today and without a model.

By default the tasks are those that the run directory holds, so that what changed is the verifiers.
With a world, they are that world's present tasks about the same slots: its gates, its rules, its
gold, proved anew on the recorded data.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from envs.errors import EnvsError, WorldError
from envs.world.loader import World, load_world
from synth.config import from_dict, to_dict
from synth.core.dataset.sanitize import sanitize
from synth.core.foundation.consent import Consent, refuse
from synth.core.foundation.hashing import canonical
from synth.core.foundation.suggestions import hint, nearest
from synth.core.rerun.recorded_run import Recording, Row, open_recording
from synth.core.rewards.gate_costs import GateCosts
from synth.core.runner.build import build_wrapper
from synth.core.runner.recorded_calls import again
from synth.core.runner.run_files import changed
from synth.core.runner.setup import JUDGE, wrapper_kinds, wrapper_setups
from synth.core.runner.transforms import transforms_of
from synth.core.tasks.families import FamilyTasks
from synth.core.tasks.yaml.source_map import Map, Seq, load_yaml
from synth.core.types.phrasings import JOIN, VOICE
from synth.core.validation.prove import prove
from synth.episode import Episode, Score
from synth.errors import DatasetError, OperatorError, TaskError
from synth.middleware import MiddlewareHome
from synth.plugins import TASK_TRANSFORMS
from synth.rewards import Evidence, judge, total_reward, world_rewards
from synth.task import Task
from synth.verdict import Verdict
from synth.wrapper import RolloutWrapper, with_recorded

YAML, PYTHON, REWARDS = "tasks.yaml", "tasks.py", "rewards.py"


class _PresentTasks:
    """Families of today, each set up on its own beside the recorded schema, rows and tools: one
    that needs a tool which was not there then takes no other with it.
    """

    def __init__(self, recording: Recording, folder: Path) -> None:
        self._recording = recording
        self._folder = folder
        self._rules, self._written = _families(folder / YAML)
        self._sources: dict[tuple[str, int], FamilyTasks | str] = {}
        self._transforms = transforms_of(
            recording.config.tasks, recording.config.brought(TASK_TRANSFORMS)
        )

    def find(self, task: Task) -> tuple[Task, World]:
        """The present task about a recorded task's slots, with its clock, and the world to prove it
        in.

        Raises :class:`TaskError` where the family is gone, cannot be read, or has no task about
        these slots.
        """
        source = self._source(task.family, task.universe)
        if task.parts:
            found = replace(task, parts=tuple(self._in(source, part) for part in task.parts))
        else:
            found = self._in(source, task)
        for transform in self._transforms:
            found = transform.again(found, task)
        return found, source.world

    def _in(self, source: FamilyTasks, task: Task) -> Task:
        words = task.extras.get("phrasing", "").partition(VOICE)[0]
        found = source.find(task.family, task.slots, words)
        if len(found) != 1:
            many = "no task" if not found else f"{len(found)} tasks"
            raise TaskError(f"the family has {many} about the slots {dict(task.slots)} now")
        kept = {"id": task.id, "now": task.now, "seed": task.seed, "split": task.split}
        return replace(found[0], **kept)

    def _source(self, family: str, universe: int) -> FamilyTasks:
        if (family, universe) not in self._sources:
            self._sources[family, universe] = self._read(family, universe)
        source = self._sources[family, universe]
        if isinstance(source, str):
            raise TaskError(source)
        return source

    def _read(self, family: str, universe: int) -> FamilyTasks | str:
        """The family's tasks on the recorded data, or why there are none."""
        names = family.split(JOIN)
        gone = [name for name in names if name not in self._written]
        if gone and not (self._folder / PYTHON).is_file():
            return (
                f"{self._folder.name} has no family {gone[0]!r}"
                f" now{hint(nearest(gone[0], self._written))}"
            )
        try:
            world = self._world(family)
            with self._recording.templates.use(universe) as template:
                return FamilyTasks(world, template, names, universe)
        except TaskError as error:
            return f"the family cannot be asked on the recorded data: {error.message}"
        except WorldError as error:
            return (
                "the family cannot be asked on the recorded data:"
                f" {str(error).replace(f'{self._home(family)}/', '')}"
            )

    def _home(self, family: str) -> Path:
        return self._recording.home / family / self._recording.world.name

    def _world(self, family: str) -> World:
        """The recorded world with today's family, or families of a composed task, in the place of
        its own.
        """
        folder = self._home(family)
        if not folder.exists():
            shutil.copytree(
                self._recording.world.path, folder, ignore=shutil.ignore_patterns("__pycache__")
            )
            for name in (YAML, PYTHON, REWARDS):
                (folder / name).unlink(missing_ok=True)
            if (self._folder / REWARDS).is_file():
                shutil.copyfile(self._folder / REWARDS, folder / REWARDS)
                self._add_modules(folder)
            written = [name for name in family.split(JOIN) if name in self._written]
            if written:
                families = [self._written[name] for name in written]
                document = {**self._rules, "families": families}
                if isinstance(form := document.get("form"), Map):
                    asked = {name for item in families for name in item.get("answer") or ()}
                    document["form"] = {name: form[name] for name in form if name in asked}
                (folder / YAML).write_text(
                    json.dumps(document, ensure_ascii=False, indent=1), "utf-8"
                )
            if len(written) < len(family.split(JOIN)):
                shutil.copyfile(self._folder / PYTHON, folder / PYTHON)
                self._add_modules(folder)
        return load_world(folder)

    def _add_modules(self, folder: Path) -> None:
        """Copy the modules that were added after the recording, which today's code may import."""
        for file in self._folder.glob("*.py"):
            if file.name != PYTHON and not (folder / file.name).exists():
                shutil.copyfile(file, folder / file.name)


def _families(file: Path) -> tuple[dict[str, Json], dict[str, Json]]:
    """The rules of a tasks.yaml for all families, and each of them by its id."""
    if not file.is_file():
        return {}, {}
    root: Json = load_yaml(file)
    entries: Json = root.get("families", Seq()) if isinstance(root, Map) else None
    if not isinstance(entries, Seq):
        raise TaskError("needs `families`, a list with at least one family", str(file))
    written = {str(entry.get("id")): entry for entry in entries if isinstance(entry, Map)}
    return {name: value for name, value in root.items() if name != "families"}, written


Json = Any
Verdicts = Sequence[Mapping[str, Json]]


@dataclass(frozen=True)
class Change:
    """The verdicts on a trajectory as they were recorded, and as they are now."""

    trajectory_id: str
    family: str
    old_reward: float | None
    new_reward: float | None
    old_verdicts: Verdicts
    new_verdicts: Verdicts

    @property
    def of_reward(self) -> bool:
        return self.old_reward != self.new_reward

    def to_json(self) -> dict[str, Json]:
        return dict(vars(self))


@dataclass
class GradeReport:
    """``graded`` counts trajectories per family. ``before`` and ``now`` are what gates refuse by
    the recorded and the new verdicts, ``rules`` counts the versions of both. ``ungraded`` says why
    a trajectory could not be judged again. ``without_votes`` counts those that wait for the run's
    judge, by the reason, and ``judge_usd`` is what new votes have cost (None if that is unknown).
    """

    graded: dict[str, int] = field(default_factory=dict[str, int])
    before: GateCosts = field(default_factory=GateCosts)
    now: GateCosts = field(default_factory=GateCosts)
    rules: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    changes: list[Change] = field(default_factory=list[Change])
    ungraded: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    without_votes: Counter[str] = field(default_factory=Counter[str])
    judge_usd: float | None = 0.0

    def add(self, change: Change) -> None:
        """Count a trajectory that was judged again."""
        self.graded[change.family] = self.graded.get(change.family, 0) + 1
        self.before.add({"verdicts": change.old_verdicts})
        self.now.add({"verdicts": change.new_verdicts})
        self.rules[_rules(change.old_verdicts), _rules(change.new_verdicts)] += 1
        if change.of_reward or _findings(change.old_verdicts) != _findings(change.new_verdicts):
            self.changes.append(change)

    @property
    def rewards_changed(self) -> list[Change]:
        return [change for change in self.changes if change.of_reward]

    @property
    def same(self) -> bool:
        return not self.rewards_changed and not self.ungraded

    def to_json(self) -> dict[str, Json]:
        changed = [item.family for item in self.rewards_changed]
        lost = [item["family"] for item in self.ungraded]
        names = sorted({*self.graded, *lost})
        return {
            "trajectories": sum(self.graded.values()) + len(self.ungraded),
            "rewards_changed": len(changed),
            "without_votes": self.without_votes.total(),
            "judge_usd": self.judge_usd,
            "families": [
                {
                    "family": name,
                    "graded": self.graded.get(name, 0),
                    "rewards_changed": changed.count(name),
                    "not_graded": lost.count(name),
                }
                for name in names
            ],
            "rules": [
                {"before": before, "now": now, "trajectories": count}
                for (before, now), count in sorted(self.rules.items())
            ],
            "gates": {"before": self.before.to_json(), "now": self.now.to_json()},
            "changes": [change.to_json() for change in self.changes],
            "not_graded": self.ungraded,
        }


def grade(
    directory: Path,
    world: Path | None,
    where: str | None,
    advance: Callable[[], None] = lambda: None,
    consent: Consent = refuse,
    *,
    judge: Mapping[str, object] | None = None,
) -> GradeReport:
    """Judge a run directory's trajectories again, or those that fulfil an SQL condition;
    ``advance`` is called after each.

    Where the run has a judge, its recorded votes count; it is asked again where ``judge`` gives
    values of its config, by dotted keys, that take the place of the recorded ones.

    ``consent`` decides on code that was not made on this machine. Raises :class:`DatasetError`
    where the directory lacks what it takes, :class:`~synth.errors.UntrustedCode`, and
    :class:`~synth.errors.OperatorError` if there is no judge to ask, or no key for it.
    """
    with open_recording(directory, consent) as recording:
        asked: list[RolloutWrapper] = []
        if judge is not None:
            config = from_dict(changed(to_dict(recording.config), judge), installed=False)
            if JUDGE not in config.wrappers:
                raise OperatorError(
                    f"{directory}: the run has no judge (rewards.judge.model is null)"
                )
            setups, _ = wrapper_setups(config)
            home = MiddlewareHome(recording.home)
            asked = [build_wrapper(setup, home) for setup in setups if setup.name == JUDGE]
        work = _grade(recording, world, where, advance, asked)
        return asyncio.run(_then_close(asked, work))


async def _then_close(
    asked: Sequence[RolloutWrapper], work: Coroutine[None, None, GradeReport]
) -> GradeReport:
    try:
        return await work
    finally:
        for wrapper in asked:
            await wrapper.aclose()


async def _grade(
    recording: Recording,
    world: Path | None,
    where: str | None,
    advance: Callable[[], None],
    asked: Sequence[RolloutWrapper],
) -> GradeReport:
    report, kinds = GradeReport(), wrapper_kinds(recording.config.wrappers)
    present = None if world is None else _PresentTasks(recording, world)
    proved: dict[str, tuple[Task, World] | str] = {}
    for row in recording.rows(where):
        try:
            task = recording.task(row)
            judged: tuple[Task, World] | str = task, recording.world
            if present is not None:
                if task.id not in proved:
                    proved[task.id] = await _present(task, present, recording)
                judged = proved[task.id]
            if isinstance(judged, str):
                raise DatasetError(judged)
            change = await _again(row, task, judged, recording, _Votes(asked, kinds, report))
        except (DatasetError, TaskError, EnvsError) as error:
            lost = {
                "trajectory_id": row["trajectory_id"],
                "task_id": row["task_id"],
                "family": row["family"],
            }
            report.ungraded.append({**lost, "reason": str(error)})
        else:
            report.add(change)
        advance()
    return report


@dataclass(frozen=True)
class _Votes:
    """The verdicts that wrappers add: the recorded ones, or new ones of ``asked``."""

    asked: Sequence[RolloutWrapper]
    kinds: Sequence[type[RolloutWrapper]]
    report: GradeReport

    async def added(
        self, row: Row, evidence: Evidence, verdicts: Sequence[Verdict]
    ) -> Sequence[Verdict]:
        again = {type(wrapper) for wrapper in self.asked}
        kept = [kind for kind in self.kinds if kind not in again]
        verdicts = with_recorded(kept, verdicts, row["verdicts"])
        for wrapper in self.asked:
            score = Score(verdicts, total_reward(verdicts))
            columns = dict[str, Any](judge_cost_usd=0.0)
            verdicts = (await wrapper.scored(evidence, score, row["seed"], columns)).verdicts
            usd, so_far = columns["judge_cost_usd"], self.report.judge_usd
            self.report.judge_usd = None if usd is None or so_far is None else so_far + usd
        lost = (one.reason for one in verdicts if one.score is None and one.verifier == JUDGE)
        self.report.without_votes.update([*lost][:1])
        return verdicts


async def _present(
    task: Task, present: _PresentTasks, recording: Recording
) -> tuple[Task, World] | str:
    """The present version of a recorded task, proved on the recorded data, and its world; a text
    says why there is none.
    """
    try:
        found, world = present.find(task)
        with recording.templates.use(task.universe) as template:
            return await prove(found, world, template, recording.limits), world
    except (TaskError, EnvsError) as error:
        return str(error)


async def _again(
    row: Row, task: Task, judged: tuple[Task, World], recording: Recording, votes: _Votes
) -> Change:
    """Execute the calls of a row again and judge them by the gates of a task and the rewards of a
    world.

    Raises :class:`DatasetError` where the calls do not lead where they led.
    """
    with (
        recording.templates.use(task.universe) as template,
        Episode(task, recording.world, template, recording.limits) as episode,
    ):
        async for _ in again(row["events"], episode):
            pass
        if episode.state_hash() != row["state_hash_after"]:
            raise DatasetError("its calls lead to another end now; `synth replay` shows where")
        evidence = replace(episode.evidence(), task=judged[0])
        verdicts = judge(evidence, world_rewards(judged[1]))
    if not any(turn.fault for turn in evidence.turns):
        verdicts = await votes.added(row, evidence, verdicts)
    earned = total_reward(verdicts)
    now: list[Mapping[str, Json]] = [sanitize(verdict.to_json())[0] for verdict in verdicts]
    return Change(row["trajectory_id"], row["family"], row["reward"], earned, row["verdicts"], now)


def _findings(verdicts: Verdicts) -> str:
    """Scores and findings as text, to be compared."""
    return canonical(
        [[item["verifier"], item["score"], item["detail"].get("findings")] for item in verdicts]
    )


def _rules(verdicts: Verdicts) -> str:
    """The version of the rules by which verdicts were made; empty without one."""
    return next((rules for item in verdicts if (rules := item["detail"].get("rules"))), "")
