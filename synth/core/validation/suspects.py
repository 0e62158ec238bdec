"""Tasks in which several samples of a model agree on an end that is not gold's: the likeliest
faults of their author.

Ends are compared in every value that the world does not declare lenient.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from synth.core.foundation.hashing import canonical
from synth.core.validation.equivalence import same_end, strict_end
from synth.task import GoldEnd, Task

AGREEING = 2
"""Samples from which on an end counts as agreed on."""


@dataclass(frozen=True)
class SampleEnd:
    """The end of one sample: its net row changes and its answer. ``solved`` is None if it was not
    scored, for the reason ``broken``.
    """

    task: Task
    end: GoldEnd
    solved: bool | None
    broken: str = ""


@dataclass(frozen=True)
class Suspect:
    """A task of which ``agreeing`` of ``samples`` reach ``end``, which is not gold's."""

    task: Task
    agreeing: int
    samples: int
    end: GoldEnd

    @property
    def gold(self) -> GoldEnd:
        assert self.task.end is not None
        return self.task.end


@dataclass(frozen=True)
class SuspectReport:
    """Pass rates of families, as solved and scored samples, and the suspects, most agreed first.

    ``unscored`` counts the other samples, ``broken`` is the reason of the first of them.
    """

    families: Mapping[str, tuple[int, int]]
    suspects: Sequence[Suspect]
    unscored: int = 0
    broken: str = ""

    def to_json(self) -> dict[str, object]:
        return {
            "families": {
                name: {"solved": solved, "samples": samples}
                for name, (solved, samples) in self.families.items()
            },
            "unscored": self.unscored,
            "suspects": [
                {
                    "family": suspect.task.family,
                    "task": suspect.task.id,
                    "prompt": suspect.task.prompt,
                    "agreeing": suspect.agreeing,
                    "samples": suspect.samples,
                    "gold": _json(suspect.gold),
                    "end": _json(suspect.end),
                }
                for suspect in self.suspects
            ],
        }


def find_suspects(samples: Iterable[SampleEnd]) -> SuspectReport:
    """The report on samples of proved tasks. An end without a change and an answer is no
    agreement.
    """
    listed = list(samples)
    scored = [sample for sample in listed if sample.solved is not None]
    broken = next((sample.broken for sample in listed if sample.solved is None), "")
    families: dict[str, tuple[int, int]] = {}
    tasks: dict[str, list[SampleEnd]] = {}
    for sample in scored:
        solved, count = families.get(sample.task.family, (0, 0))
        families[sample.task.family] = (solved + bool(sample.solved), count + 1)
        tasks.setdefault(sample.task.id, []).append(sample)
    found = [suspect for group in tasks.values() for suspect in _suspects(group)]
    found.sort(key=lambda suspect: (-suspect.agreeing / suspect.samples, suspect.task.id))
    return SuspectReport(families, found, len(listed) - len(scored), broken)


def _suspects(samples: Sequence[SampleEnd]) -> list[Suspect]:
    """The ends of one task on which failed samples agree."""
    task = samples[0].task
    ends: dict[str, list[GoldEnd]] = {}
    for sample in samples:
        done = sample.end.changes or sample.end.answer is not None
        if done and not sample.solved and not same_end(task, sample.end):
            ends.setdefault(canonical(strict_end(task, sample.end)), []).append(sample.end)
    return [
        Suspect(task, len(same), len(samples), same[0])
        for same in ends.values()
        if len(same) >= AGREEING
    ]


def side_by_side(suspect: Suspect) -> list[str]:
    """Lines that show both ends: what only gold does, what only the samples do."""
    out: list[str] = []
    gold, other = suspect.gold, suspect.end
    pairs = (("gold", gold, other), ("samples", other, gold))
    for who, end, against in pairs:
        shared = {canonical(change) for change in against.changes}
        own = [change for change in end.changes if canonical(change) not in shared]
        out += [f"{who}: {_shown(change)}" for change in own]
        if gold.answer != other.answer:
            answer = "no answer" if end.answer is None else canonical(dict(end.answer))
            out.append(f"{who}: answers {answer}")
        elif not own:
            out.append(f"{who}: no other change")
    return out


def _shown(change: Mapping[str, Any]) -> str:
    cells = change.get("before") if change["op"] == "delete" else change.get("after")
    return f"{change['op']} {change['table']} {canonical(change['key'])}: {canonical(cells)}"


def _json(end: GoldEnd) -> dict[str, object]:
    return {"changes": list(end.changes), "answer": end.answer}
