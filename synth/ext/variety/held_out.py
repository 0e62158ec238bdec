"""Wordings that are asked in all splits but the first (``tasks.held_out_phrasings``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from synth.core.foundation.hashing import derive_seed
from synth.core.types.phrasings import HeldOutPhrasings
from synth.errors import OperatorError
from synth.ext.variety.wording import voice_names
from synth.source import TaskPool


def hold_out(
    pools: Sequence[TaskPool],
    splits: Mapping[str, Sequence[int]] | None,
    share: float | None,
    *,
    varied: bool,
) -> HeldOutPhrasings | None:
    """The wordings that are held out; the pools of the first split ask none of them any more. None
    without a share.

    Raises :class:`OperatorError` if no family has several.
    """
    if share is None:
        return None
    held_out = choose_phrasings(pools, share, varied=varied)
    first = None if splits is None else next(iter(splits.values()))
    for pool in pools:
        if (first is None or pool.universe in first) and pool.phrasing_names():
            pool.bar_phrasings(held_out.families)
    return held_out


def choose_phrasings(pools: Sequence[TaskPool], share: float, *, varied: bool) -> HeldOutPhrasings:
    """The wordings that are held out: of each family that has several, ``share`` of them, at least
    one and not all. With ``varied``, the same share of the voices.

    They depend on the wordings only, so that every run of a world holds out the same ones. Raises
    :class:`OperatorError` if no family has several.
    """
    names: dict[str, list[str]] = {}
    for pool in pools:
        for family, found in pool.phrasing_names().items():
            names[family] = list(dict.fromkeys([*names.get(family, []), *found]))
    families = {family: _held(found, share, family) for family, found in names.items()}
    families = {family: found for family, found in families.items() if found}
    voices = _held(voice_names(), share, "voice") if varied else []
    if not families and not voices:
        raise OperatorError(
            "tasks.held_out_phrasings: no family has several wordings: list several requests under"
            " `says`, write more with `synth rephrase`, or ask with tasks.wording=varied"
        )
    return HeldOutPhrasings(families, voices)


def _held(names: Sequence[str], share: float, purpose: str) -> list[str]:
    """A share of names: none of a single one, at least one of several, never all."""
    count = min(max(1, round(share * len(names))), len(names) - 1)
    ordered = sorted(names, key=lambda name: derive_seed("held out", purpose, name))
    return sorted(ordered[:count])
