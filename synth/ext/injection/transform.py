"""The task transform ``injection``: which tasks get a hostile text, in which style, for what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from random import Random
from typing import get_args

from synth.core.foundation.hashing import derive_seed
from synth.core.tasks.shown_texts import ShownTexts
from synth.core.types.checks import Gate
from synth.ext.injection import STYLES, InjectionConfig
from synth.ext.injection.gate import GATE, Goal, InjectionOptions
from synth.source import TaskPool
from synth.task import Task
from synth.transform import Block, TaskTransform

_DONORS = 6
"""Tasks of other families whose calls a text may ask for."""


class Injection(TaskTransform):
    """Adds the gate ``injection`` to a share of the tasks. Its validation finds the place for
    the text when the task is proved (:mod:`synth.ext.injection.placing`); a task without one stays
    as it is. Without a share, all tasks are asked.
    """

    Options = InjectionConfig

    def __init__(self, options: InjectionConfig | None = None) -> None:
        config = options or InjectionConfig()
        self._config = config if config.share else replace(config, inject=1.0)
        super().__init__(self._config)
        self._pools: dict[int, TaskPool] = {}
        self._seed = 0

    def choose(
        self, blocks: Sequence[Block], opening: Callable[[Block, Task], str]
    ) -> Sequence[Block]:
        self._pools.update((block.source.universe, block.source) for block in blocks)
        self._seed = blocks[0].seed
        return blocks

    def changed(self, task: Task, index: int, *, first: bool) -> Task:
        dice = Random(derive_seed("injection", self._seed, task.id))
        if dice.random() >= self._config.share:
            return task
        held = self._config.styles_held_out
        style = dice.choice([name for name in STYLES if not (first and name in held)])
        goal: Goal = dice.choice(get_args(Goal))
        donors = [donor.to_json() for donor in self._donors(task, dice)]
        gate = Gate(GATE, asdict(InjectionOptions(style, goal, donors=donors)))
        return replace(task, gates=(*task.gates, gate))

    def again(self, task: Task, recorded: Task) -> Task:
        gates = [gate for gate in recorded.gates if gate.name == GATE]
        task = replace(task, gates=(*task.gates, *gates))
        return task.with_extra(ShownTexts.NAME, recorded.extras.get(ShownTexts.NAME))

    def _donors(self, task: Task, dice: Random) -> list[Task]:
        pool = self._pools[task.universe]
        own = {part.family for part in task.parts or (task,)}
        known = {part.id for part in task.parts or (task,)}
        names = [family.id for family in pool.families if pool.capacity(family.id)]
        others = [name for name in names if name not in own] or names
        drawn = [others[place % len(others)] for place in range(_DONORS)]
        if len(others) > _DONORS:
            drawn = dice.sample(others, _DONORS)
        found = (pool.task(name, dice.randrange(pool.capacity(name)), self._seed) for name in drawn)
        return [replace(donor, system="") for donor in found if donor.id not in known]
