"""The conversation of a scripted user and the agent so far, and what is settled by it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from synth.core.users.scripted.proposal import Named, named_in, values_of
from synth.user import Consent, UserRole


@dataclass
class Talk:
    """``said`` are the user's messages, ``heard`` the agent's; the acts of the conditions
    ``settled`` were agreed to, the topics ``answered`` were told.
    """

    role: UserRole
    said: list[str]
    heard: list[str] = field(default_factory=list[str])
    settled: list[Consent] = field(default_factory=list[Consent])
    answered: set[str] = field(default_factory=set[str])

    @property
    def own_words(self) -> str:
        """All that the user has said."""
        return "\n".join(self.said)

    @property
    def own_acts(self) -> Sequence[str]:
        """The words for the acts of all conditions."""
        return [word for one in self.role.consents for word in one.act]

    @property
    def facts(self) -> Sequence[str]:
        """The facts of all conditions, in every form."""
        return [
            form
            for one in self.role.consents
            for fact in (*one.mentions, *one.if_named)
            for form in (fact, *one.forms.get(fact, ()))
        ]

    @property
    def own_values(self) -> frozenset[Named]:
        """The values that the conditions hold, or that the user has named."""
        return named_in(self.own_words).union(*map(values_of, self.role.consents))

    @property
    def known(self) -> frozenset[Named]:
        """The values that the user or the agent has named, or the conditions hold."""
        return self.own_values.union(*map(named_in, self.heard))

    @property
    def unsettled(self) -> Sequence[Consent]:
        return [one for one in self.role.consents if one not in self.settled]

    def open_consents(self, text: str) -> Sequence[Consent]:
        """The conditions that a proposal may be about: not one that is met already where another
        one of its tools holds a value of the text too.
        """
        named, fresh = named_in(text), self.unsettled
        return [
            one
            for one in self.role.consents
            if one in fresh
            or not any(
                one.covers == other.covers and named & values_of(one) & values_of(other)
                for other in fresh
            )
        ]

    def ordered(self, names: Iterable[str]) -> tuple[str, ...]:
        """Topics in the order of the role."""
        found = set(names)
        return tuple(name for name in self.role.knows if name in found)

    def telling(self, topics: Sequence[str], more: str) -> str:
        """The answers of topics, and more words."""
        parts = (*(self.role.knows[name].says for name in topics), more)
        return " ".join(filter(None, parts))
