"""The setup of a worker: what a config names, looked up once, as plain data that travels.

:func:`run_spec` reads the config, the environment variables that it names and the options of its
extensions. Whatever it finds wrong is an :class:`~synth.errors.OperatorError`, raised before
anything is paid for. Its result, a :class:`RunSpec`, is passed on to the plan, the workers and the
manifest; nothing below it reads the config.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, cast

from envs.sandboxes.base import DatabaseTarget
from envs.types import Limits
from synth.config import (
    BudgetConfig,
    EndpointConfig,
    EnvConfig,
    ExtensionsConfig,
    ModelConfig,
    OutputConfig,
    RunConfig,
    RuntimeConfig,
    TasksConfig,
    UsersConfig,
    to_dict,
    to_yaml,
)
from synth.core.agent.rollout_result import AgentLimits
from synth.core.config.agent import AgentConfig
from synth.core.config.database import DatabaseConfig
from synth.core.config.database_target import configured_target
from synth.core.config.fingerprints import fingerprint, fingerprinted
from synth.core.config.options import ErrorCollector, options_for
from synth.core.config.prices import prices_of
from synth.core.config.rules import AGENT, walk
from synth.core.config.section import ConfigSection, section_kinds
from synth.core.foundation.credentials import known_secrets, variable_value
from synth.core.foundation.scrubber import Scrubber
from synth.core.runner.callbacks import CallbackSetup, callback_setups, options_held
from synth.errors import DatasetError, OperatorError
from synth.model import Sampling
from synth.plugins import (
    ENGINES,
    MIDDLEWARES,
    MODELS,
    ROLLOUT_WRAPPERS,
    RUNTIMES,
    TASK_SOURCES,
    TASK_TRANSFORMS,
    USERS,
    Extension,
    ExtensionPoint,
    PluginError,
    resolve,
)
from synth.wrapper import RolloutWrapper

JUDGE = "judge"
"""The rollout wrapper of the section ``rewards.judge``."""


@dataclass(frozen=True)
class _Secret:
    """A key on its way to a worker: it travels as an argument and never prints."""

    value: str = field(repr=False)


@dataclass(frozen=True)
class ExtensionSetup:
    """A middleware or wrapper under its name in the config; ``factory`` is
    ``package.module:attribute``.

    ``options`` is an instance of the ``Options`` that the factory declares, or else a mapping.
    ``model`` is the model that they name, if they name one.
    """

    name: str
    factory: str
    options: Any
    model: ModelSetup | None = None


@dataclass(frozen=True)
class ModelSetup:
    """A model that a worker builds; ``factory`` is ``package.module:attribute``."""

    factory: str
    options: object
    sampling: Sampling
    api_key: _Secret | None = None

    @property
    def endpoint(self) -> tuple[object, ...]:
        """The identity of the endpoint that is asked: rate limits hold for each of them."""
        address = (_option(self.options, key) for key in ("name", "base_url"))
        return self.factory, self.api_key, *address


@dataclass(frozen=True)
class _UserSetup:
    """A user that a worker builds; ``model`` is the model that plays it, if one does."""

    factory: str
    options: object
    model: ModelSetup | None = None


@dataclass(frozen=True)
class RunSpec:
    """A run's config, settled: every name in it is looked up, and nothing of it changes.

    ``record`` is the config as plain data, for config.yaml, the manifest and callbacks, and
    ``fingerprinted`` the keys and values of it that determine the data.
    ``extensions`` are those that the config, the world and its tasks name, each with its
    distribution and version.
    ``keys`` are the values of the environment variables that options of middlewares name.
    ``preflight`` is False where nothing may be asked before the first rollout.
    ``endpoint`` is the section of the agent's model.
    ``refusal`` says why no run can ask the model; empty if one can.
    ``recording`` is the directory of the recorded run whose rollouts this one branches or narrates.
    """

    record: Mapping[str, Any] = field(repr=False)
    fingerprinted: Mapping[str, Any] = field(repr=False)
    seed: int
    env: EnvConfig
    tasks: TasksConfig
    runtime: RuntimeConfig
    output: OutputConfig
    budget: BudgetConfig
    endpoint: ModelConfig
    recording: str | None
    world_folder: str
    engine: str
    audit: Literal["info", "debug"] | None
    model: ModelSetup
    model_name: str
    model_kind: str
    asks_endpoint: bool
    user: _UserSetup
    middlewares: tuple[ExtensionSetup, ...]
    callbacks: tuple[CallbackSetup, ...]
    keys: Mapping[str, _Secret]
    target: DatabaseTarget
    limits: Limits
    agent: AgentLimits
    extensions: tuple[Extension, ...] = ()
    wrappers: tuple[ExtensionSetup, ...] = ()
    preflight: bool = True
    refusal: str = ""

    @cached_property
    def config_digest(self) -> str:
        """The digest of all that determines the data. Where a job runs does not."""
        of_data = (one for one in self.extensions if one.kind != RUNTIMES.kind)
        return fingerprint(self.fingerprinted, of_data)

    @property
    def text(self) -> bytes:
        """The run directory's config.yaml."""
        return to_yaml(self.record).encode()

    def scrubber(self) -> Scrubber:
        """The scrubber of the secrets that this process and the run know."""
        return Scrubber([*self.secrets(), *known_secrets()])

    def secrets(self) -> list[str]:
        """The keys and server addresses that the run knows."""
        around = (*self.middlewares, *self.wrappers)
        asked = [self.model, self.user.model, *(one.model for one in around)]
        given = [
            *(model.api_key for model in asked if isinstance(model, ModelSetup)),
            *self.keys.values(),
        ]
        known = [secret.value for secret in given if secret is not None]
        return [*known, self.target.url] if self.target.url else known


