"""Rules between the keys of a config, and values that none of them may hold.

These rules read the plain dict, so that :mod:`synth.config` can stay a description of its
shape.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

from synth.core.config.database_rules import database_rule
from synth.core.config.prices import missing_prices
from synth.core.config.section import section_kinds
from synth.core.config.task_rules import TASK_RULES
from synth.core.config.types import Finding, Plain
from synth.core.foundation.credentials import ADVICE, is_secret_key, is_variable_name, looks_secret
from synth.core.foundation.suggestions import hint, nearest
from synth.plugins import (
    CALLBACKS,
    ENGINES,
    MIDDLEWARES,
    MODELS,
    ROLLOUT_WRAPPERS,
    RUN_HOOKS,
    RUNTIMES,
    TASK_SOURCES,
    TASK_TRANSFORMS,
    USERS,
    WORLDS,
    ExtensionPoint,
    PluginError,
)

EXTENSIONS = {
    "env.name": WORLDS,
    "model.kind": MODELS,
    "users.kind": USERS,
    "database.engine": ENGINES,
    "tasks.kind": TASK_SOURCES,
    "tasks.transforms": TASK_TRANSFORMS,
    "runtime.kind": RUNTIMES,
    "agent.middleware": MIDDLEWARES,
    "telemetry.callbacks": CALLBACKS,
    "extensions.wrappers": ROLLOUT_WRAPPERS,
    "extensions.hooks": RUN_HOOKS,
}
"""The keys that name extensions."""

_NAMED_HERE = [
    key
    for key in EXTENSIONS
    if key not in {"env.name", "model.kind", "database.engine", "tasks.kind"}
]

LISTED = (("agent", "middleware", MIDDLEWARES), ("telemetry", "callbacks", CALLBACKS))
"""The sections that list extensions, the list, and the extension point."""

EXTENDED = {"wrappers": ROLLOUT_WRAPPERS, "hooks": RUN_HOOKS}
"""The lists of the section `extensions`."""

AGENT = "model"
"""The name of the agent's model in other sections."""
DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_OURS = {
    "model": "name",
    "temperature": "temperature",
    "top_p": "top_p",
    "max_tokens": "max_tokens",
    "messages": None,
    "tools": None,
    "stream": None,
    "stream_options": None,
    "n": None,
}
"""Fields of a request that are not extra: where each is set, or None where the rollout sets it."""

_NAME = re.compile(r"[A-Za-z_][\w-]*")
_URLS = {"base_url", "endpoint", "upload"}


def _models(config: Plain) -> Iterator[tuple[str, Plain]]:
    """The sections that describe a model, each with its key."""
    yield AGENT, config[AGENT]
    yield from ((f"models.{name}", entry) for name, entry in config["models"].items())


def model_names(config: Plain) -> dict[str, str | None]:
    """The keys that name a model to ask, with the names."""
    user = config["users"]["model"]
    simulated = config["users"]["kind"] == "simulated"
    return {"users.model": (user or AGENT) if simulated else user} | {
        f"{kind.place}.{kind.asks}": kind.own(config)[kind.asks]
        for kind in section_kinds()
        if kind.asks
    }


def _names(config: Plain) -> Iterator[Finding]:
    """A section names a model that there is, and that can be asked."""
    models: Plain = config["models"]
    if AGENT in models:
        yield ("models",), f"models.{AGENT}: is the agent's: set {AGENT}.*"
    for name in models:
        if not _NAME.fullmatch(name):
            yield ("models",), f"models.{name}: a name has letters, digits, _ and -"
    for key, name in model_names(config).items():
        if name is None:
            continue
        example = f"models.NAME.name=gpt-4.1-mini {key}=NAME"
        if name != AGENT and name not in models:
            near = hint(nearest(name, [*models, AGENT]))
            yield (key, "models"), f"{key}: unknown model {name!r}{near}; as in {example}"
            continue
        section = AGENT if name == AGENT else f"models.{name}"
        model = config[AGENT] if name == AGENT else models[name]
        keys = (key, "users.kind", f"{section}.kind", f"{section}.name")
        if model["kind"] in {"scripted", "replay"}:
            why = f"the {model['kind']} model plays agents only"
            yield keys, f"{key}: {why}; name another, as in {example}"
        elif name != AGENT and model["kind"] == "openai" and model["name"] is None:
            yield keys, f"{section}.name: {key} asks it, and a model at an endpoint needs a name"


