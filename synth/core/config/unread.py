"""The keys of a config that differ from their defaults, and those among them that nobody reads.

What a kind reads is what it declares: the fields of its ``Options``. A key that another kind of
the same extension point declares is not read by this one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from envs.ledger import Ledger
from synth.config import KEYS, RunConfig, flat, to_dict
from synth.core.config.options import option_names
from synth.core.config.rules import EXTENSIONS, LISTED, model_names
from synth.core.config.section import section_kinds
from synth.core.config.task_rules import standard_keys
from synth.plugins import ENGINES, ExtensionPoint, PluginError

OVERRIDE = "override"
"""The kind of the entries in an account."""

_SWITCHES: Mapping[str, str] = {"database.audit_level": "database.audit"}
"""For a key of the core, the key without which nobody reads it."""

_OF_THE_CORE = {"kind", "options", "concurrency", "max_attempts", "breaker_window", "breaker_rate"}
"""Keys of a section that the core reads whatever the kind is: no other kind is imported to learn
whether it reads them. Ray takes a third of a second.
"""


def unread(config: RunConfig, *, talks: bool = True) -> Ledger:
    """Return the account of the keys that differ from their defaults. ``talks`` is False if no task
    of the run has a user.
    """
    plain = to_dict(config)
    values, usual = flat(plain), flat(to_dict(RunConfig()))
    models = [f"models.{name}" for name in config.models]
    given = [key for key in KEYS if values[key] != usual[key] and key != "models"] + models
    asked = {f"models.{name}" for name in model_names(plain).values()}
    reasons = [*_reasons(values, given), *((key, "nobody asks it") for key in {*models} - asked)]
    if not talks:
        reasons.insert(0, ("users", "no task of this run has a user"))
    account = Ledger()
    account.found(OVERRIDE, len(given))
    for key in given:
        why = next((why for part, why in reasons if _within(key, part)), None)
        if why is None:
            account.use(OVERRIDE)
        else:
            account.leave_out(OVERRIDE, key, why)
    return account


def _within(key: str, part: str) -> bool:
    return key == part or key.startswith(f"{part}.")


def _reasons(values: Mapping[str, Any], given: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Sections and keys of those ``given`` that nobody reads, each with the reason."""
    for part, switch in (*_SWITCHES.items(), *_needed()):
        if not values[switch]:
            yield part, f"{switch} is not set"
    for section, listing, point in LISTED:
        for name in point.builtin:
            if name not in values[f"{section}.{listing}"]:
                yield f"{section}.{name}", f"{section}.{listing} does not list {name}"
    engine = values["database.engine"]
    if not getattr(ENGINES.load(engine), "needs_server", True):
        yield "database.connection", f"database={engine} has no server"
    for key, point in EXTENSIONS.items():
        section, _, last = key.partition(".")
        if last != "kind":
            continue
        asked = [one for one in given if _within(one, section)]
        if section == "tasks":  # the others are the run's own
            asked = [one for one in asked if one.rpartition(".")[2] in standard_keys()]
        if asked:
            yield from _of_kind(section, point, values, asked)


def _needed() -> Iterator[tuple[str, str]]:
    """For a section or a key of it, the key without which nobody reads it."""
    for kind in section_kinds():
        for key, switch in kind.needs.items():
            yield f"{kind.place}.{key}".removesuffix("."), f"{kind.place}.{switch}"


def _of_kind(
    section: str, point: ExtensionPoint, values: Mapping[str, Any], given: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """What the extension that a section names does not read of the keys ``given`` there."""
    name = values[f"{section}.kind"]
    factory = point.load(name)
    own = option_names(factory)
    if own is None:
        return
    if getattr(factory, "asks_model", True) is False:
        yield f"{section}.model", f"{section}={name} asks no model"
    idle = not getattr(factory, "asks_endpoint", True)
    ignored: tuple[str, ...] = getattr(factory, "ignores", ())
    read_anyway = _OF_THE_CORE.difference(ignored)
    for key in given:
        head, _, last = key.rpartition(".")
        if head != section or last in read_anyway:
            continue
        if last in ignored or last not in own:
            readers = [
                f"{section}={other}"
                for other in point.builtin
                if other != name and last in _declared(point, other)
            ]
            if last in ignored or idle or readers:
                why = f"{section}={name} {'asks no endpoint' if idle else 'does not read it'}"
                yield key, f"{why}; see {', '.join(readers)}".removesuffix("; see ")


def _declared(point: ExtensionPoint, name: str) -> list[str]:
    with contextlib.suppress(PluginError):  # a package of another kind is not installed
        return option_names(point.load(name)) or []
    return []
