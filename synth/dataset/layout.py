"""Which shard a job belongs to: known before anything is made, a function of the index."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Self

Json = Any

_SPLIT: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Shard:
    """Jobs ``start`` up to ``stop`` of the plan; ``path`` is relative to the run directory, with forward slashes."""

    number: int
    split: str
    start: int
    stop: int
    path: str

    @property
    def jobs(self) -> range:
        return range(self.start, self.stop)


@dataclass(frozen=True)
class Layout:
    """Contiguous ranges of the plan, one per split (name, jobs), each cut into shards of ``rows_per_shard`` jobs.

    Shards are numbered through the run, files per split. Raises ValueError for a split name that `datasets` would not
    read, a repeated one, or sizes that make no sense.
    """

    splits: tuple[tuple[str, int], ...]
    rows_per_shard: int

    def __post_init__(self) -> None:
        if self.rows_per_shard < 1:
            raise ValueError(f"rows_per_shard must be at least 1, not {self.rows_per_shard}")
        names = [name for name, _ in self.splits]
        if len(set(names)) != len(names):
            raise ValueError(f"a split is named twice: {', '.join(names)}")
        for name, size in self.splits:
            if not _SPLIT.fullmatch(name) or name == "all":  # `datasets` means all of them by it
                raise ValueError(f"not a name for a split: {name!r}")
            if size < 0:
                raise ValueError(f"split {name} has {size} jobs")

    @cached_property
    def _bounds(self) -> tuple[list[int], list[int]]:
        """First job and first shard of each split, with the totals at the end."""
        jobs, shards = [0], [0]
        for _, size in self.splits:
            jobs.append(jobs[-1] + size)
            shards.append(shards[-1] + -(-size // self.rows_per_shard))
        return jobs, shards

    @property
    def jobs(self) -> int:
        return self._bounds[0][-1]

    def __len__(self) -> int:
        """How many shards there are."""
        return self._bounds[1][-1]

    def shard(self, number: int) -> Shard:
        """The shard of that number; IndexError where there is none."""
        if not 0 <= number < len(self):
            raise IndexError(f"no shard {number} among {len(self)}")
        jobs, shards = self._bounds
        place = bisect_right(shards, number) - 1
        name, _ = self.splits[place]
        own, of = number - shards[place], shards[place + 1] - shards[place]
        start = jobs[place] + own * self.rows_per_shard
        stop = min(start + self.rows_per_shard, jobs[place + 1])
        return Shard(number, name, start, stop, f"data/{name}-{own:05d}-of-{of:05d}.parquet")

    def shard_of(self, index: int) -> int:
        """The number of the shard that job ``index`` belongs to; IndexError outside the plan."""
        if not 0 <= index < self.jobs:
            raise IndexError(f"no job {index} among {self.jobs}")
        jobs, shards = self._bounds
        place = bisect_right(jobs, index) - 1
        return shards[place] + (index - jobs[place]) // self.rows_per_shard

    def split_of(self, index: int) -> str:
        """The split that job ``index`` belongs to; IndexError outside the plan."""
        return self.shard(self.shard_of(index)).split

    def __iter__(self) -> Iterator[Shard]:
        return (self.shard(number) for number in range(len(self)))

    def to_json(self) -> dict[str, Json]:
        return {"splits": [list(pair) for pair in self.splits], "rows_per_shard": self.rows_per_shard}

    @classmethod
    def from_json(cls, raw: Mapping[str, Json]) -> Self:
        """Raises KeyError, TypeError or ValueError for what :meth:`to_json` did not write."""
        pairs: Sequence[Sequence[Json]] = raw["splits"]
        return cls(tuple((str(name), int(size)) for name, size in pairs), int(raw["rows_per_shard"]))
