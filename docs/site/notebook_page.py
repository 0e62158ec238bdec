"""A notebook as a page: its text, its code, and the outputs that are stored in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def notebook_page(path: Path) -> str:
    """Return the notebook as Markdown."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return "\n\n".join(_cell(cell) for cell in cells) + "\n"


def _cell(cell: Mapping[str, Any]) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    outputs = (_output(output) for output in cell["outputs"])
    return "\n\n".join([f"```python\n{source}\n```", *(text for text in outputs if text)])


def _output(output: Mapping[str, Any]) -> str:
    if output["output_type"] == "stream":
        return "" if output["name"] == "stderr" else _fenced(output["text"])
    data = output.get("data", {})
    if "text/html" in data:
        lines = "".join(data["text/html"]).splitlines()
        return "<div>\n" + "\n".join(line for line in lines if line.strip()) + "\n</div>"
    return _fenced(data["text/plain"]) if "text/plain" in data else ""


def _fenced(lines: list[str]) -> str:
    return f"```text\n{''.join(lines).rstrip()}\n```"
