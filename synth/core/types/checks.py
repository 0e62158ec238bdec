"""The checks of one task: the gates that a rollout has to pass, and right ends other than gold's.

Their JSON is written in tasks.parquet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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
class ChangeFrame:
    """The changes of one table that an alternative end allows.

    - ``where``: an SQL condition that a row meets before and after its change.
    - ``columns``: the columns that updates may change; None for all.
    - ``ops``: insert, update, delete. None stands for updates only where ``columns`` are named,
      and for all otherwise.
    - ``at_most``: the number of rows; None for any number.
    """

    where: str
    columns: Sequence[str] | None = None
    ops: Sequence[str] | None = None
    at_most: int | None = None

    def to_json(self) -> dict[str, object]:
        return {
            "where": self.where,
            "columns": None if self.columns is None else list(self.columns),
            "ops": None if self.ops is None else list(self.ops),
            "at_most": self.at_most,
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> ChangeFrame:
        columns, ops = raw.get("columns"), raw.get("ops")
        return cls(
            where=raw["where"],
            columns=None if columns is None else tuple(columns),
            ops=None if ops is None else tuple(ops),
            at_most=raw.get("at_most"),
        )


@dataclass(frozen=True, slots=True)
class AlternativeEnd:
    """A right end other than gold's.

    - ``bind``: names, each with an SQL query that finds its one value on the end state.
    - ``must``: SQL queries that each give one true value on the end state.
    - ``may_change``: the changes that each table may have; no other table may change.
    """

    bind: Mapping[str, str] = field(default_factory=dict[str, str])
    must: Sequence[str] = ()
    may_change: Mapping[str, ChangeFrame] = field(default_factory=dict[str, ChangeFrame])

    def to_json(self) -> dict[str, object]:
        return {
            "bind": dict(self.bind),
            "must": list(self.must),
            "may_change": {table: frame.to_json() for table, frame in self.may_change.items()},
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> AlternativeEnd:
        frames: Mapping[str, Any] = raw.get("may_change") or {}
        return cls(
            bind=dict(raw.get("bind") or {}),
            must=tuple(raw.get("must") or ()),
            may_change={table: ChangeFrame.from_json(frame) for table, frame in frames.items()},
        )


@dataclass(frozen=True, slots=True)
class EndRules:
    """How the end and the answer of a rollout are compared with gold's.

    - ``compare``: the rules of columns (``table.column`` -> rule).
    - ``compare_answer``: the rule of each field of the answer.
    - ``transient``: ``allow`` or ``forbid`` writes that are undone again.
    - ``alternatives``: right ends other than gold's.
    """

    compare: Mapping[str, Any] = field(default_factory=dict[str, Any])
    compare_answer: Mapping[str, Any] = field(default_factory=dict[str, Any])
    transient: str = "allow"
    alternatives: Sequence[AlternativeEnd] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "compare": self.compare,
            "compare_answer": self.compare_answer,
            "transient": self.transient,
            "alternatives": [end.to_json() for end in self.alternatives],
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> EndRules:
        ends = tuple(map(AlternativeEnd.from_json, raw["alternatives"]))
        return cls(raw["compare"], raw["compare_answer"], raw["transient"], ends)
