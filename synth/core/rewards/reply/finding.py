"""A finding about a reply."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class ReplyFinding:
    """A sentence that must not be said, or something that is not said.

    ``check`` is the rule's name, ``words`` are the sentence, ``evidence`` is what contradicts it.
    """

    check: str
    words: str
    evidence: str = ""

    def to_json(self) -> dict[str, str]:
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.check}: {self.words}" + (f" ({self.evidence})" if self.evidence else "")
