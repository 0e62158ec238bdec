"""Near-duplicates among the requests of a run's tasks, in plain and in varied words.

python -m tests.bench.near_duplicates 500 ehr_db shop shop_sql
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence

from synth.core.config.compose import compose
from synth.core.tasks.yaml.template import text_of
from synth.prepare import prepare
from synth.task import Task

LEAST = 0.8
"""The Jaccard index of three-word sequences from which on a request repeats an earlier one."""


def main(count: int, worlds: Sequence[str]) -> None:
    print(
        "| world | plain | varied | plain, slots blank | varied, slots blank |\n|---|---|---|---|---|"
    )
    for world in worlds:
        found = [_tasks(world, count, wording) for wording in ("plain", "varied")]
        shares = [near_duplicates([task.prompt for task in tasks]) for tasks in found]
        shares += [near_duplicates([blank(task) for task in tasks]) for tasks in found]
        print(f"| {world} | {' | '.join(f'{share:.1%}' for share in shares)} |")


def near_duplicates(texts: Sequence[str]) -> float:
    """The share of texts that are near-duplicates of an earlier one."""
    sequences = [_sequences(text) for text in texts]
    owners: dict[tuple[str, ...], list[int]] = defaultdict(list)
    repeated = 0
    for index, own in enumerate(sequences):
        shared = Counter(other for item in own for other in owners[item])
        repeated += any(
            count / (len(own) + len(sequences[other]) - count) >= LEAST
            for other, count in shared.items()
        )
        for item in own:
            owners[item].append(index)
    return repeated / len(texts)


def _sequences(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[index : index + 3]) for index in range(max(1, len(words) - 2))}


def blank(task: Task) -> str:
    values = sorted({text_of(value) for value in task.slots.values()}, key=len, reverse=True)
    pattern = "|".join(rf"(?<!\w){re.escape(value)}(?!\w)" for value in values if value.strip())
    return re.sub(pattern, "_", task.prompt) if pattern else task.prompt


def _tasks(world: str, count: int, wording: str) -> list[Task]:
    overrides = [f"env={world}", f"tasks.count={count}", f"tasks.wording={wording}"]
    plan = prepare(compose(overrides)[0].config).plan
    return [plan.task(index) for index in range(plan.tasks)]


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
