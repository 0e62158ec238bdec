"""A dataset as the tables of other libraries, which are imported when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from envs.plugins import PluginError, resolve
from synth.core.dataset.columns import JSON_COLUMNS
from synth.core.dataset.store.part import Part
from synth.core.dataset.store.wire import to_values
from synth.errors import DatasetError


def data_frame(table: pa.Table) -> Any:
    """Convert rows to a ``pandas.DataFrame``; JSON columns hold Python values."""
    frame: Any = _library("pandas:DataFrame", "to_pandas()")
    columns = table.column_names
    decoded = [name for name in columns if name in JSON_COLUMNS]
    values = [to_values(row) for row in table.select(decoded).to_pylist()] if decoded else []
    plain = [name for name in columns if name not in decoded]
    converted = table.select(plain).to_pandas()
    made = {
        name: [row[name] for row in values] if name in decoded else converted[name]
        for name in columns
    }
    return frame(made, columns=columns)


def dataset_dict(name: str, parts: Sequence[Part]) -> Any:
    """Load the files of a dataset as a ``datasets.DatasetDict``, by split."""
    load: Any = _library("datasets:load_dataset", "to_datasets()")
    files: dict[str, list[str]] = {}
    for part in parts:
        if part.path is None or part.segment is not None:
            raise DatasetError(
                f"{name} is not sealed yet: to_datasets() reads finished files; `synth run"
                " --resume` goes on with a run that was killed"
            )
        if part.count():  # `datasets` cannot read a file without rows
            split = "train" if part.shard is None else part.shard.split
            files.setdefault(split, []).append(str(part.path))
    return load("parquet", data_files=files)


def _library(target: str, caller: str) -> Any:
    try:
        return resolve(target)
    except PluginError as error:
        package = target.partition(":")[0]
        raise DatasetError(f"{caller} needs {package}: pip install 'synth-worlds[hf]'") from error
