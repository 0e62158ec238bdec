"""A job before it touches the disk: the world, its tasks, the plan, the key, and what the workers need."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from envs.folder import World, load_world
from envs.sandboxes.base import Place
from envs.types import Limits
from synth.agent.react import AgentLimits
from synth.canonical import digest
from synth.config import RunConfig, fingerprint
from synth.dataset.layout import Layout
from synth.dataset.run_info import Identity
from synth.errors import OperatorError, TaskError
from synth.models import MODELS
from synth.models.base import Sampling
from synth.plan import Plan
from synth.runtime import RUNTIMES
from synth.runtime.base import Runtime
from synth.shipped import find_world, version
from synth.tasks.family import Family
from synth.tasks.python_families import PythonFamily
from synth.tasks.source import TaskSource
from synth.types import Message, Task
from synth.users import USERS
from synth.worker import Secret, WorkerSetup

Json = Any


@dataclass
class Run:
    """A planned run before it touches the disk."""

    config: RunConfig
    world: World
    plan: Plan

    @property
    def layout(self) -> Layout:
        splits = ((name, tasks * self.plan.samples) for name, tasks in self.plan.splits.items())
        return Layout(tuple(splits), self.config.output.rows_per_shard)

    @property
    def identity(self) -> Identity:
        """What made the data, for manifest and card."""
        plan, config = self.plan, self.config
        return Identity(
            config_digest=fingerprint(config)[0],
            world_digest=self.world.digest,
            plan_digest=digest(self.world.digest, plan.digest()),
            env=self.world.name,
            model=model_name(config),
            seed=config.seed,
        )


def prepare(config: RunConfig, world_path: Path | None = None) -> Run:
    """Everything that can be known before anything starts: the world, its tasks, the plan, the key.

    Raises :class:`OperatorError`, :class:`~envs.errors.WorldError` or :class:`TaskError`.
    """
    api_key(config)
    world = load_world(world_path or find_world(config.env.path or config.env.name or ""))
    tasks = config.tasks
    if tasks.universes > 1 and not world.universes:
        raise OperatorError(
            f"tasks.universes: {world.name} has universe 0 only; a seed.py in {world.path} would make more (see the README)"
        )
    sources = [ground(world, universe, config) for universe in range(tasks.universes)]
    plan = Plan.make(
        sources, tasks.count, tasks.samples, config.seed, splits=tasks.splits, held_out=tasks.held_out or ()
    )
    if config.users.kind == "none":
        check_silent(sources)
    return Run(config, world, plan)


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
    name = config.model.api_key_env
    if config.model.kind == "scripted" or name is None:
        return None
    value = os.environ.get(name, "").strip()
    if not value:
        raise OperatorError(
            f"model.api_key_env: the variable {name} is not set; export it, name another, "
            "or say model.api_key_env=null for an endpoint without keys"
        )
    return Secret(value)


def database_place(config: RunConfig) -> Place:
    """The server of the sandboxes. Raises :class:`OperatorError` naming the variable where it is not set."""
    name = config.database.dsn_env_var
    if name is None:
        return Place(None, config.database.sandbox)
    url = os.environ.get(name, "").strip()
    if not url:
        raise OperatorError(f"database.dsn_env_var: the variable {name} is not set; export it, or name another")
    return Place(url, config.database.sandbox)


def worker_setup(run: Run, archive: bytes) -> WorkerSetup:
    """What the workers of this run need, as plain data."""
    config = run.config
    model, agent, database = config.model, config.agent, config.database
    return WorkerSetup(
        world_name=run.world.name,
        world_archive=archive,
        engine=database.engine,
        place=database_place(config),
        model=MODELS.get(model.kind, model.kind),
        model_options=asdict(model),
        sampling=Sampling(model.temperature, model.top_p, model.max_tokens, model.extra_body),
        limits=Limits(False, database.statement_timeout_ms, database.max_rows, database.max_result_bytes),
        agent=AgentLimits(
            agent.max_turns, agent.max_tool_calls, agent.max_total_tokens, agent.timeout_s, agent.error_style
        ),
        concurrency=config.runtime.concurrency,
        config_digest=fingerprint(config)[0],
        synth_version=version(),
        api_key=api_key(config),
        user=USERS.get(config.users.kind, config.users.kind),
        user_options=asdict(config.users),
    )


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


def model_name(config: RunConfig) -> str:
    return config.model.name or config.model.kind


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
