"""Config sections keep their contract, those that ship and the example; an installed one is used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from examples.extensions.config_section import Requests
from synth.core.config.section import ConfigSection, section_kinds
from synth.testing import ConfigSectionConformance

CHANGES: dict[str, Mapping[str, object]] = {
    "tasks": {"suite": 1},
    "agent.faults": {"rate": 0.5},
    "agent.compaction": {"keep_turns": 1},
    "agent.offload": {"read_chars": 10},
    "agent.logging": {"contents": True},
    "agent.retry": {"max_retries": 1},
    "agent.approval": {"mode": "strict"},
    "rewards.judge": {"model": "model"},
    "tasks.rephrase": {"model": "model"},
    "branch": {"path": "/run"},
    "narrate": {"path": "/run"},
    "telemetry.otel": {"contents": True},
    "card": {"language": "de"},
}
OF_TASKS = {
    "WordingConfig": {"wording": "varied", "held_out_phrasings": 0.5},
    "SelectionConfig": {"weights": {"a": 2}},
    "RenamingsConfig": {"renamings": 2},
    "OrderConfig": {"order": "difficulty"},
    "InjectionConfig": {"inject": 0.2},
    "ToolsetsConfig": {"tools": "needed+5", "missing_tools": 0.2},
}


@pytest.mark.parametrize("section", section_kinds(), ids=lambda kind: kind.__name__, scope="class")
class TestShipped(ConfigSectionConformance):
    @pytest.fixture(autouse=True)
    def _section(self, section: type[ConfigSection]) -> None:
        self._kind = section

    def kind(self) -> type[ConfigSection]:
        return self._kind

    def changes(self) -> Mapping[str, object]:
        return OF_TASKS.get(self._kind.__name__, CHANGES[self._kind.place])


class TestTheExample(ConfigSectionConformance):
    def kind(self) -> type[ConfigSection]:
        return Requests

    def changes(self) -> Mapping[str, object]:
        return {"words": 8}


@pytest.mark.slow
def test_the_keys_of_an_installed_section_are_keys_of_the_config(tmp_path: Path) -> None:
    installed = tmp_path / "requests_kit-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: requests-kit\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text(
        "[synth.config_sections]\nrequests = extensions.config_section:Requests\n"
    )

    def synth(*words: str, kit: bool = True) -> str:
        paths = ["examples", *([str(tmp_path)] if kit else [])]
        done = subprocess.run(
            [sys.executable, "-m", "synth", *words],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr

    job = ("env=library", "tasks.count=12", "runtime=inline", f"output.dir={tmp_path / 'run'}")
    assert "requests.wrods: unknown key; did you mean requests.words?" in synth(
        "run", *job, "requests.wrods=9"
    )
    assert "tasks are left out" in synth("run", *job, "requests.words=9")
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert "requests-kit" in str(manifest["identity"]["more"]["extensions"])
    assert "requests.words: 9 -> null" in synth(
        "run", "--resume", str(tmp_path / "run"), "requests.words=null"
    )
    assert "every tool result" in synth("replay", str(tmp_path / "run"), kit=False)
    assert "library" in synth("inspect", str(tmp_path / "run"), kit=False)
