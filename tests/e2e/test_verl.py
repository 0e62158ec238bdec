"""verl's own worker, dataset, advantages and loss on a run of ours, in an environment of its own.

pytest -m long tests/e2e/test_verl.py
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from synth.api.exporting import export
from synth.dataset.exporters.rendering.presets import find_preset
from tests.documents import ROOT
from tests.e2e.command import synth
from tests.e2e.isolated import make_environment

pytestmark = [pytest.mark.long, pytest.mark.timeout(3_600)]

PACKAGES = ("verl[verl-core]==0.9.1", str(ROOT))
ENVIRONMENT = {
    **os.environ,
    "HF_HUB_OFFLINE": "1",
    "CUDA_VISIBLE_DEVICES": "",
    "PYTHONPATH": str(ROOT),
}


def test_verl_trains_on_rewards_of_the_verifiers(tmp_path: Path):
    """The expert's rollouts earn 1.0 and those of a random model 0; the tokens that are trained on
    are exactly the sampled ones, and those of the right rollouts become more probable.
    """
    python = make_environment(tmp_path / "venv", PACKAGES)
    job = ("run", "env=shop", "tasks.count=4", "seed=3", "runtime=inline", "output.dir=run")
    done = synth(*job, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    export(tmp_path / "run", "verl", tmp_path / "rows.parquet", options={"agent": "synth"})
    loop = {
        "name": "synth",
        "_target_": "synth.api.verl.VerlAgentLoop",
        "run": str(tmp_path / "run"),
    }
    (tmp_path / "loop.yaml").write_text(json.dumps([loop]))
    (tmp_path / "qwen3.jinja").write_text(find_preset("qwen3").source)
    played = subprocess.run(
        [python, Path(__file__).with_name("verl_consumer.py"), tmp_path],
        capture_output=True,
        text=True,
        check=False,
        env=ENVIRONMENT,
    )
    assert played.returncode == 0, played.stderr[-3000:]
    report = json.loads(played.stdout.splitlines()[-1])
    assert report["tasks"] == 4
    for number, step in enumerate(report["steps"]):
        assert sorted(step["rewards"]) == [0.0] * 8 + [1.0] * 8
        assert step["solved"] == step["rewards"]
        assert set(step["policy"]) == {number}, "the version of the policy is with the rollout"
        assert step["drift"] < 1e-4, "probabilities are those that were sampled with"
        assert step["gradient"] > 0
        assert "<tool_response>" in step["text"], "results are in the sequence"
        assert "<tool_response>" not in step["learned"], "and nobody is trained on them"
        assert step["learned"].startswith("<tool_call>")
    good = [step["good"] for step in report["steps"]]
    assert good[0] < good[1] < good[2], "right rollouts become more probable"
