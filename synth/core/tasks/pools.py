"""The tasks of a family case by case, each a function of its index."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from synth.core.tasks.domains import Domain
from synth.core.tasks.grounding import by_text, combination, turns
from synth.core.tasks.queries import Queries, binds_of
from synth.core.tasks.yaml.body import Body
from synth.core.tasks.yaml.family import Family
from synth.core.tasks.yaml.step_templates import tools_called
from synth.errors import EmptyFamilyError, TaskError
from synth.source import TaskFamily

MOST_COMBINATIONS = 500
"""Combinations of varied values for which the conditions of cases are asked."""


@dataclass(frozen=True)
class TaskInstance:
    """The slots of one task, and what its family says about them. ``case`` is for families that
    list their tasks.
    """

    slots: Mapping[str, object]
    key: object
    body: Body
    case: str | None = None


@dataclass(frozen=True)
class ListedFamily(TaskFamily):
    """A family that lists its tasks one by one, as a function of tasks.py does."""

    tasks: Sequence[TaskInstance]

    @property
    def talks(self) -> bool:
        return any(task.body.user.answers for task in self.tasks)

    @property
    def calls(self) -> frozenset[str]:
        return frozenset[str]().union(*(tools_called(task.body.gold) for task in self.tasks))

    @property
    def honest_except(self) -> Mapping[str, str]:
        return {
            name: reason for task in self.tasks for name, reason in task.body.honest_except.items()
        }


@dataclass(frozen=True)
class PublishedFamily(ListedFamily):
    """A family of a set that somebody published: a task that fails its proof is left out."""

    published = True


class CasePool(ABC):
    """The tasks of one case of a family, each a function of its index."""

    case: str | None

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, index: int) -> TaskInstance: ...

    @abstractmethod
    def find(self, slots: Mapping[str, object]) -> list[TaskInstance]:
        """The instances about these slots, which another version of the family may have made."""


@dataclass(frozen=True)
class _GroundedCase(CasePool):
    """Grounding rows, with the varied values that the cases' conditions name, times the values of
    the other domains, ``vary``.
    """

    case: str | None
    family: Family
    rows: Sequence[Mapping[str, object]]
    vary: Mapping[str, Domain]

    def __len__(self) -> int:
        return len(self.rows) * math.prod(len(domain) for domain in self.vary.values())

    def __getitem__(self, index: int) -> TaskInstance:
        row = self.rows[index % len(self.rows)]
        slots = {**row, **combination(index // len(self.rows), self.vary)}
        return TaskInstance(slots, row[self.family.key], self.family.body)

    def find(self, slots: Mapping[str, object]) -> list[TaskInstance]:
        family = self.family
        if not {family.key, *family.vary} <= set(slots):
            return []
        varied = {name: slots[name] for name in family.vary}
        rows = [
            row
            for row in self.rows
            if all(row[name] == slots[name] for name in row if name in slots)
        ]
        return [TaskInstance({**row, **varied}, row[family.key], family.body) for row in rows]


@dataclass(frozen=True)
class _ListedCase(CasePool):
    """The tasks that a family lists one by one."""

    case: str | None
    tasks: Sequence[TaskInstance]

    def __len__(self) -> int:
        return len(self.tasks)

    def __getitem__(self, index: int) -> TaskInstance:
        return self.tasks[index]

    def find(self, slots: Mapping[str, object]) -> list[TaskInstance]:
        return [task for task in self.tasks if task.slots == slots]


def case_pools(family: TaskFamily, queries: Queries) -> list[CasePool]:
    """The tasks of a family, case by case.

    Raises :class:`~synth.errors.EmptyFamilyError` for a case without a row, and
    :class:`~synth.errors.TaskError` for cases that do not divide the rows and for a family of an
    unknown kind.
    """
    if isinstance(family, ListedFamily):
        cases = dict.fromkeys(task.case for task in family.tasks)
        return [
            _ListedCase(case, [task for task in family.tasks if task.case == case])
            for case in cases
        ]
    if not isinstance(family, Family):
        message = f"a family is a Family or a ListedFamily, not a {type(family).__name__}"
        raise TaskError(message, family.file, family.line, family.id)
    where = TaskError("", family.file, family.ground_line, family.id)
    whole = queries.distinct(family.sql, where)
    if not family.cases:
        return [_GroundedCase(None, family, list(whole.values()), family.vary)]
    return _grounded_cases(family, queries, whole)


def _grounded_cases(
    family: Family, queries: Queries, whole: Mapping[str, Mapping[str, object]]
) -> list[CasePool]:
    named = {name for condition in family.cases.values() for name in binds_of(condition)}
    deciding = {name: domain for name, domain in family.vary.items() if name in named}
    free = {name: domain for name, domain in family.vary.items() if name not in named}
    chosen = list(_combinations(family, deciding))
    found: dict[str, Mapping[str, Mapping[str, object]]] = {}
    for case, condition in family.cases.items():
        line = family.case_lines[case]
        place = TaskError(f"case {case}", family.file, line, family.id)
        sql = f"SELECT * FROM (\n{family.sql}\n) AS grounding WHERE (\n{condition}\n)"
        rows = [{**row, **values} for values in chosen for row in queries.rows(sql, place, values)]
        if not rows:
            message = f"case {case!r} has no row: nothing to tell the cases apart"
            raise EmptyFamilyError(message, family.file, line, family.id)
        found[case] = by_text(rows)
    if deciding:
        whole = by_text({**row, **values} for values in chosen for row in whole.values())
    _check_cover(family, whole, found)
    return [_GroundedCase(case, family, list(rows.values()), free) for case, rows in found.items()]


def _combinations(family: Family, domains: Mapping[str, Domain]) -> Iterator[Mapping[str, object]]:
    """All combinations of the varied values that the conditions of cases name."""
    count = math.prod(len(domain) for domain in domains.values())
    if count > MOST_COMBINATIONS:
        message = (
            f"the cases' conditions name {', '.join(domains)}, which have {count:,} combinations"
            f" of values; {MOST_COMBINATIONS} are looked at"
        )
        raise family.fail(message, next(iter(family.case_lines.values())))
    return (combination(index, domains) for index in range(count))


def _check_cover(
    family: Family,
    whole: Mapping[str, Mapping[str, object]],
    cases: Mapping[str, Mapping[str, Mapping[str, object]]],
) -> None:
    """Refuse cases whose conditions leave a row out, or share one. Rows stand under their text."""
    owners: dict[str, list[str]] = {text: [] for text in whole}
    for case, rows in cases.items():
        for text in rows:
            owners.setdefault(text, []).append(case)
    wrong = next((text for text in whole if len(owners[text]) != 1), None)
    if wrong is not None:
        found = " and ".join(owners[wrong]) or "none of them"
        message = f"the cases must cover each row exactly once: {dict(whole[wrong])} is in {found}"
        raise family.fail(message, next(iter(family.case_lines.values())))


def turn(pools: Sequence[CasePool], index: int) -> tuple[CasePool, int]:
    """The pool of the ``index``-th task and the index in it: the cases that still have tasks take
    turns.
    """
    number, place = turns({number: len(pool) for number, pool in enumerate(pools)}, index)
    return pools[number], place
