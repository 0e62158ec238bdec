"""What was proved is not proved again: clean reports on disk, each under a key that names everything it depends on."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from envs.folder import World
from synth.canonical import digest

Json = Any


class ReportCache:
    """One small JSON file per world and entry, replaced when the key is another: it grows with the worlds, not with edits.

    ``fault`` says why nothing could be written, once it could not.
    """

    def __init__(self, world: World, options: Mapping[str, Json], home: Path | None = None) -> None:
        self.key = digest(world.digest, source_digest(), list(sys.version_info[:3]), dict(options))
        self.folder = (home or cache_home()) / f"{world.name}-{digest(str(world.path), length=8)}"
        self.fault: str | None = None

    def read(self, entry: str) -> Json:
        """What was kept under this key; None where there is nothing, or nothing that can be read."""
        try:
            raw: Json = json.loads((self.folder / f"{entry}.json").read_text("utf-8"))
        except (OSError, ValueError):
            return None
        found = cast("dict[str, Json]", raw) if isinstance(raw, dict) else {}
        return found.get("value") if found.get("key") == self.key else None

    def write(self, entry: str, value: Json) -> None:
        """Keep a value; a reader sees the old file or the new one, never half of one."""
        text = json.dumps({"key": self.key, "value": value}, ensure_ascii=False, indent=1)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.folder, prefix=f".{entry[:40]}-")
            try:
                with open(handle, "w", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor, not a path
                    file.write(text)
                Path(name).replace(self.folder / f"{entry}.json")
            finally:
                with contextlib.suppress(FileNotFoundError):
                    Path(name).unlink()
        except OSError as error:  # a read-only home, a full disk: the proofs stand all the same
            self.fault = f"{self.folder}: {error.strerror or error}"


def cache_home() -> Path:
    """``$XDG_CACHE_HOME/synth/check``, by default below ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    home = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    return home / "synth" / "check"


@lru_cache(maxsize=1)
def source_digest() -> str:
    """Digest of this software's own source: what other code proved is proved anew."""
    total = hashlib.sha256()
    for wing in ("envs", "synth"):
        root = Path(str(files(wing)))
        for file in sorted(root.rglob("*.py")):
            if "_shipped" not in file.parts:
                total.update(f"{wing}/{file.relative_to(root).as_posix()}\0".encode())
                total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()[:16]
