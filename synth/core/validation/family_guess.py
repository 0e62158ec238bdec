"""How well the family of a task is guessed from what an agent is shown before it works: the tools,
and the request.

A tool that only one family offers says what is wanted before a word is read. A request says it in
any case; where it does so in words that only one family has, it may be answered by rote.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from synth.core.foundation.hashing import canonical
from synth.core.language.wording import fold
from synth.core.types.json_form import JsonForm
from synth.task import Task

PER_FAMILY = 8
"""Tasks of each family that are looked at."""


@dataclass(frozen=True)
class FamilyGuess(JsonForm):
    """The shares of tasks whose family is guessed: by nothing (``chance``), by the best guess that
    knows the tools only, and by the most similar other request.
    """

    families: int
    tasks: int
    chance: float
    by_tools: float
    by_request: float


def guess_families(tasks: Sequence[Task]) -> FamilyGuess | None:
    """Guess the family of each task; None if there are fewer than two families.

    The world's own tools are the same in all tasks: ``submit`` alone may differ.
    """
    sizes = Counter(task.family for task in tasks)
    if len(sizes) < 2:
        return None
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    for task in tasks:
        groups[canonical(task.submit_parameters)][task.family] += 1
    by_tools = sum(max(group.values()) for group in groups.values())
    words = [frozenset(re.findall(r"[^\W\d_]+", fold(task.prompt))) for task in tasks]
    right = sum(
        tasks[_nearest(index, words)].family == task.family for index, task in enumerate(tasks)
    )
    count = len(tasks)
    return FamilyGuess(
        len(sizes), count, max(sizes.values()) / count, by_tools / count, right / count
    )


def _nearest(index: int, words: Sequence[frozenset[str]]) -> int:
    """The index of the other text that shares most words with this one (Jaccard index)."""

    def similarity(other: int) -> tuple[float, int]:
        shared = len(words[index] & words[other])
        return shared / max(1, len(words[index] | words[other])), -other

    return max((other for other in range(len(words)) if other != index), key=similarity)
