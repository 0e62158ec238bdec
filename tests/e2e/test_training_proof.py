"""The training example in small: rows, some steps, a served model that calls tools.

Run it with ``pytest -m long tests/e2e/test_training_proof.py``; it needs `uv` and a package index.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from synth.dataset.reader import Dataset
from tests.e2e.command import synth
from tests.e2e.isolated import make_environment

pytestmark = pytest.mark.long

EXAMPLE = Path(__file__).parents[2] / "examples" / "training"
FAMILIES = "guest_room,room_beds,mark_clean"
ROWS = 96
OFFLINE = {**os.environ, "HF_HUB_OFFLINE": "1"}


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with what the example needs."""
    home = tmp_path_factory.mktemp("training") / "venv"
    return make_environment(home, (EXAMPLE / "requirements.txt").read_text().split())


@pytest.fixture(scope="module")
def trained(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the model, and the log of its training."""
    home = tmp_path_factory.mktemp("proof")
    world = f"env.path={EXAMPLE / 'hotel'}"
    job = ("run", world, f"tasks.families=[{FAMILIES}]", "tasks.universes=8", "runtime=inline")
    done = synth(*job, f"tasks.count={ROWS}", "output.dir=rows", cwd=home)
    assert done.returncode == 0, done.stderr
    template = str(EXAMPLE / "template.jinja")
    export = ("export", "rows", "--to", "trl-sft", "--template", template, "--out", "rows.parquet")
    assert synth(*export, cwd=home).returncode == 0
    script = [python, EXAMPLE / "train.py", "rows.parquet", "model", "--rows", str(ROWS)]
    log = subprocess.run(script, cwd=home, capture_output=True, text=True, check=False, env=OFFLINE)
    assert log.returncode == 0, log.stderr[-3000:]
    (home / "train.log").write_text(log.stdout + log.stderr)
    return home


@pytest.fixture
def endpoint(python: Path, trained: Path) -> Iterator[str]:
    command = [python, EXAMPLE / "serve.py", trained / "model", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=OFFLINE)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait()


def test_no_row_is_skipped_and_the_loss_falls(trained: Path):
    log = (trained / "train.log").read_text()
    assert f"{ROWS} of {ROWS} rows" in log
    losses = [float(found) for found in re.findall(r"'loss': '?([0-9.e-]+)", log)]
    assert len(losses) == ROWS // 8
    assert losses[-1] < losses[0] / 3


def test_the_served_model_calls_tools_in_a_universe_that_it_never_met(endpoint: str, trained: Path):
    world, chosen = str(EXAMPLE / "hotel"), ("--families", FAMILIES, "--universes", "100")
    model = ("--model", "trained", "--base-url", endpoint, "agent.text_calls=parse")
    limits = ("--tasks", "6", "agent.max_turns=4", "preflight=false", "runtime=inline")
    done = synth("eval", world, *chosen, *model, *limits, "--out", "after", cwd=trained)
    assert done.returncode == 0, done.stderr
    rows = list(Dataset.open(trained / "after").rows(["num_tool_calls", "num_tool_errors"]))
    assert any(row["num_tool_calls"] > row["num_tool_errors"] for row in rows)
    assert json.loads((trained / "after" / "eval.json").read_text())["broken"] == 0
