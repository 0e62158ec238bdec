"""A job before it touches the disk: the world, its tasks, the plan, the key, and what the workers need."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from envs.folder import World, load_world
from envs.sandboxes.base import Place
from envs.types import Limits
from synth.agent.middleware import MIDDLEWARE
from synth.agent.run import AgentLimits
from synth.canonical import digest
from synth.config import RunConfig, fingerprint
from synth.config_rules import walk
from synth.dataset.layout import Layout
from synth.dataset.reader import Dataset
from synth.dataset.run_info import Identity
from synth.errors import DatasetError, OperatorError, TaskError
from synth.limits import Governor, Quota
from synth.models import MODELS
from synth.models.base import Sampling
from synth.models.records import spoken_by
from synth.places import place_of
from synth.plan import Plan
from synth.runtime import RUNTIMES
from synth.runtime.base import Runtime
from synth.scratch import Scratch
from synth.shipped import find_world, version
from synth.tasks.bird import write_bird_world
from synth.tasks.family import Family
from synth.tasks.python_families import PythonFamily
from synth.tasks.source import TaskSource
from synth.types import Message, Task
from synth.users import USERS
from synth.worker import MiddlewareSetup, ModelSetup, Secret, WorkerSetup

Json = Any

ASKS_NOBODY = frozenset({"scripted", "replay"})
"""Kinds of models that ask no endpoint."""

SHOWN = 20
"""Questions left out that are named."""


@dataclass
class Run:
    """A planned run before it touches the disk. ``notes`` are for the operator; ``home`` keeps a world that was written
    for this run.
    """

    config: RunConfig
    world: World
    plan: Plan
    notes: Sequence[str] = ()
    home: Scratch | None = None

    @property
    def layout(self) -> Layout:
        splits = ((name, tasks * self.plan.samples) for name, tasks in self.plan.splits.items())
        return Layout(tuple(splits), self.config.output.rows_per_shard)

    @property
    def limits(self) -> Limits:
        """What a tool call may use."""
        database = self.config.database
        return Limits(False, database.statement_timeout_ms, database.max_rows, database.max_result_bytes)

    @cached_property
    def identity(self) -> Identity:
        """What made the data, for manifest and card."""
        plan, config = self.plan, self.config
        return Identity(
            config_digest=fingerprint(config)[0],
            world_digest=self.world.digest,
            plan_digest=digest(self.world.digest, plan.digest()),
            env=self.world.name,
            model=spoken(config)[0],
            seed=config.seed,
        )


def prepare(config: RunConfig, world_path: Path | None = None) -> Run:
    """Everything that can be known before anything starts: the world, its tasks, the plan, the key.

    Raises :class:`OperatorError`, :class:`~envs.errors.WorldError` or :class:`TaskError`.
    """
    api_key(config)
    user_model(config)
    spoken(config)
    tasks, home = config.tasks, None
    if world_path is None and tasks.kind == "bird":
        home = Scratch("bird")
        asked = Path(tasks.path or "").expanduser()
        world_path = write_bird_world(
            asked, home.path / config.world_folder, databases=tasks.families, suite=tasks.suite
        )
    world = load_world(world_path or find_world(config.env.path or config.env.name or ""))
    if tasks.universes > 1 and not world.universes:
        raise OperatorError(
            f"tasks.universes: {world.name} has universe 0 only; a seed.py in {world.path} would make more (see the README)"
        )
    count = len(world.databases) or tasks.universes
    sources = [ground(world, universe, config) for universe in range(count)]
    plan = Plan.make(
        sources, tasks.count, tasks.samples, config.seed, splits=tasks.splits, held_out=tasks.held_out or ()
    )
    if config.users.kind == "none":
        check_silent(sources)
    return Run(config, world, plan, _left_out(sources), home)


def _left_out(sources: Sequence[TaskSource]) -> list[str]:
    """What is said of questions that cannot be asked: how many, and the first of them."""
    lines = [line for source in sources for line in source.left_out]
    if not lines:
        return []
    more = [f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    total = len(lines) + sum(source.capacity(each.id) for source in sources for each in source.families)
    return [f"{len(lines)} of {total} questions are left out", *lines[:SHOWN], *more]


def check_silent(sources: Sequence[TaskSource]) -> None:
    """Refuse families whose agent has to be answered, where nobody is to answer."""
    talking = list(dict.fromkeys(each.id for source in sources for each in source.families if _talks(each)))
    if not talking:
        return
    silent = ",".join(each.id for each in sources[0].families if each.id not in talking)
    advice = f"users=scripted or 'tasks.families=[{silent}]'" if silent else "users=scripted"
    raise OperatorError(f"users=none: nobody would answer the agent in {', '.join(talking)}; say {advice}")


def _talks(family: Family | PythonFamily) -> bool:
    texts = [family.body.user] if isinstance(family, Family) else [each.body.user for each in family.tasks]
    return any(each.knows or each.consent is not None for each in texts)


def ground(world: World, universe: int, config: RunConfig) -> TaskSource:
    """The tasks of one universe. Its template is closed again: they are made of the grounding rows."""
    with world.template(config.database.engine, universe, database_place(config)) as template:
        try:
            return TaskSource(world, template, config.tasks.families, universe)
        except TaskError as error:
            if universe == 0:
                raise
            raise TaskError(f"in universe {universe}: {error.message}", error.file, error.line, error.family) from None


def api_key(config: RunConfig) -> Secret | None:
    """The key that the config names. Raises :class:`OperatorError` naming the variable where it is not set."""
    return None if config.model.kind in ASKS_NOBODY else _secret("model", config.model.api_key_env)


def _secret(section: str, name: str | None) -> Secret | None:
    if name is None:
        return None
    value = os.environ.get(name, "").strip()
    if not value:
        raise OperatorError(
            f"{section}.api_key_env: the variable {name} is not set; export it, name another, "
            f"or say {section}.api_key_env=null for an endpoint without keys"
        )
    return Secret(value)


def middlewares(config: RunConfig) -> list[MiddlewareSetup]:
    """What wraps the calls of each rollout, in order. Raises :class:`OperatorError` for one that cannot be imported."""
    agent = config.agent
    found: list[MiddlewareSetup] = []
    for name in agent.middleware:
        own = name not in MIDDLEWARE
        options: Json = agent.options.get(name, {}) if own else asdict(getattr(agent, name))
        found.append(MiddlewareSetup(name, name if own else MIDDLEWARE[name], options))
        if own:
            module, _, attribute = name.partition(":")
            try:
                getattr(import_module(module), attribute)
            except (ImportError, AttributeError) as error:
                raise OperatorError(f"agent.middleware: {name} cannot be imported: {error}") from None
    return found


def named_keys(options: Json) -> dict[str, Secret]:
    """The values of the variables that options name under keys ending in ``_env``, at any depth.

    Raises :class:`OperatorError` naming the variable where one is not set.
    """
    found: dict[str, Secret] = {}
    for key, name in walk(options):
        if key.endswith("_env") and isinstance(name, str) and name:
            value = os.environ.get(name, "").strip()
            if not value:
                raise OperatorError(f"agent: {key}: the variable {name} is not set; export it, or name another")
            found[name] = Secret(value)
    return found


def database_place(config: RunConfig) -> Place:
    """The server of the sandboxes. Raises :class:`OperatorError` naming the variable where it is not set."""
    return place_of(config.database.dsn_env_var, config.database.sandbox, "database.dsn_env_var")


def user_model(config: RunConfig) -> ModelSetup | None:
    """What a worker needs to build the model that plays the user; None where none does. Raises as :func:`api_key` does."""
    if not config.users.asks:
        return None
    model = config.users.model
    sampling = Sampling(model.temperature, model.top_p, model.max_tokens, model.extra_body)
    key = _secret("users.model", model.api_key_env)
    return ModelSetup(MODELS.get(model.kind, model.kind), asdict(model), sampling, key)


def worker_setup(run: Run, archive: bytes, directory: Path | None = None) -> WorkerSetup:
    """What the workers of this run need, as plain data; ``directory`` is the run's."""
    config = run.config
    model, agent, wrapped = config.model, config.agent, middlewares(config)
    return WorkerSetup(
        world_name=run.world.name,
        world_archive=archive,
        engine=config.database.engine,
        place=database_place(config),
        model=MODELS.get(model.kind, model.kind),
        model_options=asdict(model) | ({"max_retries": 0} if "retry" in agent.middleware else {}),
        sampling=spoken(config)[1],
        limits=run.limits,
        agent=AgentLimits(**{each.name: getattr(agent, each.name) for each in fields(AgentLimits)}),
        concurrency=config.runtime.concurrency,
        config_digest=fingerprint(config)[0],
        synth_version=version(),
        api_key=api_key(config),
        user=USERS.get(config.users.kind, config.users.kind),
        user_options=asdict(config.users),
        middlewares=wrapped,
        keys=named_keys({each.name: each.options for each in wrapped}),
        run_dir=directory,
        gated=model.kind not in ASKS_NOBODY,
        user_model=user_model(config),
        audit=config.database.audit_level if config.database.audit else None,
    )


