"""Provenance of extensions: their distributions and versions, recorded and compared.

Data that an extension made depends on its version. The driver records the version of every
extension in the manifest, a worker refuses to start with another one, and so does a resume.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from envs.errors import EnvsError
from envs.sandboxes.base import Template
from envs.world.loader import World
from synth.core.dataset.store.run_info import RunInfo
from synth.core.runner.setup import RunSpec
from synth.errors import OperatorError, ResumeRefused
from synth.plugins import RUNTIMES, WORLDS, Extension, resolve

_FREE = (RUNTIMES.kind, WORLDS.kind)
"""Where a job runs is not part of its result; a world is pinned by the digest of its files."""


def records(extensions: Iterable[Extension]) -> list[dict[str, str]]:
    """The rows of the manifest's ``identity.more.extensions``: all but what ships with synth."""
    found = {
        (extension.kind, extension.name): {
            "kind": extension.kind,
            "name": extension.name,
            "target": extension.target,
            "distribution": extension.distribution,
            "version": extension.version,
        }
        for extension in extensions
        if extension.distribution or ":" in extension.name
    }
    return [found[key] for key in sorted(found)]


def check_installed(extensions: Iterable[Extension], where: str) -> None:
    """Refuse to work with another version of an extension than the driver has.

    ``where`` names this process. Raises :class:`OperatorError` that names both versions.
    """
    for extension in extensions:
        if not extension.distribution:
            continue
        here = _installed(extension.distribution)
        if here != extension.version:
            raise OperatorError(
                f"{where} has {extension.distribution} {here or 'not installed'}, the driver has"
                f" {extension.version} (it provides the {extension.kind} {extension.name!r});"
                " install the same version on all machines"
            )


def check_unchanged(recorded: Sequence[Mapping[str, str]], extensions: Iterable[Extension]) -> None:
    """Refuse to continue a run with other versions of its extensions.

    ``recorded`` are the rows of :func:`records` in the run's manifest. Raises
    :class:`ResumeRefused` that names both versions.
    """
    now = {(row["kind"], row["name"]): row for row in records(extensions)}
    lines = [
        f"the {row['kind']} {row['name']!r}: {_release(row)} -> {_release(other)}"
        for row in recorded
        if row["kind"] not in _FREE
        and (other := now.get((row["kind"], row["name"]))) is not None
        and _release(row) != _release(other)
    ]
    if lines:
        raise ResumeRefused(
            "the run was made with other versions of its extensions, which a resume may not"
            " change:\n  " + "\n  ".join(lines)
        )


def _release(row: Mapping[str, str]) -> str:
    return f"{row['distribution']} {row['version']}".strip() or row["target"]


def _installed(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


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
