"""Preparation of a run before it touches the disk: settings, world, tasks and plan."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from envs.ledger import Ledger
from envs.sandboxes.base import Template, find_engine
from envs.world.loader import World, load_world
from synth.config import RunConfig, TasksConfig
from synth.core.config.options import ErrorCollector
from synth.core.config.task_rules import load_task_source, task_source_options
from synth.core.config.unread import unread
from synth.core.dataset.store.layout import Layout
from synth.core.dataset.store.run_info import REFUSAL, RunIdentity
from synth.core.foundation.consent import Consent, refuse
from synth.core.foundation.hashing import digest
from synth.core.foundation.shipped import find_world, version, world_extension, world_names
from synth.core.foundation.suggestions import hint, nearest
from synth.core.foundation.tempdirs import Scratch
from synth.core.runner.provenance import DATABASE, changes_of, records, with_fingerprint
from synth.core.runner.setup import RunSpec, WorkerSetup, run_spec, with_extensions
from synth.core.runner.transforms import transforms_of
from synth.errors import OperatorError, TaskError
from synth.plan import TRAIN, Plan
from synth.plugins import RECORDED_PLANS, REWARDS, TASK_TRANSFORMS, Extension, PluginError
from synth.rewards import check_reward_families
from synth.source import TaskPool, TaskSource

if TYPE_CHECKING:
    from synth.core.runner.recorded_plan import RecordedPlan  # it reads Parquet

REPHRASED = "rephrased"
"""The key of the manifest about the phrasings that were written for a run."""

LISTED = 20
"""The number of reasons, or of families, that a note names."""


@dataclass
class PreparedRun:
    """A planned run.

    ``notes`` are for the operator. ``home`` keeps a world alive that was written for this run.
    ``account`` says what of the source is asked, changed or left out. ``rephrased`` says what
    the model of ``tasks.rephrase`` has written, and what that cost; None if it was not asked.
    ``manifest`` is what transforms say about the tasks.
    """

    spec: RunSpec
    world: World
    plan: Plan | RecordedPlan
    notes: Sequence[str] = ()
    home: Scratch | None = None
    account: Ledger = field(default_factory=Ledger)
    rephrased: Mapping[str, object] | None = None
    manifest: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def layout(self) -> Layout:
        """The shards of the run and their places."""
        splits = ((name, tasks * self.plan.samples) for name, tasks in self.plan.splits.items())
        return Layout(tuple(splits), self.spec.output.rows_per_shard)

    @property
    def extensions(self) -> tuple[Extension, ...]:
        """The extensions that the run uses."""
        return self.spec.extensions

    @property
    def free_sql(self) -> bool:
        """True if the agent may write SQL of its own."""
        return any(tool.free_sql for tool in self.world.tools)

    @cached_property
    def identity(self) -> RunIdentity:
        """The origin of the data, for manifest and card."""
        plan, found = self.plan, records([*self.extensions, *_world_extension(self)])
        more: dict[str, object] = {"config": dict(self.spec.record), **self.manifest}
        if found:
            more["extensions"] = found
        if self.rephrased is not None:
            more[REPHRASED] = dict(self.rephrased)
        if self.spec.target.fingerprint is not None:
            more[DATABASE] = self.spec.target.fingerprint
        if self.spec.refusal:
            more[REFUSAL] = self.spec.refusal
        return RunIdentity(
            config_digest=self.spec.config_digest,
            world_digest=self.world.digest,
            plan_digest=digest(self.world.digest, plan.digest()),
            env=self.world.name,
            model=self.spec.model_name,
            seed=self.spec.seed,
            more=more,
        )

    def worker_setup(self, archive: bytes, directory: Path | None = None) -> WorkerSetup:
        """The setup of the run's workers; ``directory`` is the run's directory."""
        return WorkerSetup(self.spec, self.world.name, archive, version(), directory)


def prepare(
    config: RunConfig,
    world_path: Path | None = None,
    consent: Consent = refuse,
    *,
    at_most: bool = False,
) -> PreparedRun:
    """Find out everything that can be known before anything starts. ``consent`` decides on code of
    a recorded run that is branched or narrated. With ``at_most`` a world of fewer tasks gives all.

    Raises :class:`OperatorError`, :class:`~envs.errors.WorldError`, :class:`TaskError` or
    :class:`~synth.errors.UntrustedCode`.
    """
    for name, section in config.brought(RECORDED_PLANS):
        make, spec = RECORDED_PLANS.load(name), run_spec(config)
        plan = make(section, config.tasks, config.seed)
        return _prepare_recorded(spec, plan, unread(config), world_path, consent)
    tasks, home = config.tasks, None
    parts = ErrorCollector()
    spec = parts.make(lambda: run_spec(config))
    source = parts.make(lambda: _task_source(tasks))
    transforms = parts.make(lambda: transforms_of(tasks, config.brought(TASK_TRANSFORMS)))
    parts.check()
    if world_path is None and source.writes_world:
        home = Scratch("world")
        world_path = source.write_world(home.path / spec.world_folder, tasks.families)
    world = load_world(world_path or find_world(spec.env.place))
    pools: list[TaskPool] = []
    for universe in _universes(tasks.universes, world):
        with world.template(spec.engine, universe, spec.target) as template:
            for transform in transforms:
                transform.look(template)
            pools.append(_ground(source, world, template, universe, tasks.families))
            spec = with_fingerprint(spec, template)
    account = _account(pools)
    talks = any(family.talks for pool in pools for family in pool.families)
    account.add(unread(config, talks=talks))
    splits = _splits(tasks, pools)
    count = min(tasks.count, _supply(splits)) if at_most else tasks.count
    plan = Plan.make(splits, count, tasks.samples, spec.seed, transforms)
    spec = with_extensions(spec, [*world.extensions, *_gates(pools, spec.seed)])
    if config.users.kind == "none":
        _refuse_talkative(pools)
    notes = [*account.lines(LISTED), *_absent_families(pools), *_shortfalls(plan)]
    notes = [*dict.fromkeys(note for pool in pools for note in pool.notes), *notes]
    manifest: dict[str, object] = {}
    for transform in transforms:
        notes += transform.notes(plan.blocks, plan.asked)
        manifest |= transform.manifest(plan.blocks)
    notes += _transformed(plan)
    return PreparedRun(spec, world, plan, notes, home, account, manifest=manifest)


def _prepare_recorded(
    spec: RunSpec, plan: RecordedPlan, account: Ledger, world_path: Path | None, consent: Consent
) -> PreparedRun:
    """A run over a recorded one, in the recorded world. ``account`` is the config's."""
    home = None
    if world_path is None:
        home = Scratch("world")
        world_path = plan.world(home.path / spec.world_folder, consent)
    world = load_world(world_path)
    if find_engine(spec.engine).attaches:
        with world.template(spec.engine, 0, spec.target) as template:
            spec = with_fingerprint(spec, template)
        info = plan.dataset.info
        if lines := changes_of(info, spec.target.fingerprint):
            raise OperatorError(
                f"the attached database changed since {spec.recording} was made: {'; '.join(lines)}"
            )
    names = {name for index in range(plan.tasks) for name in plan.task(index).gate_names}
    spec = with_extensions(spec, [*world.extensions, *_extensions_of(names)])
    notes = [*plan.notes, *account.lines(LISTED)]
    return PreparedRun(spec, world, plan, notes, home, account)


