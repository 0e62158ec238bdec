"""Words of the gold solution of a task to the user: the measure of other replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from synth.core.types.json_form import JsonForm

ActKind = Literal["ask", "propose", "check", "report", "refuse", "work", "instruct"]


@dataclass(frozen=True, slots=True)
class Act:
    """One act of a turn to the user. The scripted expert states its acts; the acts of other models
    are read from their words, by rules or by a model.

    ``ask``: it wants to know the ``topics``. ``propose``: it wants leave to call the ``tools``;
    none named stands for any. ``check``: it asks whether what it says is right. ``report``: it
    says what it has done or found. ``refuse``: it says that something is not possible. ``work``: it
    says what it will look up, or greets; nothing is settled. ``instruct``: it wants the user to use
    one of its own tools, with these ``arguments``.

    Example: ``Act("propose", tools=("cancel_order",))``.
    """

    kind: ActKind
    topics: Sequence[str] = ()
    tools: Sequence[str] = ()
    arguments: Mapping[str, Any] | None = None


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

    @property
    def scalars(self) -> list[int | float | str]:
        """The forms that are numbers or texts."""
        known = (form for form in self.forms if not isinstance(form, bool))
        return [form for form in known if isinstance(form, (int, float, str))]


@dataclass(frozen=True, slots=True)
class GoldReply(JsonForm):
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


REPLY: Final = "reply_to_user"

REPLY_DESCRIPTION: Final = (
    "Say something to the user, and get the user's answer. Questions, and the final report, go"
    " here: the user sees nothing else of your work."
)
REPLY_PARAMETERS: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"text": {"type": "string", "description": "What you say to the user."}},
    "required": ["text"],
    "additionalProperties": False,
}
