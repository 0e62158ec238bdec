"""The keys of `tasks` that choose, sort and reword tasks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, cast

from pydantic import Field, PlainValidator, Strict

from synth.core.config.section import ConfigSection
from synth.core.config.task_rules import held_out
from synth.core.config.types import AnyShare, Finding, Place, Plain
from synth.plugins import TASK_TRANSFORMS, ExtensionPoint

Wording = Literal["plain", "varied"]
"""Words in which users ask (:mod:`synth.ext.variety.wording`)."""


SIZES = tuple("2345678")
"""Numbers of requests of a composed task."""


def _composition(value: object) -> dict[str, float]:
    """The shares of composed tasks by their number of requests.

    Raises ValueError for anything else.
    """
    given = cast("dict[object, object]", value) if isinstance(value, Mapping) else {}
    shares = {str(size): share for size, share in given.items()}
    fine = [
        float(cast("float", share))
        for size, share in shares.items()
        if size in SIZES and type(share) in {int, float} and 0 < cast("float", share) <= 1
    ]
    if not fine or len(fine) < len(given) or sum(fine) > 1 + 1e-9:
        raise ValueError(
            "must map 2 to 8 requests to their share of the tasks, at most 1 together, such as"
            " {2: 0.3, 3: 0.1}"
        )
    return {size: float(cast("float", share)) for size, share in sorted(shares.items())}


Composition = Annotated[dict[str, float], PlainValidator(_composition)]


def _weights(value: object) -> dict[str, float]:
    """The weights of families by name or pattern. Raises ValueError for anything else."""
    given = cast("dict[object, object]", value) if isinstance(value, Mapping) else {}
    if not given or not all(
        type(weight) in {int, float} and 0 < cast("float", weight) < 1e9
        for weight in given.values()
    ):
        raise ValueError(
            "must map families, by name or pattern, to weights above 0, such as"
            " {cancel_order: 2, refuse_*: 0.5}"
        )
    return {str(name): float(cast("float", weight)) for name, weight in given.items()}


Weights = Annotated[dict[str, float], PlainValidator(_weights)]


def _difficulty(value: object) -> dict[str, int]:
    """A range of difficulty, both ends included. Raises ValueError for anything else."""
    given = cast("dict[object, object]", value) if isinstance(value, Mapping) else {}
    ends = {str(name): end for name, end in given.items()}
    fine = {
        name: end
        for name, end in ends.items()
        if name in {"min", "max"} and type(end) is int and end >= 0
    }
    if not fine or len(fine) < len(ends) or fine.get("max", 10**9) < fine.get("min", 0):
        raise ValueError("must be a range of whole numbers, such as {min: 3} or {min: 3, max: 9}")
    return fine


Difficulty = Annotated[dict[str, int], PlainValidator(_difficulty)]


def _pass_rate(value: object) -> list[float]:
    """A range of rates, both ends included. Raises ValueError for anything else."""
    given = cast("list[object]", value) if isinstance(value, list | tuple) else []
    ends = [float(cast("float", end)) for end in given if type(end) in {int, float}]
    if len(given) != 2 or len(ends) != 2 or not 0 <= ends[0] <= ends[1] <= 1:
        raise ValueError("must be a range of rates from 0 to 1, such as [0.2, 0.8]")
    return ends


PassRate = Annotated[list[float], PlainValidator(_pass_rate)]

TaskOrder = Literal["turns", "difficulty"]
"""Orders of a plan."""

NEEDED = re.compile(r"needed\+(\d{1,3})")
"""A toolset: the tools that a task needs, and a number of others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionConfig(ConfigSection):
    """``compose`` is the share of tasks in which two to eight families are asked one after another,
    such as ``{2: 0.3, 3: 0.1}`` (None: there are none). ``max_near_duplicates`` is the largest
    share of tasks whose opening request is a near-duplicate of one before it (None: any); no two
    tasks end in the same words then, where others can be found. ``split_tools`` keeps each sequence
    of tools that gold calls, and each question's query without its values, to one split.

    ``weights`` map families, by name or pattern, to their share in relation to the others' 1.
    ``difficulty`` is the range that tasks must have, such as ``{min: 3, max: 9}``
    (:mod:`synth.core.types.difficulty`).

    ``from_run`` is an earlier run, whose policy's ``pass_rate`` on a task's family and case must be
    in this range (None: from 0.2 to 0.8).
    """

    place: ClassVar[str] = "tasks"
    needs: ClassVar[Mapping[str, str]] = {"pass_rate": "from_run"}
    not_data: ClassVar[Mapping[str, str]] = {
        "from_run": "a run may be moved; the plan's digest says which tasks were chosen"
    }

    compose: Composition | None = None
    max_near_duplicates: AnyShare | None = None
    split_tools: bool = False
    weights: Weights | None = None
    difficulty: Difficulty | None = None
    from_run: Place | None = None
    pass_rate: PassRate | None = None

    def brings(self) -> Iterable[tuple[ExtensionPoint, str]]:
        return () if self == SelectionConfig() else [(TASK_TRANSFORMS, "selection")]


@dataclass(frozen=True, slots=True, kw_only=True)
class WordingConfig(ConfigSection):
    """``wording`` says in which words users ask: ``plain`` are the task source's, ``varied``
    puts them into many voices by a grammar (:mod:`synth.ext.variety.wording`).
    ``held_out_phrasings`` is the share of each family's wordings, and of the voices, that are asked
    in all splits but the first (None: none).
    """

    place: ClassVar[str] = "tasks"

    wording: Wording = "plain"
    held_out_phrasings: Annotated[float, Strict(), Field(gt=0, lt=1)] | None = None

    def brings(self) -> Iterable[tuple[ExtensionPoint, str]]:
        if self.held_out_phrasings is not None:
            yield TASK_TRANSFORMS, "held_out_wordings"
        if self.wording == "varied":
            yield TASK_TRANSFORMS, "varied_wording"

    @classmethod
    def rules(cls, config: Plain) -> Iterator[Finding]:
        yield from held_out(config, "held_out_phrasings")


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderConfig(ConfigSection):
    """``order`` of the plan: families take ``turns``, or the tasks of each split come by their
    ``difficulty``.
    """

    place: ClassVar[str] = "tasks"

    order: TaskOrder = "turns"

    def brings(self) -> Iterable[tuple[ExtensionPoint, str]]:
        return [(TASK_TRANSFORMS, "by_difficulty")] if self.order == "difficulty" else ()


def _toolset(value: object) -> str:
    """``needed+N``. Raises ValueError for anything else."""
    if not isinstance(value, str) or NEEDED.fullmatch(value) is None:
        raise ValueError("must be of the form needed+5: tools that a task needs, and others")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsetsConfig(ConfigSection):
    """``tools`` offers each task the tools that it needs and some others, such as ``needed+5``, in
    place of all tools of the world (None). ``missing_tools`` is the share of tasks that lack the
    tool for one request, where one can be taken away.
    """

    place: ClassVar[str] = "tasks"
    needs: ClassVar[Mapping[str, str]] = {"missing_tools": "tools"}

    tools: Annotated[str, PlainValidator(_toolset)] | None = None
    missing_tools: AnyShare = 0.0

    def brings(self) -> Iterable[tuple[ExtensionPoint, str]]:
        return () if self.tools is None else [(TASK_TRANSFORMS, "toolsets")]