def _task_source(tasks: TasksConfig) -> TaskSource:
    """The task source that the section names, with its options."""
    source = load_task_source(tasks.kind)
    return cast("type[TaskSource]", source)(task_source_options(source, asdict(tasks)))


def _splits(tasks: TasksConfig, pools: Sequence[TaskPool]) -> dict[str, list[TaskPool]]:
    """The pools of each split, of the first one without the families that are held out.

    Raises :class:`OperatorError` for a family that does not exist.
    """
    held = tasks.held_out or ()
    known = list(dict.fromkeys(family.id for pool in pools for family in pool.families))
    for name in sorted({*held} - {*known}):
        raise OperatorError(f"tasks.held_out: unknown family {name!r}{hint(nearest(name, known))}")
    if tasks.splits is None:
        return {TRAIN: [*pools]}
    by_universe = {pool.universe: pool for pool in pools}
    splits = {name: [by_universe[one] for one in own] for name, own in tasks.splits.items()}
    if held:
        first = next(iter(splits))
        splits[first] = [pool.without(held) for pool in splits[first]]
    return splits


def _supply(splits: Mapping[str, Sequence[TaskPool]]) -> int:
    """The number of tasks that there are."""
    pools = [pool for own in splits.values() for pool in own]
    return sum(pool.capacity(family.id) for pool in pools for family in pool.families)


