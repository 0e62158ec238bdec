"""Worlds on the Hub: published with a card and proofs, fetched by ``env=hf:org/name``."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import yaml

from envs.world.files import world_files
from envs.world.loader import World
from synth.core.cli.consent_question import consent_by
from synth.core.dataset.store.card import table
from synth.core.dataset.upload import Uploaded
from synth.core.foundation.archive import pack_world
from synth.core.foundation.consent import remember, require_consent, world_part
from synth.core.foundation.shipped import version
from synth.core.validation.cache import ReportCache
from synth.core.validation.check import Options
from synth.core.validation.world import WorldReport, check_world
from synth.errors import OperatorError
from synth.ext.hub.repository import push, snapshot

CARD, OWN_README = "README.md", "WORLD.md"
"""The card takes the place of the world's README, which travels beside it."""


@cache
def fetch(name: str, trust: bool = False) -> Path:
    """The folder of the world ``org/name`` or ``org/name@revision``, fetched once a process.

    Raises OperatorError with what the Hub says, and :class:`~synth.errors.UntrustedCode` where
    nobody consents to its code; ``trust`` is such a consent, for later commands too.
    """
    repo, _, revision = name.partition("@")
    cache = _cache()
    fetched = snapshot(repo, revision=revision or None, cache_dir=cache / "hub")
    # A folder for each commit: another process may play the world meanwhile.
    folder = cache / fetched.name / repo.rpartition("/")[2]
    if not folder.is_dir():
        _unpack(fetched, folder)
    part = world_part(pack_world(folder))
    if trust:
        remember([part])
    require_consent(folder, [part], consent_by(trust))
    return folder


def _unpack(fetched: Path, folder: Path) -> None:
    """Write a world's folder, whole or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        made = Path(place) / folder.name
        shutil.copytree(fetched, made, ignore=shutil.ignore_patterns(".git*"))
        (made / CARD).unlink(missing_ok=True)
        if (made / OWN_README).is_file():
            (made / OWN_README).rename(made / CARD)
        try:
            made.rename(folder)
        except OSError:
            if not folder.is_dir():  # another process was first
                raise


def _cache() -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".cache") / "synth" / "worlds"


def prove(world: World, *, reviewed: bool) -> WorldReport:
    """Prove a world that is to be published.

    Raises OperatorError for a family that does not prove itself, and for personal columns that
    nobody has ``reviewed``.
    """
    options = Options(universes=2 if world.universes else 1)
    cache = ReportCache(world, options.key)
    report = check_world(world.path, options, lambda _: None, None, cache)  # the card shows it
    if not report.ok:
        bad = ", ".join(family.family for family in report.families if not family.ok)
        raise OperatorError(f"{world.name} does not prove itself ({bad}): see synth check")
    if report.personal and not reviewed:
        raise OperatorError(
            f"its seed has personal columns: {', '.join(report.personal)}. Look at them, then add"
            " --personal-data-reviewed"
        )
    return report


def push_world(
    world: World, card: str, repo: str, *, private: bool, say: Callable[[str], None]
) -> Uploaded:
    """Upload the files of a world with its card. Raises OperatorError with what the Hub says, and
    :class:`~envs.errors.WorldError` for a file that holds a key.
    """
    pack_world(world.path)  # refuses secrets
    with tempfile.TemporaryDirectory() as home:
        page = Path(home) / CARD
        page.write_text(card, "utf-8")
        files = {
            OWN_README if name == CARD else name: file
            for name, file in world_files(world.path).items()
        }
        return push(files | {CARD: page}, repo, private=private, say=say)


def world_card(world: World, report: WorldReport, repo: str, license_id: str) -> str:
    """The card of a world: how to run it, its tools, its families, and what proves them."""
    header = {
        "license": license_id,
        "pretty_name": repo.rpartition("/")[2],
        "tags": ["synth-world", "tool-use", "function-calling"],
    }
    text = yaml.safe_dump(header, sort_keys=False, allow_unicode=True).rstrip("\n")
    readme = world.path / CARD
    own = readme.read_text("utf-8").strip() if readme.is_file() else f"# {world.name}"
    return "\n".join(
        ["---", text, "---", "", own, "", *_use(repo), *_tools(world), *_families(report)]
    )


def _use(repo: str) -> list[str]:
    return ["## Use", "", "```sh", f"synth run env=hf:{repo}", "```", ""]


def _tools(world: World) -> Iterator[str]:
    yield from (f"## Tools ({len(world.toolbox.tools)})", "")
    rows = [
        (f"`{tool.name}`", "reads" if tool.read_only else "writes", tool.description.split("\n")[0])
        for tool in world.toolbox.tools
    ]
    yield from table(("tool", "", "what it does"), rows)


def _families(report: WorldReport) -> Iterator[str]:
    total = sum(family.capacity for family in report.families)
    yield from (f"## Families ({len(report.families)}, {total:,} tasks)", "")
    rows = [
        (
            f"`{family.family}`",
            f"{family.capacity:,}",
            str(family.tasks),
            str(family.honest_won.total()),
            str(family.killed.total()),
        )
        for family in report.families
    ]
    header = ("family", "tasks", "proved", "honest agents won", "attacks and mutants lost")
    yield from table(header, rows)
    yield f"Proved by `synth check`, synth {version()}."
