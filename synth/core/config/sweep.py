"""A sweep's overrides, multiplied out: one point for each combination, in the order that Hydra's
own sweeper has.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hydra.core.override_parser.types import Glob, Override, Transformer
from hydra.errors import HydraException

from synth.core.config.overrides import Groups

MOST_JOBS = 1_000
"""More combinations than this are taken for a slip."""

_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Point:
    """One combination: what Hydra is given, what the person wrote, and the name of the
    subdirectory.
    """

    lines: tuple[str, ...]
    overrides: tuple[str, ...]
    directory: str


def points(
    overrides: Sequence[Override], groups: Groups, *, multirun: bool
) -> tuple[list[Point], list[str]]:
    """Every combination of the overrides' values, and a line for each sweep that has none.

    Without ``multirun`` that is one point, without a subdirectory.
    """
    problems = _twice(overrides)
    axes: list[list[tuple[Override, str]]] = []
    for override in overrides:
        try:
            values = list(itertools.islice(_values(override, groups), MOST_JOBS + 1))
        except (HydraException, ValueError) as error:
            problems.append(f"{override.input_line}: {error}")
            continue
        if values:
            axes.append([(override, value) for value in values])
        else:
            problems.append(f"{override.input_line}: this range holds no value")
    total = 1
    for axis in axes:
        total *= len(axis)
    if total > MOST_JOBS:
        problems.append(f"this sweep has more than {MOST_JOBS} jobs; split it")
        axes = [axis[:1] for axis in axes]
    combinations = list(itertools.product(*axes))
    width = len(str(len(combinations) - 1))
    return [
        _point(combination, f"{index:0{width}d}" if multirun else "")
        for index, combination in enumerate(combinations)
    ], problems


def _twice(overrides: Sequence[Override]) -> list[str]:
    keys = [override.key_or_group for override in overrides]
    swept = dict.fromkeys(
        override.key_or_group for override in overrides if override.is_sweep_override()
    )
    return [
        f"{key}: given {keys.count(key)} times, and swept over"
        for key in swept
        if keys.count(key) > 1
    ]


def _values(override: Override, groups: Groups) -> Iterable[str]:
    if not override.is_sweep_override():
        return [override.get_value_string() if override.value_type is not None else ""]
    value: Any = override.value()
    if isinstance(value, Glob):
        return value.filter(list(groups.choices[override.key_or_group]))
    return map(_as_text, override.sweep_iterator())


def _as_text(element: Any) -> str:
    # An interpolation has to stay one: Hydra's own rendering would escape its braces.
    return (
        element if isinstance(element, str) and "${" in element else str(Transformer.str(element))
    )


def _point(combination: Sequence[tuple[Override, str]], index: str) -> Point:
    lines: list[str] = []
    plain: list[str] = []
    name = [index]
    for override, value in combination:
        tail = f"={value}" if override.value_type is not None else ""
        lines.append(override.get_key_element() + tail)
        plain.append(("~" if override.is_delete() else "") + override.key_or_group + tail)
        if override.is_sweep_override():
            name += [override.key_or_group, value]
    return Point(tuple(lines), tuple(plain), _safe(name) if index else "")


def _safe(parts: Sequence[str]) -> str:
    # No "=": readers of Parquet take a folder named key=value for a partition, and add or drop a
    # column.
    words = [re.sub(r"[^A-Za-z0-9._]+|\.{2,}", "_", part).strip("._") for part in parts]
    return "-".join(word for word in words if word)[:_LONGEST_NAME].rstrip("-._")
