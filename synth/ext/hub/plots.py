"""Histograms as small SVG files, readable on a light and on a dark page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from synth.core.report.histogram import histogram_of

WIDTH, HEIGHT = 320, 150
_LEFT, _TOP, _BOTTOM = 8, 26, 20

_STYLE = (
    "text{font:11px system-ui,sans-serif;fill:#57606a}.t{font-weight:600}"
    "rect{fill:#0f766e}line{stroke:#57606a}"
    "@media(prefers-color-scheme:dark){text{fill:#9da7b3}rect{fill:#2dd4bf}line{stroke:#9da7b3}}"
)


def histogram(title: str, values: Sequence[float]) -> str:
    """A histogram of values, at most 20 bars, with the number above each of few bars."""
    found = histogram_of(values)
    edges, counts = found.edges, found.counts
    most = max(counts)
    room = (WIDTH - 2 * _LEFT) / len(counts)
    floor = HEIGHT - _BOTTOM
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
            f' width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{escape(title)}">'
        ),
        f"<title>{escape(title)}</title><style>{_STYLE}</style>",
        f'<text class="t" x="{_LEFT}" y="14">{escape(title)}</text>',
    ]
    for index, count in enumerate(counts):
        tall = (floor - _TOP - 12) * count / most
        x = _LEFT + index * room
        parts.append(
            f'<rect x="{x + 1:.1f}" y="{floor - tall:.1f}" width="{room - 2:.1f}"'
            f' height="{tall:.1f}"><title>{_label(edges, index)}: {count}</title></rect>'
        )
        if len(counts) <= 8 and count:
            parts.append(
                f'<text x="{x + room / 2:.1f}" y="{floor - tall - 3:.1f}"'
                f' text-anchor="middle">{count}</text>'
            )
    parts += [
        f'<line x1="{_LEFT}" y1="{floor}" x2="{WIDTH - _LEFT}" y2="{floor}"/>',
        f'<text x="{_LEFT}" y="{HEIGHT - 6}">{edges[0]:g}</text>',
        f'<text x="{WIDTH - _LEFT}" y="{HEIGHT - 6}" text-anchor="end">{edges[-1]:g}</text></svg>',
    ]
    return "\n".join(parts) + "\n"


def _label(edges: Sequence[float], index: int) -> str:
    return f"from {edges[index]:g}" if index < len(edges) else f"{edges[-1]:g}"
