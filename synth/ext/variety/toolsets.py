"""Tasks that offer a part of the world's tools (``tasks.tools=needed+5``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from synth.core.foundation.hashing import derive_seed
from synth.core.rewards.process_gates import ReadBefore, tool_of
from synth.core.types.steps import CallStep, every_step
from synth.ext.variety.config import NEEDED, ToolsetsConfig
from synth.task import Task
from synth.transform import Block, TaskTransform


class Toolsets(TaskTransform):
    """Offers each task the tools that gold calls or that have to be read before them, and others,
    drawn for the task.
    """

    Options = ToolsetsConfig

    def __init__(self, options: ToolsetsConfig) -> None:
        super().__init__(options)
        found = NEEDED.fullmatch(options.tools or "")
        self._others = int(found[1]) if found else 0
        self._names: Sequence[str] = ()

    def choose(
        self, blocks: Sequence[Block], shown: Callable[[Block, Task], Task]
    ) -> Sequence[Block]:
        self._names = [tool.name for block in blocks[:1] for tool in block.source.world.tools]
        return blocks

    def changed(self, task: Task, index: int, *, first: bool) -> Task:
        needed = _needed_tools(task)
        others = [name for name in self._names if name not in needed]
        dice = Random(derive_seed("toolset", task.id))
        drawn = dice.sample(others, min(self._others, len(others)))
        return task.with_extra("tools", sorted(needed.union(drawn)))


def _needed_tools(task: Task) -> set[str]:
    """The tools that gold calls, and one of those that have to be called before each of them."""
    needed = {step.tool for step in every_step(task.gold) if isinstance(step, CallStep)}
    gate = task.gate("read_before")
    demands = ReadBefore().parse_options({} if gate is None else gate.options)
    for tool in sorted(needed):
        needed |= {
            tool_of(lookups[0])
            for lookups in demands.get(tool, ())
            if needed.isdisjoint(map(tool_of, lookups))
        }
    return needed
