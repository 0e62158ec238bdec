"""Tasks and requests that the splits of a dataset share, for its card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from synth.core.foundation.json_leaves import named_values
from synth.core.foundation.near_duplicates import number_of, words

if TYPE_CHECKING:
    from synth.ext.hub.contamination import Benchmark


def said_in(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The user's turns, the agent's replies and the strings that it handed in, by their place."""
    names = {"user": "user turn", "assistant": "reply"}
    counts: Counter[str] = Counter()
    for message in row["messages"]:
        name = names.get(message["role"])
        if name is not None and message.get("content"):
            counts[name] += 1
            yield f"{name} {counts[name]}", message["content"]
    for _, leaf in named_values(row.get("submitted")):
        if isinstance(leaf, str):
            yield "answer", leaf


@dataclass(slots=True)
class Contamination:
    """What rows share with each other across splits, and with benchmarks.

    ``requests`` and ``tasks`` map a split to its opening requests and task ids; ``rows_in`` counts,
    by benchmark, rows in which one of its texts was said.
    """

    benchmarks: Sequence[Benchmark] = ()
    requests: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    tasks: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    universes: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    rows_in: Counter[str] = field(default_factory=Counter[str])

    def add(self, row: Mapping[str, Any]) -> None:
        """Look at a row."""
        split = str(row["split"])
        said = next((text for _, text in said_in(row)), None)
        self.tasks.setdefault(split, set()).add(row["task_id"])
        self.universes.setdefault(split, set()).add(row["universe"])
        if said is not None:
            self.requests.setdefault(split, set()).add(number_of(words(said)))
        for benchmark in self.benchmarks:
            found = [benchmark.overlap(text) for _, text in said_in(row)]
            self.rows_in[benchmark.name] += any(found)

    def lines(self) -> list[str]:
        """Sentences for the card."""
        splits = sorted(self.tasks, key=lambda split: (split != "train", split))
        out = [self._between(splits[0], other) for other in splits[1:]] or [
            "All rows are of one split, so no test rows can overlap with training rows."
        ]
        out += [benchmark.line(self.rows_in[benchmark.name]) for benchmark in self.benchmarks]
        if not self.benchmarks:
            out.append(
                "It was not held against texts of benchmarks (`synth card DIR --against FILE`)."
            )
        return out

    def _between(self, one: str, other: str) -> str:
        tasks = len(self.tasks[one] & self.tasks[other])
        asked = self.requests.get(other, set())
        same = len(self.requests.get(one, set()) & asked)
        apart = self.universes[one].isdisjoint(self.universes[other])
        where = "of other universes" if apart else "of the same universes"
        return (
            f"`{other}` against `{one}`: {tasks} tasks in both, {same} of {len(asked)} opening"
            f" requests in the same words, rows {where}."
        )
