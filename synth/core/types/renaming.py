"""A renaming of a world: other names for the same tools, parameters, results and words.

The environment, gold and every verifier keep the world's own names; :mod:`synth.core.renaming`
translates between the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from synth.core.types.json_form import JsonForm
from synth.task import Task

RENAMING = "renaming"
"""The name of what renamings add to a task."""


@dataclass(frozen=True, slots=True)
class AddedTool:
    """A tool that is not part of the world. Each call of it gives ``output``, or fails with the
    message ``refusal``. It changes nothing.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    output: Any = None
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class Renaming(JsonForm):
    """A variant of the names that a model is shown, by the world's own names.

    - ``number``: the variant's number, from 1.
    - ``tools``: names of tools; ``names``: names of parameters and keys of results.
    - ``values``: by parameter or key, the words of its enumeration.
    - ``wording``: phrases of rules and descriptions; ``openings``: first words of descriptions.
    - ``left_out``: tools of the world that are not offered.
    - ``added``: tools that are offered beside the world's.
    - ``results``: False where results keep their keys, because an agent's own SQL names them.
    """

    number: int
    tools: Mapping[str, str] = field(default_factory=dict[str, str])
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Any])
    wording: Mapping[str, str] = field(default_factory=dict[str, str])
    openings: Mapping[str, str] = field(default_factory=dict[str, str])
    left_out: tuple[str, ...] = ()
    added: tuple[AddedTool, ...] = ()
    results: bool = True


def renaming_of(task: Task) -> Renaming | None:
    """The names that the agent of a task is shown; None for the world's own."""
    raw = task.extras.get(RENAMING)
    return None if raw is None else Renaming.from_json(raw)


def with_renaming(task: Task, renaming: Renaming | None) -> Task:
    """The task under other names."""
    return task.with_extra(RENAMING, None if renaming is None else renaming.to_json())
