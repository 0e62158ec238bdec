"""Assignment of jobs to shards: a function of the job index, known before the run begins."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from synth.core.types.json_form import JsonForm

_SPLIT: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Shard:
    """Jobs from ``start`` up to, but not including, ``stop``; ``path`` is relative to the run
    directory, with forward slashes.
    """

    number: int
    split: str
    start: int
    stop: int
    path: str

    @property
    def jobs(self) -> range:
        return range(self.start, self.stop)


@dataclass(frozen=True)
class Layout(JsonForm):
    """Contiguous ranges of the plan, one per split (name, number of jobs), divided into shards of
    ``rows_per_shard`` jobs.

    Shards are numbered through the run, files per split. Raises ValueError for a split name that
    `datasets` does not accept, a duplicate name, and impossible sizes.
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
            if not _SPLIT.fullmatch(name) or name == "all":  # in `datasets`, "all" means all splits
                raise ValueError(f"{name!r} is not a valid name of a split")
            if size < 0:
                raise ValueError(f"split {name} has {size} jobs")

    @cached_property
    def _bounds(self) -> tuple[list[int], list[int]]:
        """First job and first shard of each split, followed by the totals."""
        jobs, shards = [0], [0]
        for _, size in self.splits:
            jobs.append(jobs[-1] + size)
            shards.append(shards[-1] + -(-size // self.rows_per_shard))
        return jobs, shards

    @property
    def jobs(self) -> int:
        return self._bounds[0][-1]

    def __len__(self) -> int:
        """Number of shards."""
        return self._bounds[1][-1]

    def shard(self, number: int) -> Shard:
        """Return the shard of that number. Raises IndexError if there is none."""
        if not 0 <= number < len(self):
            raise IndexError(f"no shard {number} among {len(self)}")
        jobs, shards = self._bounds
        split = bisect_right(shards, number) - 1
        name, _ = self.splits[split]
        own, of = number - shards[split], shards[split + 1] - shards[split]
        start = jobs[split] + own * self.rows_per_shard
        stop = min(start + self.rows_per_shard, jobs[split + 1])
        return Shard(number, name, start, stop, f"data/{name}-{own:05d}-of-{of:05d}.parquet")

    def shard_of(self, index: int) -> int:
        """Return the number of the shard of job ``index``. Raises IndexError outside the plan."""
        if not 0 <= index < self.jobs:
            raise IndexError(f"no job {index} among {self.jobs}")
        jobs, shards = self._bounds
        split = bisect_right(jobs, index) - 1
        return shards[split] + (index - jobs[split]) // self.rows_per_shard

    def split_of(self, index: int) -> str:
        """Return the split of job ``index``. Raises IndexError outside the plan."""
        return self.shard(self.shard_of(index)).split

    def __iter__(self) -> Iterator[Shard]:
        return (self.shard(number) for number in range(len(self)))
