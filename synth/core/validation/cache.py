"""Cache of clean reports on disk, each under a key of everything that it depends on."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from envs.world.files import PHRASINGS, world_digest
from envs.world.loader import World
from synth.core.foundation.hashing import digest
from synth.core.tasks.phrasings import read_phrasings
from synth.core.tasks.yaml.source_map import Map, Seq, load_yaml
from synth.errors import SynthError

SOURCE = frozenset({".py", ".yaml"})
"""Suffixes of the files that this software is made of."""

FILE = "tasks.yaml"
"""The file of a world whose families are kept under keys of their own."""


class ReportCache:
    """One small JSON file per world and entry, replaced when the key changes: the cache grows with
    the number of worlds, not of edits.

    ``fault`` is the reason for which an entry could not be written; None if none failed.
    """

    def __init__(
        self, world: World, options: Mapping[str, object], home: Path | None = None
    ) -> None:
        self._shared = [source_digest(), list(sys.version_info[:3]), dict(options)]
        self._world = world
        self.key = digest(world.digest, *self._shared)
        self.folder = (home or _cache_home()) / f"{world.name}-{digest(str(world.path), length=8)}"
        self.fault: str | None = None

    def family_key(self, family: str) -> str:
        """The key of a family's report: its own definition and phrasings, and all of the world but
        the other families of tasks.yaml and their phrasings.
        """
        definition, words = self._definitions.get(family), self._phrasings.get(family, [])
        return self.key if definition is None else digest(definition[0], *words, self._base)

    def family_line(self, family: str) -> int:
        """The line of a family in tasks.yaml; 0 for one that is not there."""
        return self._definitions.get(family, ("", 0))[1]

    @cached_property
    def _base(self) -> str:
        return digest(world_digest(self._world.path, {FILE, PHRASINGS}), *self._shared)

    @cached_property
    def _definitions(self) -> Mapping[str, tuple[str, int]]:
        return definitions(self._world.path / FILE)

    @cached_property
    def _phrasings(self) -> Mapping[str, list[object]]:
        found: dict[str, list[object]] = {}
        with contextlib.suppress(SynthError):  # reported where the families are read
            for phrasing in read_phrasings(self._world.path):
                found.setdefault(phrasing.family, []).append(phrasing.to_json())
        return found

    def read(self, entry: str, key: str | None = None) -> Any:
        """The value that was written under a key, by default for the whole world; None if missing
        or unreadable.
        """
        try:
            raw: object = json.loads((self.folder / f"{entry}.json").read_text("utf-8"))
        except (OSError, ValueError):
            return None
        found = cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}
        return found.get("value") if found.get("key") == (key or self.key) else None

    def write(self, entry: str, value: object, key: str | None = None) -> None:
        """Write a value; a reader sees the old file or the new one, never half of one."""
        text = json.dumps({"key": key or self.key, "value": value}, ensure_ascii=False, indent=1)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.folder, prefix=f".{entry[:40]}-")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(text)
                Path(name).replace(self.folder / f"{entry}.json")
            finally:
                with contextlib.suppress(FileNotFoundError):
                    Path(name).unlink()
        except (
            OSError
        ) as error:  # a read-only home or a full disk: the proofs are valid without a cache
            self.fault = f"{self.folder}: {error.strerror or error}"


def definitions(file: Path) -> dict[str, tuple[str, int]]:
    """By the id of each family in a tasks.yaml, a digest of what it says and what the file says for
    all families, and its line. Empty for a file that is not there or cannot be read.
    """
    try:
        top = load_yaml(file) if file.is_file() else None
    except SynthError:
        return {}
    listed: object = top.get("families") if isinstance(top, Map) else None
    if not isinstance(top, Map) or not isinstance(listed, Seq):
        return {}
    rules = repr({key: value for key, value in top.items() if key != "families"})
    families = [item for item in listed if isinstance(item, Map)]
    return {str(item.get("id")): (digest(rules, repr(item)), item.line) for item in families}


def _cache_home() -> Path:
    """``$XDG_CACHE_HOME/synth/check``, by default below ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    home = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    return home / "synth" / "check"


@lru_cache(maxsize=1)
def source_digest() -> str:
    """Digest of this software's own source; a proof by other code does not count."""
    total = hashlib.sha256()
    for package in ("envs", "synth"):
        root = Path(str(files(package)))
        for file in sorted(root.rglob("*")):
            if file.suffix in SOURCE and "_shipped" not in file.parts:
                total.update(f"{package}/{file.relative_to(root).as_posix()}\0".encode())
                total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()[:16]
