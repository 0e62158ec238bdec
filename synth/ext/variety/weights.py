"""Shares of families by their weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from synth.core.foundation.suggestions import hint, nearest
from synth.errors import OperatorError
from synth.plan import shares


def weights_of(
    asked: Mapping[str, float] | None, families: Sequence[str]
) -> dict[str, float] | None:
    """The weight of each family: the weight of the last name or pattern that fits it, else 1. None
    without weights.

    Raises :class:`OperatorError` for a name or pattern that fits no family.
    """
    if asked is None:
        return None
    for pattern in asked:
        if not any(fnmatchcase(name, pattern) for name in families):
            close = hint(nearest(pattern, families))
            raise OperatorError(f"tasks.weights: no family is named like {pattern!r}{close}")
    weights = dict.fromkeys(families, 1.0)
    for pattern, weight in asked.items():
        weights |= {name: weight for name in families if fnmatchcase(name, pattern)}
    return weights


def shares_by(
    weights: Mapping[str, float] | None, count: int, capacities: Mapping[str, int]
) -> dict[str, int]:
    """Shares of ``count`` by ``weights`` (None: equal ones); what a small one cannot supply, the
    others take. Sums to ``count``.
    """
    if weights is None:
        return shares(count, capacities)
    out = dict.fromkeys(capacities, 0)
    while left := count - sum(out.values()):
        alive = [name for name in capacities if out[name] < capacities[name]]
        whole = sum(weights[name] for name in alive)
        due = {name: left * weights[name] / whole for name in alive}
        given = {name: min(int(due[name]), capacities[name] - out[name]) for name in alive}
        if all(given[name] == int(due[name]) for name in alive):
            open_ones = [name for name in alive if out[name] + given[name] < capacities[name]]
            remainders = sorted(open_ones, key=lambda name: int(due[name]) - due[name])
            for name in remainders[: left - sum(given.values())]:
                given[name] += 1
        for name, more in given.items():
            out[name] += more
    return out


def top_up(
    more: int, given: Mapping[str, int], weights: Mapping[str, float] | None
) -> dict[str, float]:
    """Divide ``more`` so that the totals with ``given`` are equal, or in proportion to ``weights``.

    A name that has its share already gets nothing and is left out. The shares sum to ``more``.
    """
    weights = weights or dict.fromkeys(given, 1.0)
    names = sorted(given, key=lambda name: given[name] / weights[name])
    while True:
        whole = sum(weights[name] for name in names)
        level = (more + sum(given[name] for name in names)) / whole
        if given[names[-1]] <= level * weights[names[-1]]:
            return {name: level * weights[name] - given[name] for name in names}
        names.pop()
