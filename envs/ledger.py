"""An account of an input: what was used, what was changed, and what was left out, with the reason.

Each part of a source stands in it once: a table, a row, a question, a field of an answer. The parts
are counted against the source, so that a part that nobody accounted for is an error of the program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Outcome = Literal["changed", "left out"]

SHOWN_NAMES = 4
"""The names that a line of the summary shows for one reason."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Parts of one kind that were not used as they are.

    ``kind`` is a singular noun ("table"), ``name`` says which part ("public.orders"), ``why`` is
    the reason or what it was changed into, ``count`` the number of parts that the entry stands for.
    """

    kind: str
    name: str
    outcome: Outcome
    why: str
    count: int = 1


@dataclass
class Ledger:
    """The account of one input.

    >>> ledger = Ledger()
    >>> ledger.found("table", 3)
    >>> ledger.use("table", 2)
    >>> ledger.leave_out("table", "search_idx", "a virtual table")
    >>> ledger.check()
    >>> list(ledger.lines())
    ['tables: 2 of 3 used', '  left out search_idx: a virtual table']
    """

    entries: list[Entry] = field(default_factory=list[Entry])
    _found: Counter[str] = field(default_factory=Counter[str])
    _used: Counter[str] = field(default_factory=Counter[str])

    def found(self, kind: str, count: int = 1) -> None:
        """Count parts that the source has, as the source itself counts them."""
        self._found[kind] += count

    def use(self, kind: str, count: int = 1) -> None:
        self._used[kind] += count

    def change(self, kind: str, name: str, into: str, count: int = 1) -> None:
        self.entries.append(Entry(kind, name, "changed", into, count))

    def leave_out(self, kind: str, name: str, why: str, count: int = 1) -> None:
        self.entries.append(Entry(kind, name, "left out", why, count))

    def add(self, other: Ledger) -> None:
        """Take over the account of a part of the input."""
        self.entries += other.entries
        self._found += other._found
        self._used += other._used

    def count(self, kind: str, outcome: Outcome) -> int:
        return sum(one.count for one in self.entries if (one.kind, one.outcome) == (kind, outcome))

    def reasons(self, kind: str, outcome: Outcome = "left out") -> Counter[str]:
        """Return the number of parts for each reason."""
        found = Counter[str]()
        for one in self.entries:
            if (one.kind, one.outcome) == (kind, outcome):
                found[one.why] += one.count
        return found

    def check(self) -> None:
        """Raise AssertionError if the parts of a kind do not add up to the source."""
        for kind, one in self.counts().items():
            named = one["changed"] + one["left_out"]
            total = one["used"] + named
            if total != one["found"]:
                raise AssertionError(
                    f"{one['found']} {_plural(kind)} came in and {total} are accounted for"
                    f" ({one['used']} used, {named} changed or left out)"
                )

    def _kinds(self) -> Sequence[str]:
        return list(dict.fromkeys([*self._found, *self._used, *(one.kind for one in self.entries)]))

    def lines(self, most: int = 20) -> Iterator[str]:
        """A summary for a terminal: one line for each kind that is not used whole, below it one
        line for each reason, at most ``most`` of these.
        """
        shown = 0
        for kind in self._kinds():
            reasons: dict[tuple[Outcome, str], list[Entry]] = {}
            for one in self.entries:
                if one.kind == kind:
                    reasons.setdefault((one.outcome, one.why), []).append(one)
            if not reasons:
                continue
            used = self._used[kind] + self.count(kind, "changed")
            yield f"{_plural(kind)}: {used:,} of {self._found[kind]:,} used"
            for (outcome, why), entries in reasons.items():
                if shown < most:
                    yield f"  {outcome} {_names(entries)}: {why}"
                shown += 1
        if shown > most:
            yield f"  and {shown - most} more reasons"

    def counts(self) -> dict[str, dict[str, int]]:
        """The numbers of parts by kind: found, used, changed, left out."""
        return {
            kind: {
                "found": self._found[kind],
                "used": self._used[kind],
                "changed": self.count(kind, "changed"),
                "left_out": self.count(kind, "left out"),
            }
            for kind in self._kinds()
        }

    def to_json(self) -> Mapping[str, object]:
        """The whole account as plain data: counts by kind, and every entry."""
        entries = [
            {
                "kind": one.kind,
                "name": one.name,
                "outcome": one.outcome.replace(" ", "_"),
                "why": one.why,
                "count": one.count,
            }
            for one in self.entries
        ]
        return {"counts": self.counts(), "entries": entries}


def _plural(kind: str) -> str:
    if kind.endswith("y") and not kind.endswith("key"):
        return kind[:-1] + "ies"
    return f"{kind}es" if kind.endswith("x") else f"{kind}s"


def _names(entries: Sequence[Entry]) -> str:
    shown = [
        f"{one.name} ({one.count:,})" if one.count > 1 else one.name
        for one in entries[:SHOWN_NAMES]
    ]
    more = len(entries) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")
