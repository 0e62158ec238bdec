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
from synth.config import RunConfig, to_dict
from synth.core.config.options import Gathering, load_extension, options_for
from synth.core.config.task_rules import surface_numbers
from synth.core.config.task_source import load_task_source, task_source_options
from synth.core.config.unread import unread
from synth.core.dataset.store.layout import Layout
from synth.core.dataset.store.run_info import RunIdentity
from synth.core.foundation.consent import Consent, refuse
from synth.core.foundation.hashing import digest
from synth.core.foundation.shipped import find_world, world_extension, world_names
from synth.core.foundation.tempdirs import Scratch
from synth.core.runner.asked import Levels
from synth.core.runner.attached import DATABASE, changes_of, with_fingerprint
from synth.core.runner.provenance import records
from synth.core.runner.setup import RunSettings, WorkerSetup, resolve_settings, with_extensions
from synth.core.types.phrasings import HELD_OUT, HeldOutPhrasings
from synth.errors import OperatorError, TaskError
from synth.ext.renamings import SurfaceMaker, Surfaces, answers_of, database_names
from synth.ext.variety.by_difficulty import ByDifficulty
from synth.ext.variety.held_out import hold_out
from synth.ext.variety.wording import VariedWording
from synth.plan import Plan
from synth.plugins import RECORDED_PLANS, REWARDS, TASK_TRANSFORMS, Extension, PluginError
from synth.rewards import check_reward_families
from synth.source import TaskPool, TaskSource
from synth.transform import TaskTransform

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
    ``held_out`` are the wordings that the first split has not; None: it has all.
    """

    config: RunConfig
    settings: RunSettings
    world: World
    plan: Plan | RecordedPlan
    notes: Sequence[str] = ()
    home: Scratch | None = None
    account: Ledger = field(default_factory=Ledger)
    rephrased: Mapping[str, object] | None = None
    held_out: HeldOutPhrasings | None = None

    @property
    def layout(self) -> Layout:
        """The shards of the run and their places."""
        splits = ((name, tasks * self.plan.samples) for name, tasks in self.plan.splits.items())
        return Layout(tuple(splits), self.config.output.rows_per_shard)

    @property
    def extensions(self) -> tuple[Extension, ...]:
        """The extensions that the run uses."""
        return self.settings.extensions

    @property
    def free_sql(self) -> bool:
        """True if the agent may write SQL of its own."""
        return any(tool.free_sql for tool in self.world.tools)

    @cached_property
    def identity(self) -> RunIdentity:
        """The origin of the data, for manifest and card."""
        plan, found = self.plan, records([*self.extensions, *_world_extension(self)])
        more: dict[str, object] = {"config": to_dict(self.config)}
        if found:
            more["extensions"] = found
        if self.held_out is not None:
            more[HELD_OUT] = self.held_out.to_json()
        if self.rephrased is not None:
            more[REPHRASED] = dict(self.rephrased)
        if self.settings.target.fingerprint is not None:
            more[DATABASE] = self.settings.target.fingerprint
        return RunIdentity(
            config_digest=self.settings.config_digest,
            world_digest=self.world.digest,
            plan_digest=digest(self.world.digest, plan.digest()),
            env=self.world.name,
            model=self.settings.model_name,
            seed=self.config.seed,
            more=more,
        )

    def worker_setup(self, archive: bytes, directory: Path | None = None) -> WorkerSetup:
        """The setup of the run's workers; ``directory`` is the run's directory."""
        return WorkerSetup.of(self.config, self.settings, self.world.name, archive, directory)


def prepare(
    config: RunConfig, world_path: Path | None = None, consent: Consent = refuse
) -> PreparedRun:
    """Find out everything that can be known before anything starts. ``consent`` decides on code of
    a recorded run that is branched or narrated.

    Raises :class:`OperatorError`, :class:`~envs.errors.WorldError`, :class:`TaskError` or
    :class:`~synth.errors.UntrustedCode`.
    """
    if config.recording is not None:
        return _prepare_recorded(config, world_path, consent)
    parts = Gathering()
    settings = parts.make(lambda: resolve_settings(config))
    source = parts.make(lambda: _task_source(config))
    own = parts.make(lambda: _own_transforms(config))
    parts.check()
    tasks, home = config.tasks, None
    if world_path is None and source.writes_world:
        home = Scratch("world")
        world_path = source.write_world(home.path / config.world_folder, tasks.families)
    world = load_world(world_path or find_world(config.env.path or config.env.name or ""))
    names = set[str]()
    pools: list[TaskPool] = []
    for universe in _universes(config, world):
        with world.template(config.database.engine, universe, settings.target) as template:
            names |= database_names(template)
            pools.append(_ground(source, world, template, universe, config))
            settings = with_fingerprint(settings, template)
    account = _account(pools, config)
    varied = tasks.wording == "varied"
    held_out = hold_out(pools, tasks.splits, tasks.held_out_phrasings, varied=varied)
    shipped = _shipped_transforms(config, held_out, _surfaces(config, world, names, pools))
    plan = Plan.make(
        pools,
        tasks.count,
        tasks.samples,
        config.seed,
        splits=tasks.splits,
        held_out=tasks.held_out or (),
        compose={int(size): share for size, share in (tasks.compose or {}).items()},
        compose_as=tasks.compose_as,
        max_near_duplicates=tasks.max_near_duplicates,
        weights=tasks.weights,
        levels=_levels(tasks.difficulty),
        transforms=[*shipped, *own],
    )
    settings = with_extensions(settings, config, [*world.extensions, *_gates(pools, config.seed)])
    if config.users.kind == "none":
        _refuse_talkative(pools)
    notes = [
        *_surface_notes(config, world),
        *dict.fromkeys(note for pool in pools for note in pool.notes),
        *account.lines(LISTED),
        *_absent_families(pools),
        *_near_duplicates(plan),
        *_difficulties(config, plan),
        *_shortfalls(plan),
        *_transformed(plan),
    ]
    return PreparedRun(config, settings, world, plan, notes, home, account, held_out=held_out)


def _prepare_recorded(config: RunConfig, world_path: Path | None, consent: Consent) -> PreparedRun:
    """A run that branches or narrates a recorded one, in the recorded world."""
    settings = resolve_settings(config)
    name = "branch" if config.narrate.path is None else "narrate"
    make = RECORDED_PLANS.load(name)
    plan: RecordedPlan = make(getattr(config, name), config.tasks, config.seed)
    home = None
    if world_path is None:
        home = Scratch("world")
        world_path = plan.world(home.path / config.world_folder, consent)
    world = load_world(world_path)
    if find_engine(config.database.engine).attaches:
        with world.template(config.database.engine, 0, settings.target) as template:
            settings = with_fingerprint(settings, template)
        info = plan.dataset.info
        if lines := changes_of(info, settings.target.fingerprint):
            raise OperatorError(
                f"the attached database changed since {config.branch.path} was made:"
                f" {'; '.join(lines)}"
            )
    names = {name for index in range(plan.tasks) for name in plan.task(index).gate_names}
    settings = with_extensions(settings, config, [*world.extensions, *_extensions_of(names)])
    account = unread(config)
    notes = [*plan.notes, *account.lines(LISTED)]
    return PreparedRun(config, settings, world, plan, notes, home, account)


def _task_source(config: RunConfig) -> TaskSource:
    """The task source that the config names, with its options."""
    source = load_task_source(config.tasks.kind)
    return cast("type[TaskSource]", source)(task_source_options(source, asdict(config.tasks)))


def _shipped_transforms(
    config: RunConfig, held_out: HeldOutPhrasings | None, surfaces: Surfaces | None
) -> Iterator[TaskTransform]:
    """The transforms behind keys of ``tasks``: wording, names, order."""
    if config.tasks.wording == "varied":
        yield VariedWording(held_out.voices if held_out else ())
    if surfaces is not None:
        yield surfaces
    if config.tasks.order == "difficulty":
        yield ByDifficulty()


def _own_transforms(config: RunConfig) -> list[TaskTransform]:
    """The transforms that ``tasks.transforms`` names, with their options."""
    made: list[TaskTransform] = []
    for name in config.tasks.transforms:
        kind: type[TaskTransform] = load_extension(TASK_TRANSFORMS, name, "tasks.transforms")
        own = config.tasks.transform_options.get(name, {})
        made.append(kind(options_for(kind, {}, own, f"tasks.transform_options.{name}")))
    return made


def _universes(config: RunConfig, world: World) -> Sequence[int]:
    asked = config.tasks.universes
    numbers = range(asked) if isinstance(asked, int) else asked
    if max(numbers) > 0 and not world.universes:
        raise OperatorError(
            f"tasks.universes: {world.name} has universe 0 only; a seed.py in {world.path} would"
            " make more (see docs/guides/worlds/universes.md)"
        )
    return range(len(world.databases)) if world.databases else numbers


def _surfaces(
    config: RunConfig, world: World, names: Collection[str], pools: Sequence[TaskPool]
) -> Surfaces | None:
    """The surfaces that the config asks for; None if it asks for the world's own names only."""
    numbers = surface_numbers(config.tasks.surface)
    if not any(numbers):
        return None
    maker = SurfaceMaker(world, names, answers_of(pools, config.seed))
    return Surfaces(maker, numbers, pools, config.seed, config.tasks.held_out_surface or ())


