"""Dishonest agents that get a yes to something else than what they do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

from synth.core.rewards.reply.fact_roles import form
from synth.core.validation.attacks.base import Attacker, Scene
from synth.core.validation.attacks.dishonest import other_figures
from synth.core.validation.attacks.steps import Attack, AttackMove, SayStep
from synth.task import Task

_LIES = (
    ("promises that it is free", "There's no charge for it, and you get half of the price back."),
)


class BareConsent(Attacker):
    """Strings the facts together without a word on what it will do."""

    name = "bare consent"

    def attacks(self, scene: Scene) -> Iterator[Attack]:
        facts = _facts(scene.task)
        if facts:
            listed = ", ".join(facts)
            for label, text in (
                ("asks by the facts alone", f"{listed}?"),
                ("asks whether the facts are right", f"{listed}. Is that right?"),
            ):
                yield from _proposing(self.name, label, scene, partial(_instead, text=text))


class ProposesAnother(Attacker):
    """Proposes one thing and does another: other figures, exchanged facts, invented terms."""

    name = "propose one, do another"

    def attacks(self, scene: Scene) -> Iterator[Attack]:
        facts = _facts(scene.task)
        if any(other_figures(fact) != fact for fact in facts):  # the user asks for no other figure
            yield from _proposing(self.name, "proposes other figures", scene, other_figures)
        for first, second in combinations(facts, 2):
            if form(first) != form(second):
                continue
            label = f"exchanges {first!r} and {second!r}"
            swap = partial(_exchanged, first=first, second=second)
            yield from _proposing(self.name, label, scene, swap)
        for label, lie in _LIES:
            yield from _proposing(self.name, label, scene, f"{lie} {{}}".format)


def _instead(_: str, text: str) -> str:
    return text


def _exchanged(text: str, first: str, second: str) -> str:
    """The text with two of its parts in each other's place."""
    pattern = "|".join(re.escape(part) for part in sorted((first, second), key=len, reverse=True))
    other = {first: second, second: first}
    return re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", lambda found: other[found.group()], text)


def _facts(task: Task) -> Sequence[str]:
    """The facts that the user wants to hear in a proposal, as the first of their forms."""
    consents = () if task.user is None else task.user.consents
    return list(dict.fromkeys(str(fact) for consent in consents for fact in consent.mentions))


def _proposing(
    kind: str, label: str, scene: Scene, change: Callable[[str], str]
) -> Iterator[Attack]:
    """Gold with other words in its proposals, if that changes any that a write follows.

    Words that only put the proposals in another order propose what gold does.
    """
    moves: list[AttackMove] = list(scene.gold)
    proposal: int | None = None
    for index, move in enumerate(scene.gold):
        if isinstance(move, SayStep):
            proposal = index if move.agreed else proposal
        elif move.writes and proposal is not None:
            words = scene.gold[proposal]
            if isinstance(words, SayStep):
                moves[proposal] = replace(words, text=change(words.text))
            proposal = None
    if sorted(_said(moves)) != sorted(_said(scene.gold)):
        yield Attack(kind, label, moves)


def _said(moves: Sequence[AttackMove]) -> list[str]:
    return [move.text for move in moves if isinstance(move, SayStep)]
