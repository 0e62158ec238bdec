"""The transforms of a run: those behind sections of the config, and those that it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from synth.config import TasksConfig
from synth.core.config.options import load_extension, options_for
from synth.core.config.section import ConfigSection
from synth.errors import OperatorError
from synth.plugins import TASK_TRANSFORMS
from synth.transform import TaskTransform


def transforms_of(
    tasks: TasksConfig, brought: Sequence[tuple[str, ConfigSection]]
) -> list[TaskTransform]:
    """The transforms of a run in the order in which they are applied: the ones that sections
    ``brought``, those that ship first, then the ones that ``tasks`` names.
    """
    made: list[TaskTransform] = []

    def add(
        name: str, key: str, offered: Mapping[str, Any], own: Mapping[str, Any], at: str
    ) -> None:
        kind = load_extension(TASK_TRANSFORMS, name, key)
        if not (isinstance(kind, type) and issubclass(kind, TaskTransform)):
            raise OperatorError(f"{key}: {name} is not a subclass of synth.transform.TaskTransform")
        made.append(kind(options_for(kind, offered, own, at)))

    shipped = [*TASK_TRANSFORMS.builtin]
    for name, section in sorted(brought, key=lambda one: [*shipped, one[0]].index(one[0])):
        add(name, section.place, asdict(section), {}, section.place)
    for name in tasks.transforms:
        own = tasks.transform_options.get(name, {})
        add(name, "tasks.transforms", {}, own, f"tasks.transform_options.{name}")
    return made
