"""The transforms of a run: those behind keys of ``tasks``, and those that the config names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import cast

from synth.config import TasksConfig
from synth.core.config.options import load_extension, options_for
from synth.errors import OperatorError
from synth.plugins import TASK_TRANSFORMS
from synth.transform import TaskTransform

KEYS: Mapping[str, Sequence[str]] = {
    "held_out_wordings": ("held_out_phrasings",),
    "selection": ("compose", "max_near_duplicates", "weights", "difficulty"),
    "varied_wording": ("wording",),
    "renamings": ("renamings",),
    "by_difficulty": ("order",),
}
"""The transforms behind keys of ``tasks``, in the order in which they are applied. One is applied
if a key differs from its default; its options are keys of ``tasks``.
"""


def transforms_of(tasks: TasksConfig) -> list[TaskTransform]:
    """The transforms of a run, in the order in which they are applied."""
    section, usual = asdict(tasks), asdict(TasksConfig())
    made: list[TaskTransform] = []
    for name, keys in KEYS.items():
        if any(section[key] != usual[key] for key in keys):
            kind: type[TaskTransform] = TASK_TRANSFORMS.load(name)
            made.append(kind(options_for(kind, section, {}, "tasks")))
    for name in tasks.transforms:
        kind = load_extension(TASK_TRANSFORMS, name, "tasks.transforms")
        own = tasks.transform_options.get(name, {})
        made.append(kind(options_for(kind, {}, own, f"tasks.transform_options.{name}")))
        if not isinstance(cast("object", made[-1]), TaskTransform):
            raise OperatorError(f"tasks.transforms: {name} is not a task transform")
    return made
