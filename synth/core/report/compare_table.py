"""Two compared runs for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from synth.core.report.screen import Screen

LISTED = 40
"""Flipped samples that are listed; ``--limit`` says otherwise."""


def show_comparison(screen: Screen, document: Mapping[str, Any], limit: int = LISTED) -> None:
    """Print the result of :func:`~synth.core.report.compare.compare`; ``limit`` 0 lists every
    flip.
    """
    for name, side in zip("AB", document["runs"], strict=True):
        rate = "no scored rows" if side["pass"] is None else rate_text(side["pass"])
        screen.parts([(f"{name}  {side['path']}", "bold"), (f"  {', '.join(side['models'])}", "")])
        screen.line(f"{side['rows']} rows ({side['status']}), passed {rate}", indent=3)
    screen.line()
    if note := other_world(document):
        screen.line(note, "yellow")
    screen.line(_verdict(document), "bold")
    for key, what in (
        ("unscored_pairs", "pairs without a score on both sides"),
        ("only_first", "samples only in A"),
        ("only_second", "samples only in B"),
    ):
        if document[key]:
            screen.line(f"{document[key]} {what} are left out", "yellow")
    screen.heading("Families")
    header = ("family", "pairs", "A", "B", "difference", "95%", "p", "gained", "lost")
    rows = [_row(part["family"], part) for part in [*document["families"]]]
    screen.table(header, [*rows, _row("all", document)], right=range(1, len(header)))
    _reasons(screen, "Why lost (B failed where A passed)", document["why_lost"])
    _flips(screen, document["flips"], limit)


def other_world(document: Mapping[str, Any]) -> str:
    """A note that the same tasks come from two versions of a world; empty if they do not."""
    pairs: int = document["other_world_pairs"]
    if not pairs:
        return ""
    digests = [", ".join(side["env_digests"]) for side in document["runs"]]
    return (
        f"note: {pairs} pairs come from two versions of their world (env_digest"
        f" {digests[0]} and {digests[1]}), so that the world may be what differs"
    )


def rate_text(figures: Mapping[str, Any]) -> str:
    low, high = figures["interval"]
    return f"{figures['rate']:.1%} ({low:.1%} to {high:.1%})"


def _verdict(document: Mapping[str, Any]) -> str:
    pairs, p_value = document["pairs"], document["p_value"]
    if not pairs:
        return "no pair has a score on both sides"
    difference, interval = document["difference"], document["interval"]
    text = f"B passes {difference:+.1%} of {pairs} pairs"
    if interval is None:
        text += " (no interval: all tasks differ alike)"
    else:
        text += f" ({interval[0]:+.1%} to {interval[1]:+.1%})"
    text += f", p = {p_value:.3g}"
    return text + (": no clear difference" if p_value >= 0.05 else "")


def _row(name: str, part: Mapping[str, Any]) -> tuple[str, ...]:
    pairs = part["both_passed"] + part["gained"] + part["lost"] + part["both_failed"]
    if not pairs:
        return (name, "0", *["-"] * 7)
    interval = part["interval"]
    spread = "all alike" if interval is None else f"{interval[0]:+.0%} to {interval[1]:+.0%}"
    rates = (f"{rate:.1%}" for rate in part["rates"])
    tested = (f"{part['difference']:+.1%}", spread, f"{part['p_value']:.3g}")
    return (name, str(pairs), *rates, *tested, str(part["gained"]), str(part["lost"]))


def _reasons(screen: Screen, title: str, reasons: Sequence[Mapping[str, Any]]) -> None:
    if not reasons:
        return
    screen.heading(title)
    header = ("rows", "failed at", "blame", "stopped")
    rows = [
        (str(part["count"]), part["verifier"] or "-", part["blame"] or "-", part["stop_reason"])
        for part in reasons
    ]
    screen.table(header, rows, right=(0,))


def _flips(screen: Screen, flips: Sequence[Mapping[str, Any]], limit: int) -> None:
    ordered = sorted(flips, key=lambda flip: flip["change"] == "gained")  # lost ones first
    shown = ordered[:limit] if limit else ordered
    if not flips:
        screen.heading("No sample flipped")
        return
    screen.heading(f"Flipped ({len(flips)})")
    rows = [
        (
            flip["change"],
            flip["family"],
            flip["first"]["trajectory_id"],
            flip["second"]["trajectory_id"],
            (flip["second"] if flip["change"] == "lost" else flip["first"])["reason"],
        )
        for flip in shown
    ]
    screen.columns([("", "family", "A", "B", "why it failed"), *rows])
    if len(shown) < len(flips):
        screen.line(f"{len(shown)} of {len(flips)} flips; --limit 0 shows all", "dim")
