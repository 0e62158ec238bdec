"""What the gold solution of a task tells the user: the measure of other replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that the user asked to learn.

    ``forms`` are equal values, each a JSON value; a list is held if all of its items are.
    ``generated`` names the table and column of a key that the work makes, so that another rollout
    may have another one. ``words`` are the words of its name.
    """

    name: str
    forms: Sequence[Any] = ()
    generated: tuple[str, str] | None = None
    words: Sequence[str] = ()

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Fact:
        generated = raw.get("generated")
        return cls(
            raw["name"],
            tuple(raw.get("forms", ())),
            None if generated is None else (generated[0], generated[1]),
            tuple(raw.get("words", ())),
        )


@dataclass(frozen=True, slots=True)
class GoldReply:
    """The words of gold.

    ``said`` are its texts in order, ``must`` the facts that every reply must hold, ``facts`` other
    values that gold names, ``people`` (table, key) of those whom the task is about. ``shown`` are
    further people whom gold's own lookups show: they may be read about, and are not told about.
    """

    said: Sequence[str] = ()
    must: Sequence[Fact] = ()
    facts: Sequence[Fact] = ()
    people: Sequence[tuple[str, str]] = ()
    shown: Sequence[tuple[str, str]] = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> GoldReply:
        return cls(
            tuple(raw.get("said", ())),
            tuple(Fact.from_json(fact) for fact in raw.get("must", ())),
            tuple(Fact.from_json(fact) for fact in raw.get("facts", ())),
            tuple((table, key) for table, key in raw.get("people", ())),
            tuple((table, key) for table, key in raw.get("shown", ())),
        )
