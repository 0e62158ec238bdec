"""The attached database of a run: recorded when the tasks are planned, and compared afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from envs.errors import EnvsError
from envs.sandboxes.base import Template
from envs.world.loader import World
from synth.core.dataset.store.run_info import RunInfo
from synth.core.runner.setup import RunSpec
from synth.plugins import resolve

DATABASE = "database"
"""The key of the manifest's ``identity.more`` that holds the database's fingerprint."""


def with_fingerprint(spec: RunSpec, template: Template) -> RunSpec:
    """The spec with what a template's database is recognised by, for the workers."""
    if template.fingerprint is None:
        return spec
    return replace(spec, target=replace(spec.target, fingerprint=template.fingerprint))


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    found: list[str] = resolve("envs.sandboxes.attached.description:differences")(before, now)
    return found


def changes_of(info: RunInfo | None, now: Mapping[str, Any] | None) -> list[str]:
    """A line for each table that is not what it was when a run was planned."""
    before = None if info is None else info.identity.more.get(DATABASE)
    return [] if before is None or now is None else _differences(before, now)


def changes_since(spec: RunSpec, world: World) -> list[str]:
    """A line for each table that is not what it was when the tasks were planned; empty for a
    database that was built.
    """
    before = spec.target.fingerprint
    if before is None:
        return []
    try:
        with world.template(spec.engine, 0, replace(spec.target, fingerprint=None)) as template:
            return _differences(before, template.fingerprint or {})
    except EnvsError as error:
        return [f"it cannot be read any more ({error})"]
