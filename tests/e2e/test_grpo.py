"""TRL's GRPOTrainer on worlds of ours, in an environment of its own.

pytest -m long tests/e2e/test_grpo.py
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from synth.core.report.rates import wilson
from synth.ext.exporters.rendering.presets import find_preset
from tests.documents import ROOT
from tests.e2e.isolated import consume, make_environment
from tests.e2e.test_export_consumers import PACKAGES

pytestmark = [pytest.mark.long, pytest.mark.timeout(3_600)]

QUIET = {"TRL_EXPERIMENTAL_SILENCE": "1"}


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with TRL and synth."""
    home = tmp_path_factory.mktemp("grpo") / "venv"
    return make_environment(home, (*PACKAGES, str(ROOT)))


def test_grpo_trains_on_a_worlds_tools_and_verifiers(python: Path, tmp_path: Path):
    """Every rollout is judged by the verifiers, the rewards reach the gradient."""
    (tmp_path / "qwen3.jinja").write_text(find_preset("qwen3").source)
    template = tmp_path / "qwen3.jinja"
    report = json.loads(consume(python, "grpo_consumer.py", "library", template, tmp_path, **QUIET))
    assert len(report["losses"]) == 3
    assert all(map(math.isfinite, [*report["losses"], *report["rewards"]]))
    assert all(0 < norm < math.inf for norm in report["gradients"]), "rewards differ in a group"
    assert report["judged"] == [0.0] * 12, "a random model solves nothing, and each is judged"
    assert {"find_book", "lend", "submit"} <= set(report["tools"])


def test_grpo_raises_the_reward_of_a_toy_family(python: Path, tmp_path: Path):
    """Nothing but the verifiers' rewards trains the model after its short imitation."""
    script = ROOT / "examples" / "training" / "grpo.py"
    consume(python, script, tmp_path, **QUIET)
    report = json.loads((tmp_path / "grpo.json").read_text())
    assert 0.1 < report["before"] / 128 < 0.9, "there is something to learn from, and left to learn"
    low, _ = wilson(report["after"], 128)
    _, high = wilson(report["before"], 128)
    assert low > high, "the intervals of 128 rollouts before and after are apart"
