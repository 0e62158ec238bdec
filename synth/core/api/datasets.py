"""Reading of recorded runs from Python."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from synth.core.dataset.reader import Dataset
from synth.core.dataset.several import open_datasets

Source = Dataset | str | Path
"""A dataset, or the path of one: a run directory, a ``.parquet`` file or a folder of them."""


def load(source: Source | Iterable[str | Path]) -> Dataset:
    """Open a dataset, or several as one, in any state: complete, partial, running or interrupted.

    ``source`` is a run directory, a ``.parquet`` file or a folder of such files, or a list of
    these. Nothing of it is executed, and rows are read when they are asked for::

        data = synth.load("out/shop")
        data[0]["messages"]                                 # a row: columns by name
        data.query("reward < 1 ORDER BY num_turns")         # an Arrow table, by SQL of DuckDB
        data.table(["family", "reward"])                    # an Arrow table of columns
        data.to_pandas(), data.to_datasets(), data.errors()

    Raises:
        DatasetError: If there is no dataset, or it cannot be read.
    """
    if isinstance(source, Dataset):
        return source
    return open_datasets([source] if isinstance(source, (str, Path)) else list(source))
