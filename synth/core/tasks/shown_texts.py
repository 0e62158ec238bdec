"""Texts that belong to one task: what tool results show behind a value of the database, and what
its user calls things.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from synth.core.tasks.yaml.template import text_of
from synth.task import Task

_SHORTEST_QUOTE = 12
"""Characters of a sentence that is a quote where it stands in a text."""

_SENTENCE_END = re.compile(r"(?<=[.!?:;])\s+")


@dataclass(frozen=True, slots=True)
class ShownTexts:
    """Wherever a result has one of the values in ``behind``, it shows the text behind it. The
    database stays as it is.

    >>> ShownTexts({"Kirchweg 4": "Ring twice."}).shown({"street": "Kirchweg 4"})
    {'street': 'Kirchweg 4 Ring twice.'}
    """

    NAME: ClassVar[str] = "shown_texts"
    """The name under which a task's ``extras`` keep ``behind``."""

    behind: Mapping[str, str]

    @classmethod
    def of(cls, task: Task) -> ShownTexts:
        return cls(task.extras.get(cls.NAME, {}))

    def __bool__(self) -> bool:
        return bool(self.behind)

    def shown(self, output: Any) -> Any:
        """The output of a tool as the agent is shown it."""
        if isinstance(output, str):
            return f"{output} {self.behind[output]}" if output in self.behind else output
        if isinstance(output, Mapping):
            items = cast("Mapping[str, Any]", output).items()
            return {name: self.shown(value) for name, value in items}
        if isinstance(output, (list, tuple)):
            return [self.shown(value) for value in cast("Sequence[Any]", output)]
        return output

    def without_quotes(self, said: str) -> str:
        """Words of the agent without the texts, and sentences of them, that it quotes."""
        for text in self.behind.values():
            for piece in (text, *_SENTENCE_END.split(text)):
                said = said.replace(piece, "") if len(piece) >= _SHORTEST_QUOTE else said
        return said


def named_in(values: Iterable[object], text: str = "") -> str:
    """Those of the values that a text calls by a name, as a sentence of an answer has them.

    >>> named_in(["LP-7", "red", "Fell boots", "LP-8"], "Are my Fell boots of LP-7 and LP-8 red?")
    'LP-7, the Fell boots and LP-8'
    """
    found: list[str] = []
    for value in dict.fromkeys(value for value in values if isinstance(value, str)):
        place = re.search(rf"(\b(?i:the|my|our|an?) )?(?<!\w){re.escape(value)}(?!\w)", text)
        if place is not None and value != value.lower():
            owned = place[1] is not None
            if owned or not value.rpartition(" ")[2].islower():
                found.append(f"the {value}" if owned and " " in value else value)
    return text_of(found) if found else ""
