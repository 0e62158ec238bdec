"""Storage of long tool results, by rollout and output: in memory up to a limit, then in files."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from synth.core.models.kept_output import Kept

MEMORY_BYTES = 64 * 1024 * 1024
"""Bytes that a worker's store holds in memory before it moves the oldest texts to files."""

_Key = tuple[str, str]


@dataclass(slots=True)
class _Entry:
    kept: Kept
    bytes: int
    text: str | None
    file: Path | None = None


class ToolOutputStore:
    """Store of one worker, shared by its rollouts; each sees its own outputs only. Not thread-safe.

    An output's id is a number within its rollout and never part of a path. Files are created in
    ``folder`` when they are first needed.
    """

    def __init__(self, folder: Path, memory_bytes: int = MEMORY_BYTES) -> None:
        self._folder = folder
        self._room = memory_bytes
        self._rollouts: dict[str, dict[str, _Entry]] = {}
        self._in_memory: OrderedDict[_Key, _Entry] = OrderedDict()
        self._files = 0

    def put(self, rollout_id: str, text: str) -> Kept:
        """Keep a call's result until its rollout ends. Raises OSError if a file is needed and
        cannot be written.
        """
        own = self._rollouts.setdefault(rollout_id, {})
        kept = Kept(f"output_{len(own)}", len(text))
        entry = _Entry(kept, len(text.encode("utf-8", "surrogatepass")), text)
        own[kept.output_id] = entry
        self._in_memory[rollout_id, kept.output_id] = entry
        self._room -= entry.bytes
        while self._room < 0:
            self._spill()
        return kept

    def get(self, rollout_id: str, output_id: str) -> str | None:
        """Return the whole text; None if this rollout has no such output."""
        entry = self._rollouts.get(rollout_id, {}).get(output_id)
        if entry is None:
            return None
        if entry.text is None:
            assert entry.file is not None
            return entry.file.read_bytes().decode("utf-8", "surrogatepass")
        return entry.text

    def ids(self, rollout_id: str) -> list[str]:
        """Return the ids of this rollout's outputs, in order."""
        return list(self._rollouts.get(rollout_id, {}))

    def drop(self, rollout_id: str) -> None:
        """Delete all outputs of a rollout, its files included."""
        for output_id, entry in self._rollouts.pop(rollout_id, {}).items():
            if self._in_memory.pop((rollout_id, output_id), None) is not None:
                self._room += entry.bytes
            if entry.file is not None:
                entry.file.unlink(missing_ok=True)

    def close(self) -> None:
        """Delete everything. Safe to call twice."""
        for rollout_id in list(self._rollouts):
            self.drop(rollout_id)

    def _spill(self) -> None:
        """Move the oldest text out of memory."""
        _, entry = self._in_memory.popitem(last=False)
        assert entry.text is not None
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._files += 1
        entry.file = self._folder / f"{self._files}.txt"
        entry.file.write_bytes(entry.text.encode("utf-8", "surrogatepass"))
        entry.text = None
        self._room += entry.bytes
