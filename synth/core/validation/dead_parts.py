"""Parts of gold that do nothing in any proved task: steps that never run, saves that are always
empty, loops over nothing, writing tools that change no row.

A part that works in some tasks only is a note in the report.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from envs.types import ToolOutcome
from synth.core.foundation.json_leaves import parsed
from synth.core.tasks.yaml.template import names_in
from synth.core.types.steps import BranchStep, CallStep, LoopStep, Step, SubmitStep, every_step
from synth.core.validation.gold_run import GoldRun

EMPTY: tuple[object, ...] = (None, "", [], {})

SHOWN = 160
"""Characters of a value that a message shows."""

Place = tuple[int, str, int]
"""The line of a part in the author's file, its word, and its number among those with both."""


@dataclass(frozen=True)
class _GoldPart:
    """One part of gold in one task, and the fault of it if it does nothing there.

    A dead part that ``needs`` another dead one is not reported besides, an ``optional`` one only if
    it does nothing in any task.
    """

    place: Place
    alive: bool
    fault: str
    needs: frozenset[Place] = frozenset()
    optional: bool = False


@dataclass(frozen=True)
class Finding:
    """A part that does nothing in any task (``dead``), or in some of them."""

    line: int
    word: str
    message: str
    dead: bool


def findings(tasks: Sequence[Sequence[_GoldPart]]) -> list[Finding]:
    """What the parts of several tasks of a family show, in the order of the parts."""
    seen: dict[Place, list[_GoldPart]] = {}
    for part in (part for parts in tasks for part in parts):
        seen.setdefault(part.place, []).append(part)
    idle = {
        place: still
        for place, parts in seen.items()
        if (still := [part for part in parts if not part.alive])
    }
    dead = {place for place, still in idle.items() if len(still) == len(seen[place])}
    out: list[Finding] = []
    for place, still in idle.items():
        if _unreported(still[0], place in dead, dead, set(idle)):
            continue
        of = len(seen[place])
        count = f"all {of}" if place in dead else f"{len(still)} of {of}"
        message = f"{still[0].fault} in {count} proved tasks"
        out.append(Finding(place[0], place[1], message, place in dead))
    return out


def _unreported(part: _GoldPart, is_dead: bool, dead: set[Place], idle: set[Place]) -> bool:
    """True if a part follows from another one, or may do nothing in some tasks."""
    return bool(part.needs & (dead if is_dead else idle)) or (part.optional and not is_dead)


def parts_of(gold: GoldRun) -> list[_GoldPart]:
    """The parts of gold in one playing."""
    outcomes: dict[int, list[ToolOutcome]] = {}
    for step, outcome in zip(gold.steps, gold.run.outcomes, strict=True):
        outcomes.setdefault(id(step), []).append(outcome)
    saved: dict[int, dict[str, object]] = {}
    for step, values in gold.saved:
        saved.setdefault(id(step), dict(values))
        saved[id(step)] |= {name: value for name, value in values.items() if value not in EMPTY}
    conditions = (one for step, _ in gold.taken for one in step.conditions if one.op is None)
    asked = set[str]().union(*(names_in(one.left, "$") for one in conditions))
    walk = _Walk(outcomes, saved, [(id(step), held) for step, held in gold.taken], asked)
    return list(walk.parts(gold.evidence.task.gold, frozenset()))


def writes_nothing(golds: Sequence[GoldRun], reads: Collection[str]) -> list[Finding]:
    """The first call of a tool that may write, if gold changes no row in any task; empty if it does
    or calls no such tool. ``reads`` are the tools that only read.
    """
    for gold in golds:
        if any(call.changes for call in gold.evidence.calls):
            return []
    played = (step for gold in golds for step in gold.steps)
    for step in played:
        if isinstance(step, CallStep) and step.fails is None and step.tool not in reads:
            message = (
                f"gold calls {step.tool}, which may write, but no row changes in all {len(golds)}"
                " proved tasks; if it only reads, mark it read_only"
            )
            return [Finding(step.line, step.word, message, dead=True)]
    return []


@dataclass
class _Walk:
    """Walks through the steps of one task. ``outcomes`` belong to each step's calls, ``saved``
    are its values, ``taken`` the branches of each ``if``, ``asked`` the names that an ``if`` asks
    whether they are empty.
    """

    outcomes: Mapping[int, Sequence[ToolOutcome]]
    saved: Mapping[int, Mapping[str, object]]
    taken: Sequence[tuple[int, bool]]
    asked: Collection[str]
    numbers: dict[tuple[int, str], int] = field(default_factory=dict[tuple[int, str], int])
    saves: dict[str, Place] = field(default_factory=dict[str, Place])

    def parts(self, steps: Iterable[Step], within: frozenset[Place]) -> Iterator[_GoldPart]:
        for step in steps:
            if isinstance(step, LoopStep):
                yield from self._loop(step, within)
            elif isinstance(step, BranchStep):
                yield from self._branch(step, within)
            elif isinstance(step, CallStep | SubmitStep):
                place = self._place(step.line, step.word)
                played = self.outcomes.get(id(step), ())
                yield _GoldPart(place, bool(played), f"{step.word} is not called", within)
                if isinstance(step, CallStep):
                    yield from self._saved(step, played, within)

    def _loop(self, step: LoopStep, within: frozenset[Place]) -> Iterator[_GoldPart]:
        place = self._place(step.line, step.word)
        inner = [item for item in every_step(step.steps) if isinstance(item, CallStep)]
        alive = not inner or any(id(item) in self.outcomes for item in inner)
        lists = {self.saves[name] for name in names_in(step.over, "$") if name in self.saves}
        fault = f"`for_each` {step.name} goes over {_shown(step.over)}, an empty list,"
        yield _GoldPart(place, alive, fault, within | lists)
        yield from self.parts(step.steps, within | {place})

    def _branch(self, step: BranchStep, within: frozenset[Place]) -> Iterator[_GoldPart]:
        """The steps of a branch are looked at where it is taken."""
        for held, steps in ((True, step.steps), (False, step.otherwise)):
            if not steps:
                continue
            place = self._place(step.line, "if" if held else "else")
            taken = (id(step), held) in self.taken
            fault = (
                f"`{place[1]}` is never taken: its condition is {'not' if held else 'always'} true"
            )
            yield _GoldPart(place, taken, fault, within, optional=True)
            if taken:
                yield from self.parts(steps, within)

    def _saved(
        self, step: CallStep, played: Sequence[ToolOutcome], within: frozenset[Place]
    ) -> Iterator[_GoldPart]:
        for name, path in step.save.items():
            place = self.saves[name] = self._place(step.line, f"save {name}")
            value = self.saved.get(id(step), {}).get(name)
            alive = not played or value not in EMPTY
            fault = f"`save` {name} is empty"
            if played:
                content = _shown(parsed(played[0].result.content()))
                source = path if isinstance(path, str) else f"`{path.get('$compute', 'the path')}`"
                fault = f"`save` {name} is {_shown(value)}: {source} finds nothing in {content}"
            yield _GoldPart(place, alive, f"{fault},", within, optional=name in self.asked)

    def _place(self, line: int, word: str) -> Place:
        number = self.numbers[line, word] = self.numbers.get((line, word), 0) + 1
        return line, word, number


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
