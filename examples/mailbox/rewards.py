"""What a mail has to carry: its text is free, the values in it are not."""

import re
from collections.abc import Iterable

from envs.types import RowChange
from synth.core.language.values import same_day, values_in
from synth.rewards import Evidence, gate

CODE = re.compile(r"\b[A-Z]+[A-Z0-9]*-?\d[\w-]*\b")
"""Numbers of orders, parcels and the like."""


def carried(text: str) -> list[set[str]]:
    """The readings of each value that a text gives."""
    codes = [{code} for code in CODE.findall(text)]
    values = values_in(CODE.sub(" ", text))
    return codes + [{" ".join(reading) for reading in value.readings} for value in values]


def same(one: set[str], other: set[str]) -> bool:
    return bool(one & other) or any(same_day(said, day) for day in one for said in other)


def bodies(changes: Iterable[RowChange]) -> list[str]:
    """The texts of the mails that were written."""
    return [(one.after or {}).get("body") or "" for one in changes if one.table == "mails"]


@gate
def mails_carry_values(evidence: Evidence) -> tuple[bool, str]:
    """For each mail of gold there is one that says its days, times, amounts and numbers."""
    made = [carried(body) for body in bodies(evidence.changes)]
    end = evidence.task.end
    for body in bodies(map(RowChange.from_json, end.changes) if end else ()):
        needed = carried(body)
        if not any(
            all(any(same(one, other) for other in given) for one in needed) for given in made
        ):
            return False, f"no mail says all values of {body[:200]!r}"
    return True, ""
