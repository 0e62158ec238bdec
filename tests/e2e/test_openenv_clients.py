"""OpenEnv's own clients on ``synth serve-env``.

pytest -m long tests/e2e/test_openenv_clients.py
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from synth.core.dataset.reader import Dataset
from tests.e2e.command import serving, synth
from tests.e2e.isolated import make_environment
from tests.sample_rows import actions_of

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

CONSUMER = Path(__file__).with_name("openenv_consumer.py")


def test_both_clients_earn_the_reward_of_a_recorded_expert(tmp_path: Path):
    python = make_environment(tmp_path / "venv", ("openenv-core>=0.3",))
    synth(
        *("run", "env=library", "tasks.count=1", "runtime=inline", "output.dir=run"), cwd=tmp_path
    )
    [row] = Dataset.open(tmp_path / "run").rows()
    actions = actions_of(row)
    (tmp_path / "actions.json").write_text(json.dumps(actions))
    with serving("serve-env", "library", "--count", "1", "--json", cwd=tmp_path) as line:
        served = json.loads(line)
        address = f"{served['url']}/openenv/{served['token']}"
        played = subprocess.run(
            [python, CONSUMER, address, tmp_path / "actions.json"],
            capture_output=True,
            text=True,
            check=False,
        )
    assert played.returncode == 0, played.stderr[-3000:]
    generic, by_tools = json.loads(played.stdout)
    assert generic == {"task": 0, "reward": 1.0, "done": True, "steps": len(actions)}
    assert (by_tools["reward"], by_tools["done"]) == (1.0, True)
    assert by_tools["tools"][-1] == "reply_to_user"
