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

_EXCLUDED = {
    "preflight": "asks before the first rollout; no row holds its answer",
    "env.path": (
        "a world may be moved: its digest, checked beside the fingerprint, says whether it"
        " is the same"
    ),
    "model.base_url": "a server may move to another host or port; model.name says what it serves",
    "model.path": "a recording may be moved; each job finds its own in it, by task and seed",
    "users.path": "a recording may be moved; each job finds its own in it, by task and seed",
    "model.api_key_env": "who pays does not change what is said",
    "model.timeout_s": (
        "decides when a request is given up and tried again, never what an answer is"
    ),
    "model.max_retries": "decides how patient a request is, never what an answer is",
    "model.requests_per_minute": "decides when an endpoint is asked, never what an answer is",
    "model.tokens_per_minute": "decides when an endpoint is asked, never what an answer is",
    "model.max_concurrency": "decides when an endpoint is asked, never what an answer is",
    "model.min_concurrency": "decides when an endpoint is asked, never what an answer is",
    "model.start_concurrency": "decides when an endpoint is asked, never what an answer is",
    "model.stream": "decides how an answer travels, never what it is",
    "model.price_input_usd_per_mtok": "decides what a token is said to cost, not which token it is",
    "model.price_output_usd_per_mtok": (
        "decides what a token is said to cost, not which token it is"
    ),
    "model.price_cached_usd_per_mtok": (
        "decides what a token is said to cost, not which token it is"
    ),
    "database.dsn_env_var": "a server may be reached by another address",
    "database.connection.driver": "says again what database.engine says",
    "database.connection.host": "a server may be reached by another address",
    "database.connection.port": "a server may be reached by another address",
    "database.connection.user": "who asks does not change what is answered",
    "database.connection.password_env_var": "who asks does not change what is answered",
    "database.connection.database": "sandboxes are databases of their own",
    "database.connection.options": "decides how a server is reached",
    "database.connection.connect_timeout_s": "decides how long a server is waited for",
    "database.connection.pool_size": "decides how many sandboxes wait for further rollouts",
    "models": "each model that is asked goes in by its own keys",
    "database.audit": "a log is not part of the data",
    "database.audit_level": "a log is not part of the data",
    "database.sandbox": "decides what becomes of a sandbox, not what happens in it",
    "runtime.kind": "where a job runs is not part of its result",
    "runtime.options": "where a job runs is not part of its result",
    "runtime.resources": "where a job runs is not part of its result",
    "runtime.runtime_env": "where a job runs is not part of its result",
    "runtime.address": "where a job runs is not part of its result",
    "runtime.workers": "the data is the same with any number of workers",
    "runtime.concurrency": "the data is the same with any number of rollouts in flight",
    "runtime.max_attempts": (
        "decides when a broken job is given up, and a resume may be more patient"
    ),
    "runtime.breaker_window": "decides when a run pauses, not what it makes",
    "runtime.breaker_rate": "decides when a run pauses, not what it makes",
    "output.dir": "a run directory may be moved",
    "output.root": "a run directory may be moved",
    "output.upload": "a copy of the data is the same data",
    "budget.usd": "a run that was drained goes on with a higher budget",
    "budget.tokens": "a run that was drained goes on with a higher budget",
    "budget.turns": "a run that was drained goes on with a higher budget",
    "budget.minutes": "a run that was drained goes on with a higher budget",
}
EXCLUDED: dict[str, str] = (
    _EXCLUDED
    | {key: "telemetry is not part of the data" for key in KEYS if key.startswith("telemetry.")}
    | {key: why for kind in section_kinds() for key, why in kind.reasons()}
)
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
    return [
        f"{key}: {_plain(before.get(key))} -> {_plain(after.get(key))}"
        for key in {**before, **after}
        if not _same(before.get(key), after.get(key))
    ]


def _plain(value: Any) -> str:
    return "null" if value is None else str(value)


def _same(left: Any, right: Any) -> bool:
    # As the digest sees it: 1 and True, or 1 and 1.0, are not the same JSON.
    return digest(left) == digest(right)
