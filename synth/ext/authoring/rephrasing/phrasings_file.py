"""The phrasings.jsonl of a world, which keeps the lines that it has."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path

from envs.world.files import PHRASINGS
from synth.core.dataset.store.atomic_files import write_file
from synth.core.tasks.phrasings import read_phrasings
from synth.ext.authoring.rephrasing.session import FamilyOutcome


def add_phrasings(
    folder: Path, outcomes: Sequence[FamilyOutcome], before: Collection[str] = ()
) -> int:
    """Add what a job has kept to a world's file, and return the number of new lines.

    A line that was added ``before`` is not added again: its author may have deleted it. Lines that
    stood for earlier texts of a family make way for new ones.
    """
    there = read_phrasings(folder)
    names = {(one.family, one.name) for one in there}
    kept = [one for outcome in outcomes for one in outcome.kept]
    new = [one for one in kept if one.name not in before and (one.family, one.name) not in names]
    current = {one.family: one.of for one in new}
    stay = [one for one in there if not one.of or current.get(one.family, one.of) == one.of]
    if new:
        lines = [json.dumps(one.to_json(), ensure_ascii=False) for one in [*stay, *new]]
        file = (folder / PHRASINGS).resolve()
        data = "".join(f"{line}\n" for line in lines).encode()
        write_file(file, data, file.with_name(f".{PHRASINGS}.new"))
    return len(new)
