"""One row of a dataset for people: a dict that a notebook shows as a transcript."""

from __future__ import annotations

from typing import Any

from synth.plugins import resolve


class Trajectory(dict[str, Any]):
    """A row of the dataset: its columns by name, JSON columns as Python values.

    A notebook shows it as a transcript beside its row changes and verdicts.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        named = (f"{name}={self[name]!r}" for name in _NAMED if name in self)
        return f"Trajectory({', '.join(named)}, {len(self)} columns)"

    def _repr_html_(self) -> str:
        return str(resolve("synth.core.dataset.transcript_html:trajectory_html")(self))


_NAMED = ("trajectory_id", "family", "reward", "stop_reason")
