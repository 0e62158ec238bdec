"""The reasons for which a task of a list is left out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """A kind of mistake in a list, as reports count it."""

    UNREADABLE = "cannot be read"
    DUPLICATE_ID = "has the id of another task"
    UNKNOWN_TOOL = "calls an unknown tool"
    WRONG_ARGUMENTS = "calls a tool with wrong arguments"
    FAILS_ON_DATA = "makes a call that fails on the data"
    UNKNOWABLE_VALUE = "uses a value that nobody could know"
    NO_CHANGE = "makes a write that changes nothing"
    UNSUPPORTED_OUTPUT = "expects an output that no row supports"
    NOTHING_TO_JUDGE = "has nothing to judge"
    HALF_DONE = "does a part of what its user names"
    OTHER_GOLD = "expects something else than a task of the same words"
    NOT_PROVED = "does not prove itself"
    WRONG_AGENT_WINS = "lets a lazy or wrong agent win"
    HONEST_AGENT_LOSES = "lets an honest agent lose"


class Refused(Exception):
    """An entry that cannot become a task."""

    def __init__(self, kind: Kind, reason: str) -> None:
        super().__init__(kind, reason)
        self.kind, self.reason = kind, reason


@dataclass(frozen=True)
class LeftOut:
    """A task of a list that is left out, and the reason."""

    id: str
    kind: Kind
    reason: str

    def __str__(self) -> str:
        return f"task {self.id} {self.kind}: {self.reason}"
