"""The lengths of exported conversations in tokens, and what becomes of those that are too long."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from synth.core.dataset.store.wire import json_text
from synth.errors import OperatorError

if TYPE_CHECKING:
    from synth.ext.exporters.rendering.masks import TokenCount

BOUNDS = (1_024, 2_048, 8_192)
"""Usual limits of trainers, in tokens."""

CHARACTERS = 4
"""Characters of a token, by a rule of thumb."""

Long = Literal["drop", "refuse"]


@dataclass
class Lengths:
    """The tokens of each conversation that is exported, by the key of its row; without a
    ``counter`` a guess by its characters. One of more than ``most`` is left out, or
    (``long="refuse"``) ends the export.
    """

    counter: TokenCount | None = None
    most: int | None = None
    long: Long = "drop"
    found: dict[object, list[int]] = field(default_factory=dict[object, list[int]])

    def refusal(
        self, row: object, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any]
    ) -> str:
        """Count a conversation. Returns why it is left out; empty if it is exported.

        Raises :class:`~synth.errors.OperatorError` for one that ends the export.
        """
        if self.counter is None:
            length = (len(json_text(messages)) + len(json_text(tools))) // CHARACTERS
        else:
            length = self.counter.count(messages, tools)
        if self.most is None or length <= self.most:
            self.found.setdefault(row, []).append(length)
            return ""
        if self.long == "refuse":
            raise OperatorError(
                f"a conversation has {length:,} tokens, more than --max-tokens {self.most}: --long"
                " drop leaves out such rows, and --unit turn exports them turn by turn"
            )
        return f"longer than {self.most} tokens"

    def line(self) -> str:
        """The distribution, for the operator; empty for an export without a conversation."""
        found = [length for lengths in self.found.values() for length in lengths]
        if not found:
            return ""
        about = "" if self.counter else "about "
        over = ", ".join(f"{sum(n > bound for n in found)} over {bound:,}" for bound in BOUNDS)
        middle, longest = int(statistics.median(found)), max(found)
        return f"tokens: {about}{middle:,} in the median, {longest:,} at most; {over}" + (
            "" if self.counter else " (by characters; --tokenizer FILE counts)"
        )