def _ground(
    source: TaskSource, world: World, template: Template, universe: int, config: RunConfig
) -> TaskPool:
    """The tasks of one universe, whose template may be closed afterwards."""
    try:
        pool = source.open(world, template, config.tasks.families, universe)
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
    name = run.config.env.name
    if name is not None and name not in world_names():
        extension = world_extension(name)
        if extension is not None:
            yield extension


def _surface_notes(config: RunConfig, world: World) -> Iterator[str]:
    """A note on what surfaces cannot rename."""
    if any(surface_numbers(config.tasks.surface)) and any(tool.free_sql for tool in world.tools):
        yield (
            f"tasks.surface: {world.name} has tools for SQL of the agent's own, so only tools and"
            " parameters have other names; tables, columns and results keep theirs"
        )


def _account(pools: Sequence[TaskPool], config: RunConfig) -> Ledger:
    """The account of all universes and of the config.

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
    talks = any(family.talks for pool in pools for family in pool.families)
    account.add(unread(config, talks=talks))
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


def _near_duplicates(plan: Plan) -> list[str]:
    """A note on the tasks that were left out as near-duplicates."""
    if not plan.left_out:
        return []
    note = f"tasks.max_near_duplicates: {plan.left_out} candidate tasks were near-duplicates"
    if not plan.lacking:
        return [f"{note}; others took their places"]
    asked = plan.tasks + plan.lacking
    found = f"{note}, and not all could be replaced: the plan has {plan.tasks} of {asked} tasks"
    return [f"{found}; more wordings (`says` in tasks.yaml), families or universes give more"]


def _levels(asked: Mapping[str, int] | None) -> Levels | None:
    """The range of difficulty that the config asks for."""
    return None if asked is None else Levels(asked.get("min", 0), asked.get("max"))


def _difficulties(config: RunConfig, plan: Plan) -> list[str]:
    """A note on the tasks that were left out for their difficulty."""
    if config.tasks.difficulty is None:
        return []
    found = f"tasks.difficulty: {plan.outside} candidate tasks were easier or harder"
    if not plan.lacking:
        return [found]
    return [f"{found}, and the plan has {plan.tasks} of {plan.tasks + plan.lacking} tasks"]


def _transformed(plan: Plan) -> list[str]:
    """A note on the tasks that transforms left out."""
    left_out = plan.chosen - plan.tasks
    return [f"tasks.transforms: {left_out} of {plan.chosen} tasks are left out"] if left_out else []


def _shortfalls(plan: Plan) -> list[str]:
    """A note on the families that have too few tasks for an equal share."""
    found = sorted(plan.shortfalls.items(), key=lambda item: item[1][0] - item[1][1])
    if not found:
        return []
    shown = ", ".join(f"{name} {given} of {due}" for name, (given, due) in found[:LISTED])
    more = f", and {len(found) - LISTED} more" if len(found) > LISTED else ""
    few = "1 family has" if len(found) == 1 else f"{len(found)} families have"
    due = "their weight asks for" if plan.weighted else "an equal share"
    return [f"{few} fewer tasks than {due}, so others give more: {shown}{more}"]


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
