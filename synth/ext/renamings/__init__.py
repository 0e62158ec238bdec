"""Renamings: the same tools, rules and data under other names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, cast

from pydantic import Field, PlainValidator, Strict

from synth.core.config.section import ConfigSection
from synth.core.config.task_rules import held_out, twice
from synth.core.config.types import Finding, Plain
from synth.plugins import TASK_TRANSFORMS, ExtensionPoint

MOST_RENAMINGS = 200
"""The highest number of a renaming."""


def _renamings_asked(value: object) -> int | list[int]:
    """A number of renamings beside the world's own names, or the list of those to show, of
    which 0 is the world's own. Raises ValueError for anything else.
    """
    listed = cast("list[object]", value) if isinstance(value, list) else [value]
    fine = [item for item in listed if type(item) is int and 0 <= item <= MOST_RENAMINGS]
    if not fine or len(fine) < len(listed):
        raise ValueError(
            f"must be a number of variants from 0 to {MOST_RENAMINGS}, or a list of them such as"
            " [6,7]"
        )
    return fine if isinstance(value, list) else fine[0]


Renamings = Annotated[int | list[int], PlainValidator(_renamings_asked)]


def renaming_numbers(renaming: int | Sequence[int]) -> Sequence[int]:
    """The variants that ``tasks.renamings`` names; 0 is the world's own."""
    return range(renaming + 1) if isinstance(renaming, int) else renaming


@dataclass(frozen=True, slots=True, kw_only=True)
class RenamingsConfig(ConfigSection):
    """``renamings`` counts the variants of names, beside the world's own, that tasks are shown
    under, or lists their numbers: 0 is the world's own names. Those of ``held_out_renamings`` are
    shown in all splits but the first.
    """

    place: ClassVar[str] = "tasks"

    renamings: Renamings = 0
    held_out_renamings: list[Annotated[int, Strict(), Field(ge=0)]] | None = None

    def brings(self) -> Iterable[tuple[ExtensionPoint, str]]:
        return [(TASK_TRANSFORMS, "renamings")] if self.renamings != 0 else ()

    @classmethod
    def rules(cls, config: Plain) -> Iterator[Finding]:
        yield from _renamings(config)
        yield from _rules_on_tools(config)


def _renamings(config: Plain) -> Iterator[Finding]:
    """A variant is listed once, and may be held out of a first split, which is left another."""
    tasks = config["tasks"]
    numbers = renaming_numbers(tasks["renamings"])
    held: list[int] = tasks["held_out_renamings"] or []
    for key, listed in (("renamings", list(numbers)), ("held_out_renamings", held)):
        for number in twice(listed):
            yield (f"tasks.{key}",), f"tasks.{key}: {number} is listed twice"
    keys = ("tasks.held_out_renamings", "tasks.renamings")
    for number in sorted(set(held) - set(numbers)):
        yield (
            keys,
            f"tasks.held_out_renamings: {number} is not among the variants of tasks.renamings",
        )
    if held and not set(numbers) - set(held):
        yield keys, "tasks.held_out_renamings: leaves the first split none; hold out fewer"
    yield from held_out(config, "held_out_renamings")


def _rules_on_tools(config: Plain) -> Iterator[Finding]:
    """Rules of the approver name tools by the world's own names."""
    agent = config["agent"]
    renamed = any(renaming_numbers(config["tasks"]["renamings"]))
    for rule in ("allow", "deny") if "approval" in agent["middleware"] else ():
        key = f"agent.approval.{rule}"
        if renamed and agent["approval"][rule]:
            message = f"{key}: names tools of the world, and tasks.renamings renames them; drop one"
            yield ("tasks.renamings", key), message
