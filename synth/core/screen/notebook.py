"""What a notebook shows: the terminal's text as static HTML, without a script or a request."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from synth.core.screen.screen import Screen, cell
from synth.core.screen.transcript import show_messages, show_row_changes, show_trajectory


def _html(show: Callable[[Screen], None]) -> str:
    screen = Screen(io.StringIO(), terminal=False, record=True)
    show(screen)
    return screen.html()


def trajectory_html(row: Mapping[str, Any]) -> str:
    """Render a row without its system message, or the columns of it that are given."""
    try:
        shown = [message for message in row["messages"] if message["role"] != "system"]
        return _html(lambda screen: show_trajectory(screen, row, messages=shown))
    except KeyError:  # of a column that was not read
        cells = [(name, cell(value)) for name, value in row.items()]
        return _html(lambda screen: screen.table(("", ""), cells))


def families_html(path: str, status: str, rows: Iterable[Mapping[str, Any]]) -> str:
    """Render a dataset: number of rows and mean reward of each family."""
    rewards: defaultdict[str, list[float | None]] = defaultdict(list)
    for row in rows:
        rewards[row["family"]].append(row["reward"])
    lines = [(path, status, str(sum(map(len, rewards.values()))))]
    for family, found in sorted(rewards.items()):
        known = [reward for reward in found if reward is not None]
        mean = f"{fmean(known):.3f}" if known else "unscored"
        lines.append((family, mean, str(len(found))))
    return _html(lambda screen: screen.table(("", "mean reward", "rows"), lines, right=(1, 2)))


def episode_html(
    messages: Sequence[Mapping[str, Any]], changes: Sequence[Mapping[str, Any]] | str
) -> str:
    """Render a conversation with its row changes, or with the text that says why there are none."""

    def show(screen: Screen) -> None:
        show_messages(screen, messages)
        if isinstance(changes, str):
            screen.heading(changes)
        else:
            show_row_changes(screen, changes)

    return _html(show)