def walk(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf below a value, with its dotted key; an empty list or mapping is a leaf."""
    if isinstance(value, Mapping) and value:
        for name, inner in cast("Mapping[Any, Any]", value).items():
            yield from walk(inner, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list) and value:
        for index, inner in enumerate(cast("list[Any]", value)):
            yield from walk(inner, f"{key}.{index}")
    else:
        yield key, value


def secrets_in(raw: Plain) -> dict[str, str]:
    """The keys that hold what looks like a secret, each with a line that explains and does not show
    it.
    """
    found: dict[str, str] = {}
    for key, value in walk(raw):
        filled = value is not None and value != "" and value is not False
        name = key.rpartition(".")[2]
        if name.endswith(("_env", "_env_var")):
            if isinstance(value, str) and value and not is_variable_name(value):
                found[key] = (
                    f"{key}: takes the name of an environment variable, and this is none: {ADVICE}"
                )
        elif filled and is_secret_key(key):
            found[key] = f"{key}: no secret belongs in a config: {ADVICE}"
        elif isinstance(value, str) and looks_secret(value):
            found[key] = f"{key}: this looks like a secret: {ADVICE}"
        elif name in _URLS and isinstance(value, str) and _url_holds_secret(value):
            found[key] = f"{key}: the URL holds a user, a password or a key: {ADVICE}"
    return found


def _url_holds_secret(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:  # no URL at all; said elsewhere, but a user and a password may stand in it
        return "@" in url
    named = any(
        is_secret_key(name) or name.lower() in {"key", "sig"} for name, _ in parse_qsl(parts.query)
    )
    # In Azure's URLs the name before the @ is a container's.
    return ("@" in parts.netloc and parts.scheme not in {"abfs", "abfss"}) or named


def _world(config: Plain) -> Iterator[Finding]:
    env = config["env"]
    keys = ("env.name", "env.path")
    if env["name"] is None and env["path"] is None:
        yield (
            keys,
            "env: no world: give env.name (one that ships) or env.path (a folder of your own)",
        )
    if env["name"] is not None and env["path"] is not None:
        both = f"env.name is {env['name']!r} and env.path is {env['path']!r}"
        yield keys, f"env: which world? {both}; set the one that is not meant to null"


def _kinds(config: Plain) -> Iterator[Finding]:
    """Every extension that a section names has to exist; nothing is imported to find that out."""
    named = [(f"{section}.kind", model["kind"]) for section, model in _models(config)]
    for key in _NAMED_HERE:
        section, _, last = key.partition(".")
        value: str | list[str] = config[section][last]
        named += [(key, name) for name in ([value] if isinstance(value, str) else value)]
    for key, name in named:
        if (problem := _unknown(EXTENSIONS.get(key, MODELS), name)) is not None:
            yield (key,), f"{key}: {problem}"


def _unknown(point: ExtensionPoint, name: str) -> str | None:
    if ":" in name and DOTTED.fullmatch(name) is None:
        return f"{name!r} is not of the form package.module:attribute"
    try:
        point.find(name)
    except PluginError as error:
        return str(error)
    return None


def _endpoint(config: Plain) -> Iterator[Finding]:
    model = config["model"]
    if model["kind"] == "openai" and model["name"] is None:
        yield (
            ("model.kind", "model.name"),
            "model.name: model=openai needs the name of a model, as in model.name=gpt-4.1-mini",
        )
    for section, item in _models(config):
        url: str | None = item["base_url"]
        if url is not None and not _is_url(url):
            key = f"{section}.base_url"
            yield (key,), f"{key}: must be a URL such as http://127.0.0.1:8000/v1, not {url!r}"


def _recording(config: Plain) -> Iterator[Finding]:
    others = (("model", "run", MODELS.builtin), ("users", "user", USERS.builtin))
    for section, what, ours in others:
        kind, path = config[section]["kind"], config[section]["path"]
        key, keys = f"{section}.path", (f"{section}.kind", f"{section}.path")
        if kind == "replay" and path is None:
            needs = f"{section}=replay needs the directory of a recorded run"
            yield keys, f"{key}: {needs}, as in {key}=out/ehr"
        elif kind != "replay" and kind in ours and path is not None:
            plays = f"only {section}=replay plays a recorded {what} back"
            yield keys, f"{key}: {plays}, and the {section.removesuffix('s')} is {kind}"


def _is_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a bracket left open, a port that is no number
        return False


def _extra_body(config: Plain) -> Iterator[Finding]:
    for section, model in _models(config):
        key, body = f"{section}.extra_body", model["extra_body"]
        for name in sorted(set(body) & set(_OURS)):
            place = f"set {section}.{_OURS[name]} instead" if _OURS[name] else "the rollout sets it"
            yield (f"{key}.{name}",), f"{key}.{name}: this is not extra: {place}"


def _not_json(value: Any, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, inner in cast("Mapping[Any, Any]", value).items():
            if not isinstance(name, str):
                yield f"{key}.{name}", f"a key that is not a text ({name!r})"
            yield from _not_json(inner, f"{key}.{name}")
    elif isinstance(value, list):
        for index, inner in enumerate(cast("list[Any]", value)):
            yield from _not_json(inner, f"{key}.{index}")
    elif isinstance(value, float) and not math.isfinite(value):
        yield key, str(value)
    elif value is not None and not isinstance(value, bool | int | float | str):
        yield key, f"a value of type {type(cast('object', value)).__name__}"


def _mistakes(config: Plain) -> Iterator[Finding]:
    """Only the scripted expert makes mistakes on purpose, and has a style."""
    model = config["model"]
    for name, whose in (
        ("mistakes", "only the scripted expert makes mistakes when told to; {} makes its own"),
        ("mistake_rate", "only the scripted expert makes mistakes when told to; {} makes its own"),
        ("style", "the scripted expert's; {} has its own"),
    ):
        if model[name] and model["kind"] != "scripted":
            key = f"model.{name}"
            yield ("model.kind", key), f"{key}: {whose.format(model['kind'])}"


def _listed(config: Plain) -> Iterator[Finding]:
    """Options of middlewares and callbacks belong to one that is named."""
    for section, listing, point in LISTED:
        key, options = f"{section}.{listing}", f"{section}.options"
        names = config[section][listing]
        for name in config[section]["options"]:
            if name in point.builtin:
                yield (options, key), f"{options}.{name}: set {section}.{name}.*"
            elif name not in names:
                yield (options, key), f"{options}.{name}: {key} does not list it"


def _options(config: Plain) -> Iterator[Finding]:
    """Options of extensions and extra fields of requests travel as JSON."""
    for place, why in _not_json(config, ""):
        key = place.removeprefix(".")
        if {"options", "extra_body"} & set(key.split(".")):
            yield (key,), f"{key}: {why} cannot be written as JSON"


def _cost(config: Plain) -> Iterator[Finding]:
    model = config["model"]
    if config["agent"]["max_cost_usd"] is None or model["kind"] != "openai":
        return
    if missing := [f"model.{name}" for name in missing_prices(model, model["name"])]:
        yield (
            ("agent.max_cost_usd", "model.kind", *missing),
            _unpriced("agent.max_cost_usd", model["name"], missing),
        )


def _unpriced(key: str, name: str | None, missing: Sequence[str]) -> str:
    unknown = "" if name is None else f", and those of {name!r} at this address are not known"
    return f"{key}: cannot be kept without prices{unknown}: set {' and '.join(missing)}"


def _budget(config: Plain) -> Iterator[Finding]:
    if config["budget"]["usd"] is None:
        return
    names = model_names(config)
    for kind in section_kinds():
        above, _, name = kind.place.rpartition(".")
        if kind.asks and above == "agent" and name not in config["agent"]["middleware"]:
            del names[f"{kind.place}.{kind.asks}"]
    asked = {AGENT, *(f"models.{name}" for name in names.values() if name not in {None, AGENT})}
    for section, model in _models(config):
        if section not in asked or model["kind"] != "openai":
            continue
        if missing := [f"{section}.{key}" for key in missing_prices(model, model["name"])]:
            yield (
                ("budget.usd", "users.kind", f"{section}.kind", *missing),
                _unpriced("budget.usd", model["name"], missing),
            )


def _extensions(config: Plain) -> Iterator[Finding]:
    """Wrappers and hooks that ship belong to a section of their own."""
    section = config["extensions"]
    listed = {name: f"extensions.{key}" for key in EXTENDED for name in section[key]}
    for key, point in EXTENDED.items():
        for name in section[key]:
            if name in point.builtin:
                yield (f"extensions.{key}",), f"extensions.{key}: {name!r} has a section of its own"
    for name in section["options"].keys() - listed.keys():
        key = "extensions.options"
        yield (key, *listed.values()), f"{key}.{name}: no list of extensions names it"


def _concurrency(config: Plain) -> Iterator[Finding]:
    model = config["model"]
    least, most = model["min_concurrency"], model["max_concurrency"]
    if most is not None and least > most:
        keys = ("model.min_concurrency", "model.max_concurrency")
        yield (
            keys,
            f"model.min_concurrency: is {least}, which is more than model.max_concurrency={most}",
        )


def _sections(config: Plain) -> Iterator[Finding]:
    for kind in section_kinds():
        yield from kind.rules(config)


RULES: tuple[Callable[[Plain], Iterator[Finding]], ...] = (
    _world, _kinds, _names, _endpoint, database_rule, _recording, _extra_body, _mistakes,
    _listed, _options,
    _cost, _concurrency, _budget, _extensions, _sections,
    *TASK_RULES,
)  # fmt: skip
VALUE_RULES = (_kinds, _options)
"""Rules about single values; they hold for an incomplete config as well."""


def broken_rules(
    config: Plain,
    bad: AbstractSet[str],
    rules: Sequence[Callable[[Plain], Iterator[Finding]]] = RULES,
) -> list[str]:
    """The lines of every rule that a complete config breaks, except where a key it looked at is
    ``bad`` anyhow.
    """

    def is_bad(key: str) -> bool:
        return any(
            key == other or key.startswith(f"{other}.") or other.startswith(f"{key}.")
            for other in bad
        )

    return [
        line
        for rule in rules
        for keys, line in rule(config)
        if not any(is_bad(key) for key in keys)
    ]
