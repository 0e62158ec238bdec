"""Wordings that are asked in all splits but the first (``tasks.held_out_phrasings``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from synth.core.types.phrasings import HELD_OUT, HeldOutPhrasings
from synth.errors import OperatorError
from synth.ext.variety.config import WordingConfig
from synth.ext.variety.wording.grammar import held_out_of, held_out_voices
from synth.source import TaskPool
from synth.task import Task
from synth.transform import Block, TaskTransform


class HeldOutWordings(TaskTransform):
    """The first split asks in none of the wordings that are held out."""

    Options = WordingConfig

    def __init__(self, options: WordingConfig) -> None:
        super().__init__(options)
        self._share, self._varied = options.held_out_phrasings or 0, options.wording == "varied"

    def choose(
        self, blocks: Sequence[Block], opening: Callable[[Block, Task], str]
    ) -> Sequence[Block]:
        names = self._held_out(blocks).families
        return [
            replace(block, source=block.source.without_phrasings(names))
            if block.split == blocks[0].split and block.source.phrasing_names()
            else block
            for block in blocks
        ]

    def manifest(self, blocks: Sequence[Block]) -> Mapping[str, object]:
        return {HELD_OUT: self._held_out(blocks).to_json()}

    def _held_out(self, blocks: Sequence[Block]) -> HeldOutPhrasings:
        pools = [block.source for block in blocks]
        return choose_phrasings(pools, self._share, varied=self._varied)


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
    families = {family: held_out_of(found, share, family) for family, found in names.items()}
    families = {family: found for family, found in families.items() if found}
    voices = held_out_voices(share) if varied else []
    if not families and not voices:
        raise OperatorError(
            "tasks.held_out_phrasings: no family has several wordings: list several requests under"
            " `says`, write more with `synth rephrase`, or ask with tasks.wording=varied"
        )
    return HeldOutPhrasings(families, voices)