@dataclass(frozen=True)
class Workload:
    """The work that a session of a run begins with: tasks to prove and jobs to play.

    ``free_sql`` is true if the world has a tool that runs SQL which the agent writes, in processes
    of its own.
    """

    tasks: int = 0
    jobs: int = 0
    free_sql: bool = False


@dataclass(frozen=True)
class WorkerSetup:
    """Everything that a worker is built from.

    ``run_dir`` is the directory that the driver writes to; a worker on another machine may not
    see it. ``session`` is a random id of the driver's session.
    """

    spec: RunSpec
    world_name: str
    world_archive: bytes = field(repr=False)
    synth_version: str
    run_dir: Path | None = None
    session: str = ""
    workload: Workload = Workload()


def run_spec(config: RunConfig) -> RunSpec:
    """Look up everything that a config names.

    Raises :class:`OperatorError` for an extension that cannot be imported or does not take its
    options, an environment variable that is not set, or a recorded run that cannot be read.
    """
    model_extension, model_factory = _load(MODELS, config.model.kind, "model.kind")
    asks_endpoint = bool(getattr(model_factory, "asks_endpoint", True))
    model_name, sampling = model_identity(config.model)
    section = _priced(config.model)
    if "retry" in config.agent.middleware and "rationales" not in config.wrappers:
        section["max_retries"] = 0
    parts = ErrorCollector()
    model_options = parts.make(
        lambda: options_for(model_factory, section, config.model.options, "model.options")
    )
    of_user = parts.make(
        lambda: _user_setup(config.users, config.endpoint(config.users.model or AGENT))
    )
    of_middlewares = parts.make(lambda: _middleware_setups(config.agent, config.endpoint))
    callbacks = parts.make(lambda: callback_setups(config.telemetry))
    target = parts.make(lambda: database_target(config.database))
    parts.check()
    user, user_extensions = of_user
    middlewares, middleware_extensions = of_middlewares
    engine = _find(ENGINES, config.database.engine, "database.engine")
    source = _find(TASK_SOURCES, config.tasks.kind, "tasks.kind")
    wrappers, wrapper_extensions = wrapper_setups(config)
    extensions = (source, model_extension, *user_extensions, *middleware_extensions, engine)
    extensions = (*extensions, *wrapper_extensions)
    transforms = [
        _find(TASK_TRANSFORMS, name, "tasks.transforms") for name in config.tasks.transforms
    ]
    sections = [
        extension
        for kind, extension in section_kinds().items()
        if extension.distribution and config.uses(kind)
    ]
    extensions = (*extensions, *transforms, *sections)
    runtime = _find(RUNTIMES, config.runtime.kind, "runtime.kind")
    return RunSpec(
        record=to_dict(config),
        fingerprinted=fingerprinted(config),
        seed=config.seed,
        env=config.env,
        tasks=config.tasks,
        runtime=config.runtime,
        output=config.output,
        budget=config.budget,
        endpoint=config.model,
        recording=config.recording,
        world_folder=config.world_folder,
        engine=config.database.engine,
        audit=config.database.audit_level if config.database.audit else None,
        model=ModelSetup(
            model_extension.target,
            model_options,
            sampling,
            _secret("model", config.model.api_key_env) if asks_endpoint else None,
        ),
        model_name=model_name,
        model_kind=model_extension.name,
        asks_endpoint=asks_endpoint,
        preflight=config.preflight,
        refusal=str(getattr(model_factory, "refusal", "")),
        user=user,
        wrappers=tuple(wrappers),
        middlewares=(*_around(callbacks), *middlewares),
        callbacks=tuple(callbacks),
        keys=_named_keys(
            {
                "agent": options_held(config.agent, config.agent.middleware),
                "telemetry": options_held(config.telemetry, config.telemetry.callbacks),
            }
        ),
        target=target,
        limits=limits_of(config.database),
        agent=AgentLimits(
            **{limit.name: getattr(config.agent, limit.name) for limit in fields(AgentLimits)}
        ),
        extensions=(*extensions, runtime),
    )


