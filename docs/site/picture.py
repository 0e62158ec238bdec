"""Draw the transcript of a rollout and its row changes: ``python docs/site/picture.py``.

Writes ``docs/pictures/transcript.svg`` from a run of the scripted expert. The same run gives the
same picture, so that a test can compare it.
"""

from __future__ import annotations

import io
import os
import re
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

import synth
from synth.core.screen.screen import Screen
from synth.core.screen.transcript import show_trajectory

OUT = Path(__file__).resolve().parents[1] / "pictures" / "transcript.svg"
WIDTH = 96
TITLE = "synth inspect out/library --show 1"


def picture() -> str:
    """Return the picture as SVG."""
    with tempfile.TemporaryDirectory() as home:
        run = synth.run(
            env="library",
            tasks={"count": 4},
            seed=7,
            runtime="inline",
            output={"dir": home},
            progress=False,
        )
        row = dict(run.dataset[1])
    row["messages"] = [message for message in row["messages"] if message["role"] != "system"]
    os.environ |= {"TERM": "xterm-256color", "COLORTERM": ""}
    os.environ.pop("NO_COLOR", None)
    text = io.StringIO()
    show_trajectory(Screen(text, terminal=True, width=WIDTH), row)
    console = Console(record=True, file=io.StringIO(), width=WIDTH, legacy_windows=False)
    console.print(Text.from_ansi(text.getvalue().rstrip()))
    drawn = console.export_svg(title=TITLE, theme=MONOKAI, unique_id="transcript")
    return without_remote_fonts(drawn)


def without_remote_fonts(svg: str) -> str:
    """Remove the fonts that the picture would load from elsewhere; the reader's own are used."""
    return re.sub(r"\n *@font-face \{.*?\n    \}", "", svg, flags=re.DOTALL)


def main() -> int:
    """Write the picture."""
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(picture(), "utf-8")
    print(OUT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
