"""The acts of a turn of the agent, as data beside its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

ActKind = Literal["ask", "propose", "check", "report", "refuse", "work"]


@dataclass(frozen=True, slots=True)
class Act:
    """One act of a turn to the user. The scripted expert states its acts; the acts of other models
    are read from their words, by rules or by a model.

    ``ask``: it wants to know the ``topics``. ``propose``: it wants leave to call the ``tools``;
    none named stands for any. ``check``: it asks whether what it says is right. ``report``: it
    says what it has done or found. ``refuse``: it says that something is not possible. ``work``: it
    says what it will look up, or greets; nothing is settled.

    Example: ``Act("propose", tools=("cancel_order",))``.
    """

    kind: ActKind
    topics: Sequence[str] = ()
    tools: Sequence[str] = ()
