"""The checks of one task: the gates that a rollout has to pass, and right ends other than gold's.

Their JSON is written in tasks.parquet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from synth.core.types.json_form import JsonForm

TIE, CLOCK = "tie", "clock"
"""Notes on a question: its query has several right answers, or another one at another time."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate by its name. ``options`` are plain JSON, which the gate's own verifier parses; None
    stands for none.
    """

    name: str
    options: Any = None

    def to_json(self) -> object:
        """The bare name, or ``{name: options}``."""
        return self.name if self.options is None else {self.name: self.options}

    @classmethod
    def from_json(cls, raw: str | Mapping[str, Any]) -> Gate:
        if isinstance(raw, str):
            return cls(raw)
        ((name, options),) = raw.items()
        return cls(name, options)


def find_gate(gates: Iterable[Gate], name: str) -> Gate | None:
    """The gate of that name; None if there is none."""
    return next((gate for gate in gates if gate.name == name), None)


@dataclass(frozen=True, slots=True)
class ChangeFrame(JsonForm):
    """The changes of one table that an alternative end allows.

    - ``where``: an SQL condition that a row meets before and after its change.
    - ``columns``: the columns that updates may change; None for all.
    - ``ops``: insert, update, delete. None stands for updates only where ``columns`` are named,
      and for all otherwise.
    - ``at_most``: the number of rows; None for any number.
    """

    where: str
    columns: tuple[str, ...] | None = None
    ops: tuple[str, ...] | None = None
    at_most: int | None = None


@dataclass(frozen=True, slots=True)
class AlternativeEnd(JsonForm):
    """A right end other than gold's.

    - ``bind``: names, each with an SQL query that finds its one value on the end state.
    - ``must``: SQL queries that each give one true value on the end state.
    - ``may_change``: the changes that each table may have; no other table may change.
    """

    bind: Mapping[str, str] = field(default_factory=dict[str, str])
    must: tuple[str, ...] = ()
    may_change: Mapping[str, ChangeFrame] = field(default_factory=dict[str, ChangeFrame])


@dataclass(frozen=True, slots=True)
class EndRules(JsonForm):
    """Rules by which the end and the answer of a rollout are compared with gold's.

    - ``compare``: the rules of columns (``table.column`` -> rule).
    - ``compare_answer``: the rule of each field of the answer.
    - ``transient``: ``allow`` or ``forbid`` writes that are undone again.
    - ``alternatives``: right ends other than gold's.
    """

    compare: Mapping[str, Any] = field(default_factory=dict[str, Any])
    compare_answer: Mapping[str, Any] = field(default_factory=dict[str, Any])
    transient: str = "allow"
    alternatives: tuple[AlternativeEnd, ...] = ()
