"""README.md of a dataset: a card whose YAML header `datasets` reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synth.dataset.columns import COLUMNS

Json = Any

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def _header(manifest: Mapping[str, Json], *, has_tasks: bool) -> list[str]:
    # a split without a row in it makes `load_dataset` fail for all of them
    splits = list(dict.fromkeys(shard["split"] for shard in manifest["shards"] if shard["rows"]))
    rows = manifest["counts"]["rows"]
    size = next((name for limit, name in _SIZES if rows < limit), "n>1M")
    lines = ["---", "tags:", "- tool-use", "- synthetic", "- trajectories", f"size_categories: {size}"]
    if splits or has_tasks:
        lines.append("configs:")
    if splits:
        lines += ["- config_name: default", "  default: true", "  data_files:"]
        for split in splits:
            lines += [f"  - split: {split}", f"    path: data/{split}-*.parquet"]
    if has_tasks:
        lines += ["- config_name: tasks", "  data_files:", "  - split: train", "    path: tasks.parquet"]
    return [*lines, "---", ""]


def _cell(value: Json) -> str:
    if value is None:
        return "unknown"
    return f"{value:.4g}" if isinstance(value, float) else str(value).replace("|", "\\|")


def _table(head: tuple[str, ...], rows: list[tuple[Json, ...]]) -> list[str]:
    lines = [head, ("---",) * len(head), *[tuple(map(_cell, row)) for row in rows]]
    return [f"| {' | '.join(line)} |" for line in lines] + [""]


def _made(manifest: Mapping[str, Json]) -> list[str]:
    identity, digests = manifest["identity"], manifest["digests"]
    how = (
        f"Model `{identity['model']}` in world `{identity['env']}` with seed {identity['seed']}: every rollout got its"
        " own fresh database, and its end state was compared row by row with what the task's reference solution leaves."
    )
    return [
        "## How it was made",
        "",
        how,
        "",
        *_table(("digest of", ""), [(name, f"`{value}`") for name, value in digests.items()]),
        "The resolved config is `config.yaml`, the world is in `world/`, what was asked is in `tasks.parquet`.",
        "",
    ]


def _use() -> list[str]:
    return [
        "## How to load it",
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        'dataset = load_dataset("path/to/this/directory")  # datasets 5.0 or newer',
        "```",
        "",
        "JSON columns come as Python objects there, as JSON strings in pandas, as JSON in DuckDB.",
        "",
        "## How to look at it and to replay it",
        "",
        "```sh",
        "synth inspect .   # counts, rewards, tools, errors, cost",
        "synth replay .    # every tool call again on fresh databases; any difference is shown",
        "```",
        "",
    ]


def card(manifest: Mapping[str, Json], *, has_tasks: bool) -> str:
    """The card's text: counts per split and family, the columns, how it was made, how to load and to replay it."""
    counts = manifest["counts"]
    summary = f"{counts['rows']} verified trajectories of {counts['jobs']} planned."
    if counts["errors"]:
        summary += f" Broken by infrastructure, in `errors.parquet`: {counts['errors']}."
    if manifest["status"] != "complete":
        summary += " The run was stopped before its end; it can be resumed."
    splits = [(name, s["rows"], s["jobs"], s["mean_reward"], s["errors"]) for name, s in counts["splits"].items()]
    families = [
        (name, f["rows"], f["mean_reward"], f["outcomes"].get("unscored", 0), f["errors"])
        for name, f in counts["families"].items()
    ]
    columns = [
        (f"`{col.name}`", f"`{col.kind}`", col.about + (" Differs between equal runs." if col.volatile else ""))
        for col in COLUMNS
    ]
    lines = [
        *_header(manifest, has_tasks=has_tasks),
        f"# Tool-use trajectories from {manifest['identity']['env']}",
        "",
        summary,
        "",
        *(_table(("split", "rows", "planned", "mean reward", "errors"), splits) if len(splits) > 1 else ()),
        *_table(("family", "rows", "mean reward", "unscored", "errors"), families),
        *_made(manifest),
        *_use(),
        "## Columns",
        "",
        *_table(("column", "type", "what it holds"), columns),
    ]
    return "\n".join(lines)
