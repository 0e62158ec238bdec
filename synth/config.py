"""The config of a run: plain frozen dataclasses, checked as a whole, every problem reported at
once.

Nothing here knows Hydra: :mod:`synth.core.config.compose` makes the plain dict that
:func:`from_dict` reads, and a run directory's config.yaml is the same dict again. No secret is ever
part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Annotated, Any, cast, get_args, get_origin, get_type_hints

import yaml
from pydantic import BeforeValidator, Field, Strict, TypeAdapter, ValidationError

from synth.core.config.agent import AgentConfig
from synth.core.config.database import DatabaseConfig
from synth.core.config.rules import AGENT, RULES, VALUE_RULES, broken_rules, secrets_in
from synth.core.config.section import ConfigSection, Kind, extended, section_kinds, section_of
from synth.core.config.task_rules import load_task_source
from synth.core.config.telemetry import TelemetryConfig
from synth.core.config.types import (
    AnyShare,
    MoreThanZero,
    NotNegative,
    Place,
    Positive,
    Section,
    Share,
    Styles,
    Text,
    Universe,
    Universes,
    WorldPlace,
    alone,
    one_or_many,
)
from synth.core.foundation.credentials import shown
from synth.core.foundation.perturbations import MistakeKind
from synth.core.foundation.suggestions import nearest_key
from synth.core.foundation.validation_messages import key_of, problem_line
from synth.errors import ConfigProblems
from synth.plugins import RECORDED_PLANS, ROLLOUT_WRAPPERS, ExtensionPoint


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvConfig(Section):
    """The world: the name of one that ships, or the path of a folder. Exactly one of the two."""

    name: Text | None = None
    path: WorldPlace | None = None

    @property
    def place(self) -> str:
        """The path or name by which the world is found."""
        return self.path or self.name or ""

    @property
    def folder(self) -> str:
        """The name of the world's folder, under which a copy is put: rows call the world so."""
        return Path(self.place or "world").name


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointConfig(Section):
    """A model at an endpoint, and how its answers are drawn; None leaves a parameter to the
    endpoint.

    ``kind`` is ``openai`` (any compatible endpoint) or ``package.module:attribute``.
    ``api_key_env`` names the variable that holds the key; None: the endpoint wants none.
    ``send_seed`` adds the rollout's seed to each request. ``extra_body`` goes into each request as
    it is. ``stream`` asks for answers in pieces, which are put together again. Prices are in US
    dollars per million tokens; None: unknown. ``options`` are the options that the kind declares
    beyond these keys.
    """

    kind: Text = "openai"
    name: Text | None = None
    base_url: Text | None = None
    api_key_env: Text | None = "OPENAI_API_KEY"
    temperature: NotNegative | None = None
    top_p: Share | None = None
    max_tokens: Positive | None = None
    send_seed: Annotated[bool, Strict()] = False
    extra_body: dict[str, Any] = field(default_factory=dict[str, Any])
    stream: Annotated[bool, Strict()] = False
    timeout_s: MoreThanZero = 120.0
    max_retries: Annotated[int, Strict(), Field(ge=0)] = 5
    price_input_usd_per_mtok: NotNegative | None = None
    price_output_usd_per_mtok: NotNegative | None = None
    price_cached_usd_per_mtok: NotNegative | None = None
    options: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig(EndpointConfig):
    """The model of the agent.

    ``kind`` may also be ``scripted`` (the expert that plays the gold solution) or ``replay`` (what
    was said in the run at ``path``). ``mistakes`` are kinds of mistakes
    (:mod:`synth.core.models.scripted.mistakes`) of which the scripted expert makes one in a share
    of ``mistake_rate`` of its rollouts (a rate alone: of all kinds; kinds alone: 0.3); the others
    have a ``style``, drawn by these weights (None: all are terse). ``tool_retries`` is how often it
    makes a call again that failed for a passing reason.

    The rates and the requests at once hold for the run, all workers together. Between
    ``min_concurrency`` and ``max_concurrency`` (None: the rollouts in flight) the endpoint's
    capacity is looked for, from ``start_concurrency`` on.
    """

    kind: Text = "scripted"
    path: Place | None = None
    mistakes: Annotated[list[MistakeKind], BeforeValidator(one_or_many)] | None = None
    mistake_rate: AnyShare | None = None
    style: Styles | None = None
    tool_retries: Annotated[int, Strict(), Field(ge=0)] = 3
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    max_concurrency: Positive | None = None
    min_concurrency: Positive = 1
    start_concurrency: Positive = 32