def with_extensions(spec: RunSpec, found: Iterable[Extension]) -> RunSpec:
    """Add extensions that the world and its tasks name to those that the config names."""
    return replace(spec, extensions=tuple(dict.fromkeys((*spec.extensions, *found))))


def limits_of(database: DatabaseConfig) -> Limits:
    """Limits on what one tool call may use of the database."""
    return Limits(
        database.read_only,
        database.statement_timeout_ms,
        database.max_rows,
        database.max_result_bytes,
    )


def database_target(database: DatabaseConfig) -> DatabaseTarget:
    """The server of the sandboxes, and the options of its engine.

    Raises :class:`OperatorError` naming the environment variable if it is not set, and for an
    engine that cannot be loaded or does not take its options.
    """
    target = configured_target(database)
    if database.options:
        _, engine = _load(ENGINES, database.engine, "database.engine")
        options_for(engine, {}, database.options, "database.options")
    return replace(target, options=database.options)


def model_identity(model: ModelConfig) -> tuple[str, Sampling]:
    """The name of the model whose words the rows hold, and how it is or was sampled.

    Raises :class:`OperatorError` for a replay of something that is not a recorded run.
    """
    if model.kind == "replay" and model.path is not None:
        try:
            return resolve("synth.core.models.replay.records:model_identity_at")(Path(model.path))
        except DatasetError as error:
            raise OperatorError(f"model.path: {error}") from None
    return model.name or model.kind, _sampling(model)


def _sampling(model: EndpointConfig) -> Sampling:
    return Sampling(model.temperature, model.top_p, model.max_tokens, model.extra_body)


def _find(point: ExtensionPoint, name: str, key: str) -> Extension:
    try:
        return point.find(name)
    except PluginError as error:
        raise OperatorError(f"{key}: {error}") from error


def _load(point: ExtensionPoint, name: str, key: str) -> tuple[Extension, Any]:
    """An extension and its factory. Raises :class:`OperatorError` that starts with the key."""
    extension = _find(point, name, key)
    try:
        return extension, extension.load()
    except PluginError as error:
        raise OperatorError(f"{key}: {error}") from error


def _user_setup(users: UsersConfig, endpoint: EndpointConfig) -> tuple[_UserSetup, list[Extension]]:
    extension, factory = _load(USERS, users.kind, "users.kind")
    asks_model: bool | None = getattr(factory, "asks_model", None)
    options = options_for(factory, asdict(users), users.options, "users.options")
    if not (users.model is not None if asks_model is None else asks_model):
        return _UserSetup(extension.target, options), [extension]
    model, model_extension = model_setup(endpoint, users.model or AGENT)
    return _UserSetup(extension.target, options, model), [extension, model_extension]


def model_setup(section: EndpointConfig, name: str) -> tuple[ModelSetup, Extension]:
    """The model of a section of the config, from the name of the model."""
    key = name if name == AGENT else f"models.{name}"
    extension, factory = _load(MODELS, section.kind, f"{key}.kind")
    asks_endpoint = bool(getattr(factory, "asks_endpoint", True))
    model = ModelSetup(
        extension.target,
        options_for(factory, _priced(section), section.options, f"{key}.options"),
        _sampling(section),
        _secret(key, section.api_key_env) if asks_endpoint else None,
    )
    return model, extension


