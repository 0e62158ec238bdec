"""The part of a config that determines the data: what a resume may not change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from synth.config import KEYS, RunConfig, flat, to_dict
from synth.core.config.rules import model_names
from synth.core.config.section import section_kinds
from synth.core.foundation.hashing import digest
from synth.plugins import Extension

FINGERPRINT_VERSION = 1
"""Raised whenever the same config starts to mean other data."""

_REASONS = {
    "preflight": "asks before the first rollout; no row holds its answer",
    "env.path": "a world may be moved: its digest, checked beside the fingerprint, stays",
    "model.base_url database.dsn_env_var": "a server may be reached by another address",
    "model.path users.path": "a recording may be moved; a job finds its own by task and seed",
    "model.api_key_env": "who pays does not change what is said",
    "model.timeout_s model.max_retries": "decides how patient a request is, never the answer",
    "model.requests_per_minute model.tokens_per_minute model.max_concurrency model.min_concurrency"
    " model.start_concurrency": "decides when an endpoint is asked, never what an answer is",
    "model.stream": "decides how an answer travels, never what it is",
    "model.price_": "decides what a token is said to cost, not which token it is",
    "models": "each model that is asked goes in by its own keys",
    "database.connection.": "decides how a server is reached; sandboxes are databases of their own",
    "database.audit database.audit_level telemetry.": "logs and telemetry are not part of the data",
    "database.sandbox": "decides what becomes of a sandbox, not what happens in it",
    "runtime.": "decides where, by how many and how patiently a job is played, not its result",
    "output.dir output.root": "a run directory may be moved",
    "output.upload": "a copy of the data is the same data",
    "budget.": "a run that was drained goes on with a higher budget",
}
"""Keys, or their beginnings (``runtime.``), and why they do not determine the data."""

EXCLUDED: dict[str, str] = {
    key: why
    for names, why in _REASONS.items()
    for name in names.split()
    for key in KEYS
    if key == name or (name[-1] in "._" and key.startswith(name))
} | {key: why for kind in section_kinds() for key, why in kind.reasons()}
"""The keys that may differ between a run and its resume, each with the reason."""


def fingerprinted(config: RunConfig) -> dict[str, Any]:
    """The dotted keys and values that determine the data."""
    plain = to_dict(config)
    kept = {key: value for key, value in flat(plain).items() if key not in EXCLUDED}
    for kind, extension in section_kinds().items():
        if extension.distribution and not config.uses(kind):  # installed or not, it decides nothing
            kept = {key: value for key, value in kept.items() if key not in kind.dotted()}
    for name in model_names(plain).values():
        for key, value in plain["models"].get(name, {}).items():
            if f"model.{key}" not in EXCLUDED:
                kept[f"models.{name}.{key}"] = value
    if config.tasks.splits is not None:
        # Their order counts, and a digest does not see that of a mapping.
        kept["tasks.splits"] = [[name, sorted(own)] for name, own in config.tasks.splits.items()]
    kept["agent.middleware"] = [name for name in config.agent.middleware if name != "logging"]
    return kept


def fingerprint(kept: Mapping[str, Any], extensions: Iterable[Extension] = ()) -> str:
    """A digest of what :func:`fingerprinted` keeps of a config.

    ``extensions`` are those that the config names: data changes with the version of a distribution
    that provides one.
    """
    releases = sorted(
        {
            (extension.kind, extension.name, extension.distribution, extension.version)
            for extension in extensions
            if extension.distribution
        }
    )
    own = {"extensions": [list(release) for release in releases]} if releases else {}
    return digest(FINGERPRINT_VERSION, {**kept, **own})


def difference(old: RunConfig, new: RunConfig) -> list[str]:
    """One line per fingerprinted key that differs: ``tasks.count: 500 -> 600``."""
    before, after = fingerprinted(old), fingerprinted(new)
    # As the digest sees values: 1 and True, or 1 and 1.0, are not the same JSON.
    return [
        f"{key}: {_plain(before.get(key))} -> {_plain(after.get(key))}"
        for key in {**before, **after}
        if digest(before.get(key)) != digest(after.get(key))
    ]


def _plain(value: Any) -> str:
    return "null" if value is None else str(value)