@extended("users")
@dataclass(frozen=True, slots=True, kw_only=True)
class UsersConfig(Section):
    """The user who answers the agent in tasks that have a user: ``scripted`` (by rule),
    ``simulated`` (a model), ``replay`` (who answered in the recorded run at ``path``), ``none``
    (such tasks cannot be asked) or ``package.module:attribute``.

    ``model`` names one of ``models``; None: the agent's.
    ``options`` are the options that the kind declares beyond these keys.
    """

    kind: Text = "scripted"
    path: Place | None = None
    model: Text | None = None
    options: dict[str, Any] = field(default_factory=dict[str, Any])


@extended("tasks")
@dataclass(frozen=True, slots=True, kw_only=True)
class TasksConfig(Section):
    """Number of tasks, number of attempts at each, and their families (None: all of the
    world's).

    ``kind`` names the task source (:data:`synth.plugins.TASK_SOURCES`): ``families`` are the
    world's, ``bird`` are questions as BIRD and Spider publish them, ``actions`` are scenarios
    with the calls that are expected, and ``package.module:Class`` is a source of one's own, whose
    options are ``options``. ``path`` is the folder or file that a source reads.

    ``universes`` counts the databases of the world that tasks are about, or lists their numbers:
    0 is its seed.sql, the others are its seed.py's. ``splits`` gives each of them to one split of
    the dataset (None: all to ``train``), and ``held_out`` names families that are asked in all
    splits but the first.

    ``transforms`` names what changes the planned tasks, in order: an entry point or
    ``package.module:Class`` (:mod:`synth.transform`), whose options stand in
    ``transform_options`` under that name.
    """

    kind: Text = "families"
    path: Place | None = None
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    count: Positive = 64
    samples: Positive = 1
    families: Annotated[list[Text], BeforeValidator(one_or_many), Field(min_length=1)] | None = None
    universes: Universes = 1
    splits: dict[Text, Annotated[list[Universe], BeforeValidator(alone)]] | None = None
    held_out: Annotated[list[Text], BeforeValidator(one_or_many), Field(min_length=1)] | None = None
    transforms: list[Text] = field(default_factory=list[str])
    transform_options: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeConfig(Section):
    """The processes that do the work. ``kind`` is ``auto`` (this process for a job that it ends
    before Ray has started, else Ray), ``ray``, ``inline`` (this process) or
    ``package.module:attribute``. ``workers`` None: one per CPU; ``concurrency`` counts rollouts in
    flight per worker.

    ``resources`` are set aside for each Ray worker (``{CPU: 2, GPU: 0.5}``), ``runtime_env`` is
    Ray's, for the whole job.

    ``max_attempts`` is the number of tries before an infrastructure error of a job becomes
    terminal. The breaker pauses the run when ``breaker_rate`` of the last ``breaker_window``
    rollouts were broken by infrastructure.
    """

    kind: Text = "auto"
    address: Text | None = None
    workers: Positive | None = None
    concurrency: Positive = 32
    max_attempts: Positive = 3
    breaker_window: Positive = 40
    breaker_rate: Share = 0.9
    resources: dict[str, NotNegative] = field(default_factory=dict[str, float])
    runtime_env: dict[str, Any] = field(default_factory=dict[str, Any])
    options: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputConfig(Section):
    """Place of the run directory: ``dir`` itself, or (None) a new directory under ``root``.

    ``upload`` is where its files are sent when the run ends, a folder of a filesystem that Arrow or
    fsspec knows: ``s3://bucket/runs/ehr``. None: nowhere.
    """

    dir: Text | None = None
    root: Text = "outputs"
    rows_per_shard: Positive = 1_024
    upload: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetConfig(Section):
    """Limits on what the run may spend before it drains, as a valid partial dataset; None: no
    limit.

    Dollars, tokens and turns count for all its sessions, with the models of user and judge;
    ``minutes`` for each session.
    """

    usd: MoreThanZero | None = None
    tokens: Positive | None = None
    turns: Positive | None = None
    minutes: MoreThanZero | None = None


