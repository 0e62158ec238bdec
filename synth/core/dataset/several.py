"""Several datasets read as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from synth.core.dataset.reader import Dataset, Status
from synth.core.dataset.reviews import Reviews
from synth.errors import DatasetError

_WORST: Final[tuple[Status, ...]] = ("running", "interrupted", "partial", "complete")


class CombinedDataset(Dataset):
    """The rows of several datasets, one after the other, in the order that they were given.

    Its status is the worst of theirs; it has no manifest. A job index may occur in each of them,
    and so may an id, where two runs played the same jobs.
    """

    def __init__(self, members: Sequence[Dataset]) -> None:
        self.members = tuple(members)
        """The datasets."""
        found = {dataset.status for dataset in members}
        status: Status = next(word for word in _WORST if word in found)
        parts = [part for dataset in members for part in dataset.parts]
        super().__init__(Path(), status, parts)
        self.warnings = [warning for dataset in members for warning in dataset.warnings]

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(chain.from_iterable(dataset.paths for dataset in self.members))

    @property
    def jobs(self) -> int | None:
        counts = [dataset.jobs for dataset in self.members]
        return None if None in counts else sum(count or 0 for count in counts)

    @property
    def sealed(self) -> bool:
        return all(dataset.sealed for dataset in self.members)

    def tables(self, names: Sequence[str]) -> Iterator[pa.Table]:
        return chain.from_iterable(dataset.tables(names) for dataset in self.members)

    @property
    def reviews(self) -> Reviews:
        """The reviews of all; a row in two of them counts once."""
        return Reviews(dict(chain.from_iterable(one.reviews.rows.items() for one in self.members)))

    def errors_by_split(self) -> Counter[str]:
        return sum((dataset.errors_by_split() for dataset in self.members), Counter[str]())

    def errors(self) -> list[dict[str, Any]]:
        return [error for dataset in self.members for error in dataset.errors()]

    def verify(self) -> None:
        for dataset in self.members:
            dataset.verify()

    def close(self) -> None:
        for dataset in self.members:
            dataset.close()


def open_datasets(paths: Sequence[str | Path]) -> Dataset:
    """Open one dataset, or several as one.

    Raises :class:`~synth.errors.DatasetError` for no path at all, for one that is given twice, and
    for one that holds no dataset.
    """
    if not paths:
        raise DatasetError("no dataset was given")
    resolved = [Path(path).resolve() for path in paths]
    for index, path in enumerate(resolved):
        if path in resolved[:index]:
            raise DatasetError(f"{paths[index]} is given twice")
    if len(paths) == 1:
        return Dataset.open(paths[0])
    return CombinedDataset([Dataset.open(path) for path in paths])
