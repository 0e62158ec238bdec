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
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")

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
        if key == "model.api_key_env":
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
    kind = config["model"]["kind"]
    if kind not in KINDS and _DOTTED.fullmatch(kind) is None:
        near = hint(nearest(kind, KINDS))
        yield ("model.kind",), f"model.kind: must be scripted, openai or package.module:attribute, not {kind!r}{near}"


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


RULES: tuple[Callable[[Plain], Iterator[Finding]], ...] = (_world, _kind, _endpoint, _extra_body, _budget, _families)


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
    if runtime["kind"] == "inline" and runtime["address"] is not None:
        lines.append("runtime.address: set, but runtime=inline runs without Ray")
    return lines