@extended("rewards")
@dataclass(frozen=True, slots=True, kw_only=True)
class RewardsConfig(Section):
    """What judges a rollout beside the gates of its task and the world's rewards.py."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionsConfig(Section):
    """Your own rollout wrappers and run hooks, the first outermost, by entry point or as
    ``package.module:Class``; ``options`` are theirs, under their names.
    """

    wrappers: list[Text] = field(default_factory=list[str])
    hooks: list[Text] = field(default_factory=list[str])
    options: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])


@extended("")
@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig(Section):
    """Everything that a run is told.

    ``preflight`` asks an endpoint for its list of models and for one short answer to the first
    prompt, with its tools, before anything else is paid for. With False nothing is asked before the
    first rollout. ``models`` are further endpoints by name. Other sections name one of them, or
    ``model`` for the agent's own.
    """

    seed: Annotated[int, Strict(), Field(ge=0, lt=2**63)] = 0
    preflight: Annotated[bool, Strict()] = True
    env: EnvConfig = field(default_factory=EnvConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    models: dict[Text, EndpointConfig] = field(default_factory=dict[str, EndpointConfig])
    database: DatabaseConfig = field(default_factory=DatabaseConfig)
    agent: AgentConfig = field(default_factory=AgentConfig)
    users: UsersConfig = field(default_factory=UsersConfig)
    rewards: RewardsConfig = field(default_factory=RewardsConfig)
    tasks: TasksConfig = field(default_factory=TasksConfig)
    runtime: RuntimeConfig = field(default_factory=RuntimeConfig)
    output: OutputConfig = field(default_factory=OutputConfig)
    budget: BudgetConfig = field(default_factory=BudgetConfig)
    telemetry: TelemetryConfig = field(default_factory=TelemetryConfig)
    extensions: ExtensionsConfig = field(default_factory=ExtensionsConfig)

    def endpoint(self, name: str) -> EndpointConfig:
        """The section of a named model."""
        return self.model if name == AGENT else self.models[name]

    def section(self, kind: type[Kind]) -> Kind:
        """The section of a capability."""
        return section_of(reduce(getattr, kind.place.split("."), self), kind)

    def uses(self, kind: type[ConfigSection]) -> bool:
        """True if a key of a capability's section differs from its default."""
        return self.section(kind) != kind()

    def brought(self, point: ExtensionPoint) -> list[tuple[str, ConfigSection]]:
        """The extensions of a kind that sections switch on, each with its section."""
        return [
            (name, section)
            for section in map(self.section, section_kinds())
            for other, name in section.brings()
            if other is point
        ]

    @property
    def recording(self) -> str | None:
        """The directory of the recorded run whose rollouts this one branches or narrates."""
        return next((asdict(one)["path"] for _, one in self.brought(RECORDED_PLANS)), None)

    @property
    def wrappers(self) -> list[str]:
        """The names of all rollout wrappers, the first outermost."""
        return [*self.extensions.wrappers, *(name for name, _ in self.brought(ROLLOUT_WRAPPERS))]

    @property
    def world_folder(self) -> str:
        """The name of the folder that a copy of the world is put under."""
        if self.tasks.path is not None and load_task_source(self.tasks.kind).writes_world:
            return Path(self.tasks.path).resolve().name
        return self.env.folder


def _leaves(section: type, prefix: str = "") -> Iterator[tuple[str, Any]]:
    hints = get_type_hints(section)
    for entry in fields(cast("Any", section)):
        if is_dataclass(hints[entry.name]):
            yield from _leaves(cast("type", hints[entry.name]), f"{prefix}{entry.name}.")
        else:
            yield prefix + entry.name, hints[entry.name]


_TYPES = dict(_leaves(RunConfig))

KEYS = tuple(_TYPES)
"""Every dotted key that a config may hold, in order."""

