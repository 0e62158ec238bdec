"""Commands that ask a model for texts of a world."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from synth.__main__ import main
from tests.e2e.expert_endpoint import endpoint


class Command:
    """A command of a world's author (``synth draft``, ``rephrase``), with a model's answers."""

    def __init__(self, name: str, world: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.world, self._name, self._capsys = world, name, capsys
        self.code = 0

    def __call__(self, writer: Any, *words: str) -> dict[str, Any]:
        """The report; ``code`` is the exit code afterwards."""
        with endpoint(writer, writer.fault) as url:
            line = [self._name, str(self.world), "--model", "expert", "--base-url", url, "--json"]
            self.code = main([*line, *words, "model.max_retries=0"])
        shown = self._capsys.readouterr()
        return json.loads(shown.out) if shown.out else {"error": shown.err}

    @property
    def families(self) -> dict[str, Any]:
        found = yaml.safe_load((self.world / "tasks.yaml").read_text("utf-8"))["families"]
        return {family["id"]: family for family in found}

    @property
    def lines(self) -> list[dict[str, Any]]:
        file = self.world / "phrasings.jsonl"
        return [json.loads(line) for line in file.read_text("utf-8").splitlines()]

    @property
    def requests(self) -> list[str]:
        return [line["texts"]["says"] for line in self.lines]