def _universes(asked: int | Sequence[int], world: World) -> Sequence[int]:
    numbers = range(asked) if isinstance(asked, int) else asked
    if max(numbers) > 0 and not world.universes:
        raise OperatorError(
            f"tasks.universes: {world.name} has universe 0 only: ask with tasks.universes=1"
            f" tasks.splits=null, or write a seed.py in {world.path}, which makes more (see"
            " docs/guides/worlds/universes.md)"
        )
    return range(len(world.databases)) if world.databases else numbers


def _ground(
    source: TaskSource,
    world: World,
    template: Template,
    universe: int,
    families: Sequence[str] | None,
) -> TaskPool:
    """The tasks of one universe, whose template may be closed afterwards."""
    try:
        pool = source.open(world, template, families, universe)
    except TaskError as error:
        if universe == 0:
            raise
        raise TaskError(
            f"in universe {universe}: {error.message}", error.file, error.line, error.family
        ) from None
    check_reward_families(world, pool.all_families)
    return pool


def _gates(pools: Sequence[TaskPool], seed: int) -> Iterator[Extension]:
    """The gates that come from other distributions, by one task of each family and case."""
    names = {
        name
        for pool in pools
        for family in pool.families
        for index in range(min(len(pool.cases(family.id)), pool.capacity(family.id)))
        for name in pool.task(family.id, index, seed).gate_names
    }
    yield from _extensions_of(names)


def _extensions_of(gates: Collection[str]) -> Iterator[Extension]:
    for name in sorted(set(gates) - REWARDS.builtin.keys()):
        with contextlib.suppress(PluginError):  # reported with its family when the task is proved
            yield REWARDS.find(name)


def _world_extension(run: PreparedRun) -> Iterator[Extension]:
    """The distribution that offers the world. Its version changes nothing without the files."""
    name = run.spec.env.name
    if name is not None and name not in world_names():
        extension = world_extension(name)
        if extension is not None:
            yield extension


def _account(pools: Sequence[TaskPool]) -> Ledger:
    """The account of all universes.

    Raises :class:`OperatorError` if nothing can be asked.
    """
    account = Ledger()
    for pool in pools:
        account.add(pool.account)
    account.check()
    if account.entries and not any(
        pool.capacity(family.id) for pool in pools for family in pool.families
    ):
        raise OperatorError("\n".join(["no task can be asked", *account.lines(LISTED)]))
    return account


def _absent_families(pools: Sequence[TaskPool]) -> list[str]:
    """A note on each family that has no task in some universe."""
    where: dict[str, list[int]] = {}
    for pool in pools:
        for name in pool.absent:
            where.setdefault(name, []).append(pool.universe)
    return [
        f"{name} has no task in {len(found)} of {len(pools)} universes"
        f" ({', '.join(map(str, found[:LISTED]))}{', ...' if len(found) > LISTED else ''})"
        for name, found in where.items()
    ]


def _transformed(plan: Plan) -> list[str]:
    """A note on the tasks that transforms left out."""
    left_out = plan.chosen - plan.tasks
    return [f"tasks.transforms: {left_out} of {plan.chosen} tasks are left out"] if left_out else []


def _shortfalls(plan: Plan) -> list[str]:
    """A note on the families that have too few tasks for their share."""
    found = sorted(plan.shortfalls.items(), key=lambda item: item[1][0] - item[1][1])
    if not found:
        return []
    shown = ", ".join(f"{name} {given} of {due}" for name, (given, due) in found[:LISTED])
    more = f", and {len(found) - LISTED} more" if len(found) > LISTED else ""
    few = "1 family has fewer tasks than its"
    if len(found) > 1:
        few = f"{len(found)} families have fewer tasks than their"
    return [f"{few} share, so others give more: {shown}{more}"]


def _refuse_talkative(pools: Sequence[TaskPool]) -> None:
    """Refuse families whose agent needs an answer if no user is configured."""
    families = [family for pool in pools for family in pool.families]
    talkative = list(dict.fromkeys(family.id for family in families if family.talks))
    if not talkative:
        return
    silent = ",".join(family.id for family in pools[0].families if family.id not in talkative)
    advice = f"users=scripted or 'tasks.families=[{silent}]'" if silent else "users=scripted"
    raise OperatorError(
        f"users=none: nobody would answer the agent in {', '.join(talkative)}; use {advice}"
    )
