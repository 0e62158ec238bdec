"""TRL's GRPOTrainer takes some steps on a world of ours, in an environment of its own."""

from __future__ import annotations

import json
import math
import os
import subprocess
from pathlib import Path

import pytest

from synth.dataset.exporters.rendering.presets import find_preset
from tests.documents import ROOT
from tests.e2e.isolated import make_environment
from tests.e2e.test_export_consumers import PACKAGES

pytestmark = pytest.mark.long


def test_grpo_trains_on_a_worlds_tools_and_verifiers(tmp_path: Path):
    """Every rollout is judged by the verifiers, the rewards reach the gradient."""
    python = make_environment(tmp_path / "venv", (*PACKAGES, str(ROOT)))
    (tmp_path / "qwen3.jinja").write_text(find_preset("qwen3").source)
    consumer = Path(__file__).with_name("grpo_consumer.py")
    trained = subprocess.run(
        [python, consumer, "library", tmp_path / "qwen3.jinja", tmp_path],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "HF_HUB_OFFLINE": "1",
            "PYTHONPATH": str(ROOT),
            "TRL_EXPERIMENTAL_SILENCE": "1",
        },
    )
    assert trained.returncode == 0, trained.stderr[-3000:]
    report = json.loads(trained.stdout.splitlines()[-1])
    assert len(report["losses"]) == 3
    assert all(map(math.isfinite, [*report["losses"], *report["rewards"]]))
    assert all(0 < norm < math.inf for norm in report["gradients"]), "rewards differ in a group"
    assert report["judged"] == [0.0] * 12, "a random model solves nothing, and each is judged"
    assert {"find_book", "lend", "submit"} <= set(report["tools"])