def governor(config: RunConfig, workers: int) -> Governor | None:
    """Who leases the endpoint to so many workers; None where no endpoint is asked."""
    model = config.model
    if model.kind in ASKS_NOBODY:
        return None
    most = model.max_concurrency or max(workers * config.runtime.concurrency, model.min_concurrency)
    rates = model.requests_per_minute, model.tokens_per_minute
    return Governor(Quota(most, model.min_concurrency, model.start_concurrency, *rates), workers)


def open_runtime(config: RunConfig) -> Runtime:
    """The runtime that ``runtime=`` names; only now is Ray imported."""
    module, _, attribute = RUNTIMES[config.runtime.kind].partition(":")
    factory = getattr(import_module(module), attribute)
    return factory(config.runtime.address) if config.runtime.kind == "ray" else factory()


def new_directory(config: RunConfig) -> Path:
    """Where a new run goes: ``output.dir``, or a directory under ``output.root`` that is not there yet."""
    if config.output.dir is not None:
        return Path(config.output.dir).expanduser().absolute()
    stamp = datetime.now().astimezone().strftime("%Y-%m-%d_%H-%M-%S")
    root = Path(config.output.root).expanduser().absolute()
    name = f"{Path(config.env.path or config.env.name or 'run').name}_{stamp}"
    return next(path for n in range(1, 10_000) if not (path := root / (name if n == 1 else f"{name}_{n}")).exists())


def spoken(config: RunConfig) -> tuple[str, Sampling]:
    """The name of the model whose words the rows hold, and how it is or was sampled.

    Raises :class:`OperatorError` for a replay of what is no recorded run.
    """
    model = config.model
    if model.kind == "replay" and model.path is not None:
        try:
            with Dataset.open(Path(model.path).expanduser()) as recorded:
                return spoken_by(recorded)
        except DatasetError as error:
            raise OperatorError(f"model.path: {error}") from None
    sampling = Sampling(model.temperature, model.top_p, model.max_tokens, model.extra_body)
    return model.name or model.kind, sampling


def task_row(task: Task, run: Run) -> dict[str, Json]:
    """The row of tasks.parquet: what was asked, and what it is judged by."""
    messages: list[Message] = [{"role": "system", "content": task.system}] if task.system else []
    tools = [each.to_openai() for each in run.world.tools]
    return {
        "task_id": task.id,
        "family": task.family,
        "branch": task.branch,
        "env": task.env,
        "env_digest": run.world.digest,
        "split": task.split,
        "universe": task.universe,
        "key": task.key,
        "slots": dict(task.slots),
        "prompt": task.prompt,
        "system": task.system,
        "messages": [*messages, {"role": "user", "content": task.prompt}],
        "tools": tools,
        "answer": task.answer,
        "gold": list(task.gold),
        "checks": {
            "compare": dict(task.compare),
            "compare_answer": dict(task.compare_answer),
            "gates": list(task.gates),
            "oracle": dict(task.oracle),
            "end": None if task.end is None else asdict(task.end),
        },
        "task": task.to_json(),
        "now": task.now,
        "seed": task.seed,
    }
