"""The table of refusals: what each gate costs, and what each kind of note would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from synth.core.report.screen import Screen

HEADER = ("gate", "refuses", "by", "for example")


def show_gates(screen: Screen, gates: Sequence[Mapping[str, Any]]) -> None:
    """Print the refusals among rollouts with the right end state, with the commonest findings."""
    rows: list[tuple[str, str, str, str]] = []
    for item in gates:
        note = "" if item["note"] is None else f", if it forbids [{item['note']}]"
        name, refused = f"{item['gate']}{note}", f"{item['refused']} of {item['right_ends']}"
        for reason in item["reasons"]:
            evidence = f" ({reason['evidence']})" if reason["evidence"] else ""
            text = f"{reason['check']}: {reason['words']}".removesuffix(": ") + evidence
            rows.append((name, refused, str(reason["rows"]), text))
            name = refused = ""
    screen.table(HEADER, rows, right=(1, 2))