FREE = tuple(
    key
    for key, kind in _TYPES.items()
    if any(get_origin(one) is dict for one in (kind, *get_args(kind)))
)
"""Keys below which names are free: fields of a request, names of splits, options of extensions."""

SECTIONS = tuple(
    dict.fromkeys(key[:index] for key in KEYS for index in range(len(key)) if key[index] == ".")
)

_ADAPTER = TypeAdapter(RunConfig)


def _without(raw: Mapping[str, Any], path: tuple[int | str, ...]) -> dict[str, Any]:
    head, *rest = path
    inner = raw.get(cast("str", head))
    kept = {key: value for key, value in raw.items() if key != head}
    if rest and isinstance(inner, Mapping):
        kept[cast("str", head)] = _without(cast("Mapping[str, Any]", inner), tuple(rest))
    return kept


def _known_part(raw: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The keys of a config without the sections of distributions that are not here."""
    kept = {key: value for key, value in raw.items() if f"{prefix}{key}" in {*KEYS, *SECTIONS}}
    for key, value in kept.items():
        if f"{prefix}{key}" in SECTIONS and isinstance(value, Mapping):
            kept[key] = _known_part(cast("Mapping[str, Any]", value), f"{prefix}{key}.")
    return kept


def problems(raw: Mapping[str, Any], *, rules: bool = True, installed: bool = True) -> list[str]:
    """Every problem of a plain config dict, one line each; none when :func:`from_dict` accepts it.

    ``rules=False`` leaves out the rules between keys, for a config that is known to be incomplete;
    ``installed=False`` leaves out all rules, for a config whose extensions may be missing here.
    """
    if not isinstance(cast("object", raw), Mapping):
        return [f"a config is a mapping of sections, not {shown('', raw)}"]
    models: object = raw.get("models")
    endpoints = (
        f"models.{name}.{entry.name}"
        for name in (cast("Mapping[str, Any]", models) if isinstance(models, Mapping) else ())
        for entry in fields(EndpointConfig)
    )
    known = (*KEYS, *SECTIONS, *endpoints)
    hidden = secrets_in(raw)
    lines = list(hidden.values())
    bad = set(hidden)
    usable = dict(raw) if installed else _known_part(raw)
    try:
        config = _ADAPTER.validate_python(usable)
    except ValidationError as error:
        # What is wrong is taken out and the rest looked at, so that rules between sound keys are
        # reported as well.
        for detail in error.errors(include_url=False):
            if key_of(detail) not in hidden:
                lines.append(problem_line(detail, known=known))
            bad.add(key_of(detail))
            if detail["type"] == "unexpected_keyword_argument":
                # The key that was probably meant is not missing: it is misspelt, and that has been
                # said.
                bad.add(nearest_key(key_of(detail), known) or key_of(detail))
            usable = _without(usable, detail["loc"])
        config = _ADAPTER.validate_python(usable)
    kept = (RULES if rules else VALUE_RULES) if installed else ()
    lines += broken_rules(to_dict(config), bad, kept)
    return lines


def from_dict(raw: Mapping[str, Any], *, installed: bool = True) -> RunConfig:
    """The config that a plain dict describes; absent keys take their defaults.

    With ``installed=False`` the extensions that it names need not be installed. Raises
    ConfigProblems with all problems.
    """
    if lines := problems(raw, installed=installed):
        raise ConfigProblems(lines)
    return _ADAPTER.validate_python(dict(raw) if installed else _known_part(raw))


def to_dict(config: RunConfig) -> dict[str, Any]:
    """The plain dict that :func:`from_dict` reads back: strings, numbers, lists and dicts only."""
    return asdict(config)


def to_yaml(plain: Mapping[str, Any]) -> str:
    """The text of a run directory's config.yaml, from what :func:`to_dict` returns."""
    return yaml.safe_dump(dict(plain), sort_keys=False, allow_unicode=True)


def flat(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The plain config as dotted keys, in the order of :data:`KEYS`; each of :data:`FREE` stays one
    value.
    """
    whole: Any = plain
    return {key: reduce(getitem, key.split("."), whole) for key in KEYS}
