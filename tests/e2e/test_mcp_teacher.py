"""The example of a teacher over MCP records the same data as a run of the same model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from synth.core.dataset.reader import Dataset
from tests.e2e.command import serving, synth

ROOT = Path(__file__).parents[2]
TOKEN = "the-token-of-this-test"
TASKS = 3


@pytest.mark.slow
def test_the_expert_teaches_over_mcp_as_it_does_in_a_run(tmp_path: Path):
    plan = ["env=library", f"tasks.count={TASKS}", "seed=3"]
    mcp = ["mcp", "library", "--seed", "3", "--count", str(TASKS), "--http", "--record", "played"]
    with (
        serving("serve-model", *plan, "--json", cwd=tmp_path) as served,
        serving(*mcp, "--token-env", "MCP_TOKEN", cwd=tmp_path, MCP_TOKEN=TOKEN) as url,
    ):
        endpoint = json.loads(served)
        teacher = str(ROOT / "examples" / "mcp_teacher.py")
        played = subprocess.run(
            [sys.executable, teacher, f"{url}/teacher", endpoint["model"], str(TASKS)],
            env=os.environ
            | {"OPENAI_BASE_URL": endpoint["base_url"], "OPENAI_API_KEY": "none"}
            | {"MCP_TOKEN": TOKEN},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert played.returncode == 0, played.stderr
    synth("run", *plan, "runtime=inline", "output.dir=run", cwd=tmp_path)
    columns = ["trajectory_id", "reward", "outcome", "state_diff", "state_hash_after", "tools"]
    with Dataset.open(tmp_path / "played") as ours, Dataset.open(tmp_path / "run") as theirs:
        recorded, run = list(ours.rows()), list(theirs.rows())
    assert [row["reward"] for row in recorded] == [1.0] * TASKS
    for one, other in zip(recorded, run, strict=True):
        assert {key: one[key] for key in columns} == {key: other[key] for key in columns}
        for message, same in zip(one["messages"], other["messages"], strict=True):
            assert (message["role"], message["content"]) == (same["role"], same["content"])
