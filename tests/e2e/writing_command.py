"""A command in which a model writes for a world, such as `synth draft`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Protocol

import pytest
from aiohttp import web

from synth.__main__ import main
from synth.ext.serving.openai_server import Fault
from synth.model import Completion
from tests.e2e.expert_endpoint import endpoint

LIBRARY = Path(__file__).parents[2] / "examples" / "library"


class Writer(Protocol):
    """The model's answers, and the faults of its endpoint."""

    async def __call__(self, request: dict[str, Any]) -> Completion: ...

    async def fault(self, request: web.Request) -> Fault | None: ...


class WritingCommand:
    """The command on a world, with the answers of a model."""

    name: str

    def __init__(self, world: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.world, self._capsys = world, capsys
        self.code = 0

    def __call__(self, writer: Writer, *words: str) -> dict[str, Any]:
        """The report; ``code`` is the exit code afterwards."""
        with endpoint(writer, writer.fault) as url:
            line = [self.name, str(self.world), "--model", "expert", "--base-url", url, "--json"]
            self.code = main([*line, *words, "model.max_retries=0"])
        shown = self._capsys.readouterr()
        return json.loads(shown.out) if shown.out else {"error": shown.err}


def library(folder: Path) -> Path:
    """A copy of the library in a folder."""
    copy = folder / "library"
    shutil.copytree(LIBRARY, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy
