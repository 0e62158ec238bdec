"""What must hold between the keys of a config, and what may stand in none of them.

These rules read the plain dict, so that :mod:`synth.config` can stay a description of its shape.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

from synth.credentials import ADVICE, is_secret_key, is_variable_name, looks_secret
from synth.nearest import hint, nearest

Plain = Mapping[str, Any]
Finding = tuple[tuple[str, ...], str]
"""The keys that a rule looked at, and the line that says what is wrong with them."""

KINDS = ("scripted", "openai")
USERS = ("scripted", "none")
NAMES_OF_VARIABLES = frozenset({"model.api_key_env", "database.dsn_env_var"})
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_SPLIT = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
"""The names that `datasets` takes; it keeps `all` for itself."""

_OURS = {
    "model": "model.name",
    "temperature": "model.temperature",
    "top_p": "model.top_p",
    "max_tokens": "model.max_tokens",
    "messages": None,
    "tools": None,
    "stream": None,
    "stream_options": None,
    "n": None,
}
"""Fields of a request that are not extra: where each is set, or None where the rollout sets it."""


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
    """The keys that hold what looks like a secret, each with a line that explains and does not show it."""
    found: dict[str, str] = {}
    for key, value in walk(raw):
        filled = value is not None and value != "" and value is not False
        if key in NAMES_OF_VARIABLES:
            if isinstance(value, str) and value and not is_variable_name(value):
                found[key] = f"{key}: takes the name of an environment variable, and this is none: {ADVICE}"
        elif filled and is_secret_key(key):
            found[key] = f"{key}: no secret belongs in a config: {ADVICE}"
        elif isinstance(value, str) and looks_secret(value):
            found[key] = f"{key}: this looks like a secret: {ADVICE}"
        elif key == "model.base_url" and isinstance(value, str) and _url_holds_secret(value):
            found[key] = f"{key}: the URL holds a user, a password or a key: {ADVICE}"
    return found


def _url_holds_secret(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:  # no URL at all; said elsewhere, but a user and a password may stand in it
        return "@" in url
    named = any(is_secret_key(name) or name.lower() in {"key", "sig"} for name, _ in parse_qsl(parts.query))
    return "@" in parts.netloc or named


def _world(config: Plain) -> Iterator[Finding]:
    env = config["env"]
    keys = ("env.name", "env.path")
    if env["name"] is None and env["path"] is None:
        yield keys, "env: no world: give env.name (one that ships) or env.path (a folder of your own)"
    if env["name"] is not None and env["path"] is not None:
        both = f"env.name is {env['name']!r} and env.path is {env['path']!r}"
        yield keys, f"env: which world? {both}; set the one that is not meant to null"


def _kind(config: Plain) -> Iterator[Finding]:
    for key, kind, known in (
        ("model.kind", config["model"]["kind"], KINDS),
        ("users.kind", config["users"]["kind"], USERS),
    ):
        if kind not in known and _DOTTED.fullmatch(kind) is None:
            near = hint(nearest(kind, known))
            yield (key,), f"{key}: must be {', '.join(known)} or package.module:attribute, not {kind!r}{near}"


def _endpoint(config: Plain) -> Iterator[Finding]:
    model = config["model"]
    if model["kind"] == "openai" and model["name"] is None:
        yield (
            ("model.kind", "model.name"),
            "model.name: model=openai needs the name of a model, as in model.name=gpt-4.1-mini",
        )
    url: str | None = model["base_url"]
    if url is not None and not _is_url(url):
        yield ("model.base_url",), f"model.base_url: must be a URL such as http://127.0.0.1:8000/v1, not {url!r}"


def _is_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a bracket left open, a port that is no number
        return False


def _extra_body(config: Plain) -> Iterator[Finding]:
    key = "model.extra_body"
    body = config["model"]["extra_body"]
    for name in sorted(set(body) & set(_OURS)):
        place = f"set {_OURS[name]} instead" if _OURS[name] else "the rollout sets it"
        yield (f"{key}.{name}",), f"{key}.{name}: this is not extra: {place}"
    for place, why in _not_json(body, key):
        yield (place,), f"{place}: {why} cannot be written as JSON"


def _not_json(value: Any, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, inner in cast("Mapping[Any, Any]", value).items():
            if not isinstance(name, str):
                yield f"{key}.{name}", f"a key that is no text ({name!r})"
            yield from _not_json(inner, f"{key}.{name}")
    elif isinstance(value, list):
        for index, inner in enumerate(cast("list[Any]", value)):
            yield from _not_json(inner, f"{key}.{index}")
    elif isinstance(value, float) and not math.isfinite(value):
        yield key, str(value)
    elif value is not None and not isinstance(value, bool | int | float | str):
        yield key, f"a value of type {type(cast('object', value)).__name__}"


def _mistakes(config: Plain) -> Iterator[Finding]:
    model = config["model"]
    kinds: list[str] = model["mistakes"] or []
    for name in sorted({name for name in kinds if kinds.count(name) > 1}):
        yield ("model.mistakes",), f"model.mistakes: {name!r} is listed twice"
    if kinds and model["kind"] != "scripted":
        keys = ("model.kind", "model.mistakes")
        yield (
            keys,
            f"model.mistakes: only the scripted expert makes mistakes when told to; {model['kind']} makes its own",
        )


def _budget(config: Plain) -> Iterator[Finding]:
    model = config["model"]
    prices = ("price_input_usd_per_mtok", "price_output_usd_per_mtok")
    missing = [f"model.{name}" for name in prices if model[name] is None]
    if config["budget"]["usd"] is not None and model["kind"] == "openai" and missing:
        yield (
            ("budget.usd", "model.kind", *missing),
            f"budget.usd: cannot be kept without prices: set {' and '.join(missing)}",
        )


def _families(config: Plain) -> Iterator[Finding]:
    families: list[str] = config["tasks"]["families"] or []
    for name in sorted({name for name in families if families.count(name) > 1}):
        yield ("tasks.families",), f"tasks.families: {name!r} is listed twice"


def _splits(config: Plain) -> Iterator[Finding]:
    """Each universe belongs to one split, and each split has a name and a universe."""
    tasks = config["tasks"]
    splits: dict[str, list[int]] | None = tasks["splits"]
    if splits is None:
        return
    if not splits:
        yield ("tasks.splits",), "tasks.splits: names no split; null makes all of it the split train"
    for name, own in splits.items():
        if not _SPLIT.fullmatch(name) or name == "all":
            why = "means all of them" if name == "all" else "must be a letter, then up to 63 letters, digits or _"
            yield ("tasks.splits",), f"tasks.splits.{name}: the name of a split {why}"
        if not own:
            yield ("tasks.splits",), f"tasks.splits.{name}: has no universe; give it some or leave it out"
    given = [universe for own in splits.values() for universe in own]
    count: int = tasks["universes"]
    for universe in sorted({universe for universe in given if given.count(universe) > 1}):
        places = [name for name, own in splits.items() for _ in range(own.count(universe))]
        yield ("tasks.splits",), f"tasks.splits: universe {universe} is given twice, to {' and '.join(places)}"
    both = ("tasks.splits", "tasks.universes")
    for universe in sorted({universe for universe in given if universe >= count}):
        there = f"with tasks.universes={count} they are numbered from 0 to {count - 1}"
        yield both, f"tasks.splits: there is no universe {universe}; {there}"
    if splits and (missing := sorted(set(range(count)) - set(given))):
        shown = ", ".join(map(str, missing[:8])) + (", ..." if len(missing) > 8 else "")
        word = "universe" if len(missing) == 1 else "universes"
        yield both, f"tasks.splits: {word} {shown} of tasks.universes={count} belong to no split"


def _held_out(config: Plain) -> Iterator[Finding]:
    tasks = config["tasks"]
    held: list[str] = tasks["held_out"] or []
    for name in sorted({name for name in held if held.count(name) > 1}):
        yield ("tasks.held_out",), f"tasks.held_out: {name!r} is listed twice"
    if held and len(tasks["splits"] or ()) < 2:
        example = "'tasks.splits={train:[0,1,2],test:[3]}' with tasks.universes=4"
        keys = ("tasks.held_out", "tasks.splits")
        yield keys, f"tasks.held_out: held out from the first split, for which there must be a second: {example}"
    families: list[str] | None = tasks["families"]
    for name in dict.fromkeys(held) if families else ():
        if name not in (families or ()):
            near = hint(nearest(name, families or ()))
            yield ("tasks.held_out", "tasks.families"), f"tasks.held_out: {name!r} is not in tasks.families{near}"


RULES: tuple[Callable[[Plain], Iterator[Finding]], ...] = (
    _world, _kind, _endpoint, _extra_body, _mistakes, _budget, _families, _splits, _held_out,
)  # fmt: skip


def broken_rules(config: Plain, bad: AbstractSet[str]) -> list[str]:
    """The lines of every rule that a complete config breaks, except where a key it looked at is ``bad`` anyhow."""

    def is_bad(key: str) -> bool:
        return any(key == other or key.startswith(f"{other}.") or other.startswith(f"{key}.") for other in bad)

    return [line for rule in RULES for keys, line in rule(config) if not any(is_bad(key) for key in keys)]


def notices(config: Plain) -> list[str]:
    """What is allowed, works, and is perhaps not what was meant; one line each."""
    model, runtime = config["model"], config["runtime"]
    lines: list[str] = []
    asked = [f"model.{name}" for name in ("name", "base_url", "temperature", "top_p", "max_tokens") if model[name]]
    if model["kind"] == "scripted" and asked:
        lines.append(f"{', '.join(asked)}: set, but the scripted expert asks no model; to ask one, add model=openai")
    if model["mistake_rate"] != 0.3 and not model["mistakes"]:
        lines.append("model.mistake_rate: set, but model.mistakes names no kind of mistake")
    if runtime["kind"] == "inline" and runtime["address"] is not None:
        lines.append("runtime.address: set, but runtime=inline runs without Ray")
    return lines