Endpoints = Callable[[str], EndpointConfig]
"""The section of the model of a name: :meth:`RunConfig.endpoint`."""


def wrapper_setups(config: RunConfig) -> tuple[list[ExtensionSetup], list[Extension]]:
    """The rollout wrappers of a config: its own outside, then the ones of its sections.

    Raises :class:`OperatorError`.
    """
    setups, extensions = own_setups(ROLLOUT_WRAPPERS, config.extensions, "wrappers")
    for name, section in config.brought(ROLLOUT_WRAPPERS):
        extension = _find(ROLLOUT_WRAPPERS, name, section.place)
        model, of_model = _asked(section, config.endpoint)
        setups.append(ExtensionSetup(name, extension.target, section, model))
        extensions += [*([extension] if extension.distribution else []), *of_model]
    return setups, extensions


def _asked(section: object, endpoints: Endpoints) -> tuple[ModelSetup | None, list[Extension]]:
    """The model that a section names, if it names one."""
    key = section.asks if isinstance(section, ConfigSection) else ""
    name = getattr(section, key) if key else None
    if name is None:
        return None, []
    model, extension = model_setup(endpoints(name), name)
    return model, [extension]


def wrapper_kinds(names: Sequence[str]) -> list[type[RolloutWrapper]]:
    """The classes of some rollout wrappers. Raises :class:`OperatorError` for one that cannot be
    loaded.
    """
    return [_load(ROLLOUT_WRAPPERS, name, "extensions.wrappers")[1] for name in names]


def own_setups(
    point: ExtensionPoint, section: ExtensionsConfig, key: str
) -> tuple[list[ExtensionSetup], list[Extension]]:
    """The extensions that a key of ``extensions`` names, with their options."""
    setups, found = list[ExtensionSetup](), list[Extension]()
    for name in getattr(section, key):
        extension, factory = _load(point, name, f"extensions.{key}")
        own = section.options.get(name, {})
        options = options_for(factory, {}, own, f"extensions.options.{name}")
        setups.append(ExtensionSetup(name, extension.target, options))
        found.append(extension)
    return setups, found


def _middleware_setups(
    agent: AgentConfig, endpoints: Endpoints
) -> tuple[list[ExtensionSetup], list[Extension]]:
    setups: list[ExtensionSetup] = []
    extensions: list[Extension] = []
    for name in agent.middleware:
        extension, factory = _load(MIDDLEWARES, name, "agent.middleware")
        options = getattr(agent, name, None)
        if not isinstance(options, ConfigSection):
            own = agent.options.get(name, {})
            options = options_for(factory, own, own, f"agent.options.{name}")
        model, of_model = _asked(options, endpoints)
        setups.append(ExtensionSetup(name, extension.target, options, model))
        extensions += [*of_model, extension]
    return setups, extensions


def _around(callbacks: Iterable[CallbackSetup]) -> Iterator[ExtensionSetup]:
    """The middlewares that callbacks bring into the workers."""
    for callback in callbacks:
        if callback.middleware is not None:
            yield ExtensionSetup(callback.name, callback.middleware, callback.options)


def _priced(model: EndpointConfig) -> dict[str, Any]:
    """The section of a model, with the prices of the public table where it names none."""
    section = asdict(model)
    return section | prices_of(section, model.name)


def _secret(section: str, variable: str | None) -> _Secret | None:
    if variable is None:
        return None
    try:
        return _Secret(variable_value(f"{section}.api_key_env", variable))
    except OperatorError as error:
        advice = f"or set {section}.api_key_env=null for an endpoint without keys"
        raise OperatorError(f"{error}, {advice}") from None


def _named_keys(options: Mapping[str, object]) -> dict[str, _Secret]:
    """The values of the variables that options name under keys ending in ``_env``, at any depth.

    Raises :class:`OperatorError` naming the variable if one is not set.
    """
    return {
        variable: _Secret(variable_value(key, variable))
        for key, variable in walk(options)
        if key.endswith("_env") and isinstance(variable, str) and variable
    }


def _option(options: object, key: str) -> object:
    if isinstance(options, Mapping):
        return cast("Mapping[str, object]", options).get(key)
    return getattr(options, key, None)
