"""The pages that readers see: README.md and docs/, with the blocks of code in them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in PAGES}
"""By path in the repository, the text of a page."""

WHOLE = "\n".join(TEXTS.values())


def blocks(language: str, text: str = WHOLE) -> list[str]:
    """Return the fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def block_with(language: str, words: str) -> str:
    """Return the first block of a language that holds these words."""
    return next(block for block in blocks(language) if words in block)


def marked(kind: str, name: str) -> str:
    """Return the block under ``<!-- kind: name -->``, which stands on one page."""
    found = re.findall(
        rf"^<!-- {kind}: {re.escape(name)} -->\n```\w*\n(.*?)^```", WHOLE, re.DOTALL | re.MULTILINE
    )
    assert len(found) == 1, f"{len(found)} blocks are marked {kind}: {name}"
    return found[0]


def links(page: str) -> list[str]:
    """Return the paths that a page links to, without anchors and other sites."""
    return re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", TEXTS[page])
