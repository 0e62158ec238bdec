"""The tools, rules and opening messages of a task as an agent is shown them, in the words of its
renaming if it has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from envs.tools.toolbox import Toolbox
from synth.core.types.renaming import renaming_of
from synth.plugins import resolve
from synth.task import Message, Task

if TYPE_CHECKING:
    from synth.core.renaming.translator import RenamingLayer, Translator


def layer_of(task: Task, boxes: Sequence[Toolbox]) -> RenamingLayer | None:
    """The layer between the agent and these tools; None for a task without a renaming."""
    renaming = renaming_of(task)
    layer = "synth.core.renaming.translator:RenamingLayer"
    return None if renaming is None else resolve(layer)(renaming, boxes)


def translator_for(task: Task) -> Translator | None:
    """The translator of a task's renaming; None for a task without one."""
    renaming = renaming_of(task)
    translator = "synth.core.renaming.translator:translator_of"
    return None if renaming is None else resolve(translator)(renaming)


def tools_of(task: Task, boxes: Sequence[Toolbox]) -> list[dict[str, Any]]:
    """The function schemas of the tools in ``boxes``."""
    if (layer := layer_of(task, boxes)) is not None:
        boxes = [layer.toolbox]
    return [function for box in boxes for function in _functions(box)]


@lru_cache(maxsize=256)
def _functions(box: Toolbox) -> Sequence[dict[str, Any]]:
    return [tool.to_openai() for tool in box.tools]


def rules_of(task: Task) -> str:
    """The rules that the agent of a task works under."""
    translator = translator_for(task)
    return task.system if translator is None else translator.show_text(task.system)


def opening_of(task: Task) -> list[Message]:
    """The messages that a task's conversation begins with."""
    rules = rules_of(task)
    system: list[Message] = [{"role": "system", "content": rules}] if rules else []
    return [*system, {"role": "user", "content": task.prompt}]
