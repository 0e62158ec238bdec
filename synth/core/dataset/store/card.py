"""README.md of a dataset: a card whose YAML header `datasets` reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from synth.core.dataset.columns import COLUMNS
from synth.core.dataset.variety import variety_table

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def _header(manifest: Mapping[str, Any], *, has_tasks: bool) -> list[str]:
    size, configs = splits_and_configs(manifest, has_tasks=has_tasks)
    header: dict[str, object] = {
        "tags": ["tool-use", "synthetic", "trajectories"],
        "size_categories": size,
        **({"configs": configs} if configs else {}),
    }
    return ["---", yaml.safe_dump(header, sort_keys=False).rstrip(), "---", ""]


def _cell(value: object) -> str:
    if value is None:
        return "unknown"
    return f"{value:.4g}" if isinstance(value, float) else str(value).replace("|", "\\|")


def splits_and_configs(
    manifest: Mapping[str, Any], *, has_tasks: bool
) -> tuple[str, list[dict[str, Any]]]:
    """The size category and the configs of the header; splits without rows are left out, which
    would make `load_dataset` fail for all of them.
    """
    splits = dict.fromkeys(shard["split"] for shard in manifest["shards"] if shard["rows"])
    rows = manifest["counts"]["rows"]
    size = next((name for limit, name in _SIZES if rows < limit), "n>1M")
    configs: list[dict[str, Any]] = []
    if splits:
        files = [{"split": split, "path": f"data/{split}-*.parquet"} for split in splits]
        configs.append({"config_name": "default", "default": True, "data_files": files})
    if has_tasks:
        files = [{"split": "train", "path": "tasks.parquet"}]
        configs.append({"config_name": "tasks", "data_files": files})
    return size, configs


def columns_table() -> list[str]:
    """The table of the dataset's columns."""
    rows = [
        (
            f"`{col.name}`",
            f"`{col.kind}`",
            col.about + (" It differs between equal runs." if col.volatile else ""),
        )
        for col in COLUMNS
    ]
    return table(("column", "type", "content"), rows)


def variety_section(manifest: Mapping[str, Any]) -> list[str]:
    """The section about variety; empty for a manifest that does not have the figures."""
    rows = variety_table(manifest["variety"]) if "variety" in manifest else []
    return ["## Variety", "", *table(("", ""), rows)] if rows else []


def table(head: tuple[str, ...], rows: Sequence[tuple[object, ...]]) -> list[str]:
    lines = [head, ("---",) * len(head), *[tuple(map(_cell, row)) for row in rows]]
    return [f"| {' | '.join(line)} |" for line in lines] + [""]


def _origin(manifest: Mapping[str, Any]) -> list[str]:
    identity, digests = manifest["identity"], manifest["digests"]
    how = (
        f"Model `{identity['model']}` in world `{identity['env']}` with seed {identity['seed']}:"
        " every rollout had a"
        " fresh database of its own, whose final state was compared row by row with that of the"
        " task's reference solution."
    )
    return [
        "## How it was made",
        "",
        how,
        "",
        *table(("digest of", ""), [(name, f"`{value}`") for name, value in digests.items()]),
    ]


_WHOLE = "synth card .    # the whole card: tools, an example, plots, contamination, licences"


def use_section(place: str, commands: Sequence[str], here: str = ".") -> list[str]:
    """The section on loading, inspecting and replaying. ``commands`` come first, ``here`` is the
    directory that the others are about.
    """
    return [
        "## How to load, inspect and replay it",
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        f'dataset = load_dataset("{place}")  # datasets 5.0 or newer',
        "```",
        "",
        "```sh",
        *commands,
        f"synth inspect {here}    # counts, rewards, tools, errors, cost",
        f"synth replay {here}    # repeats every tool call on fresh databases and compares",
        "```",
        "",
        (
            "`messages` and `tools` are Python objects in `datasets`, strings in pandas, and JSON"
            " in DuckDB. The resolved config is in `config.yaml`, the world in `world/`, the tasks"
            " with their reference solutions in `tasks.parquet`: **keep `tasks.parquet` out of"
            " training data** if you evaluate on these tasks."
        ),
        "",
    ]


def card(manifest: Mapping[str, Any], *, has_tasks: bool) -> str:
    """Return the text of the card: counts per split and family, columns, origin, and instructions
    to load and to replay.
    """
    counts = manifest["counts"]
    summary = f"{counts['rows']} verified trajectories of {counts['jobs']} planned."
    if counts["errors"]:
        summary += f" Rollouts with infrastructure errors, in `errors.parquet`: {counts['errors']}."
    if manifest["status"] != "complete":
        summary += " The run was stopped early; it can be resumed."
    splits = [
        (name, s["rows"], s["jobs"], s["mean_reward"], s["errors"])
        for name, s in counts["splits"].items()
    ]
    families = [
        (name, f["rows"], f["mean_reward"], f["outcomes"].get("unscored", 0), f["errors"])
        for name, f in counts["families"].items()
    ]
    lines = [
        *_header(manifest, has_tasks=has_tasks),
        f"# Tool-use trajectories from {manifest['identity']['env']}",
        "",
        summary,
        "",
        *(
            table(("split", "rows", "planned", "mean reward", "errors"), splits)
            if len(splits) > 1
            else ()
        ),
        *table(("family", "rows", "mean reward", "unscored", "errors"), families),
        *variety_section(manifest),
        *_origin(manifest),
        *use_section("path/to/this/directory", [_WHOLE]),
        "## Columns",
        "",
        *columns_table(),
    ]
    return "\n".join(lines)
