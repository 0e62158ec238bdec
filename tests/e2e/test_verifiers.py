"""The package ``verifiers`` plays and scores tasks of ``synth serve-env``, through OpenEnv.

pytest -m long tests/e2e/test_verifiers.py
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from synth.core.dataset.reader import Dataset
from synth.model import Completion
from tests.e2e.command import serving, synth
from tests.e2e.expert_endpoint import endpoint
from tests.e2e.isolated import make_environment
from tests.sample_rows import actions_of

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

TASKS = 3


class Player:
    """Reads the observations of ``verifiers`` and answers with recorded actions, as a model would:
    in task ``idle`` it only talks.
    """

    def __init__(self, recorded: dict[str, list[dict[str, Any]]], idle: str) -> None:
        self._recorded, self._idle = recorded, idle
        self.tools: set[str] = set()

    async def __call__(self, request: dict[str, Any]) -> Completion:
        said = [message for message in request["messages"] if message["role"] == "assistant"]
        first = next(message for message in request["messages"] if message["role"] == "user")
        begun = json.loads(_text(first["content"]))["observation"]
        self.tools |= {tool["name"] for tool in begun["tools"]}
        if begun["task_id"] == self._idle:
            return Completion('{"text": "It is done."}')
        return Completion(json.dumps(self._recorded[begun["task_id"]][len(said)]))


def _text(content: Any) -> str:
    return content if isinstance(content, str) else content[0]["text"]


def test_verifiers_scores_what_the_database_says(tmp_path: Path):
    python = make_environment(tmp_path / "venv", ("verifiers[openenv]>=0.4",))
    made = ("run", "env=library", f"tasks.count={TASKS}", "runtime=inline", "output.dir=run")
    synth(*made, cwd=tmp_path)
    recorded = {row["task_id"]: actions_of(row) for row in Dataset.open(tmp_path / "run").rows()}
    idle = next(task for task, actions in recorded.items() if len(actions) > 2)
    player = Player(recorded, idle)
    served_env = serving("serve-env", "library", "--count", str(TASKS), "--json", cwd=tmp_path)
    with served_env as line, endpoint(player) as model:
        served = json.loads(line)
        address = f"{served['url']}/openenv/{served['token']}"
        (tmp_path / "eval.json").write_text(json.dumps(evaluation(address, model)))
        played = subprocess.run(
            [python.with_name("vf-eval"), "@", "eval.json"],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "ANY_KEY": "unused"},
        )
    assert played.returncode == 0, played.stderr[-3000:]
    [file] = (tmp_path / "out").glob("*/traces.jsonl")
    episodes = [json.loads(line) for line in file.read_text().splitlines()]
    rewards = {}
    for episode in episodes:
        assert not episode["errors"], episode["errors"]
        [trace] = episode["traces"]
        assert not trace["errors"], trace["errors"]
        task = list(recorded)[episode["task"]["data"]["reset"]["task"]]
        rewards[task] = trace["rewards"]["openenv_reward"]["score"]
    assert rewards == {task: float(task != idle) for task in recorded}
    assert {"find_book", "lend", "submit", "reply_to_user"} <= player.tools


def evaluation(environment: str, model: str) -> dict[str, Any]:
    """The config of ``vf-eval``: one rollout of each task, the model without a harness."""
    return {
        "env": {
            "taskset": {
                "id": "openenv",
                "base_url": environment,
                "resets": [{"task": number} for number in range(TASKS)],
            },
            "player": {"harness": {"id": "null"}, "runtime": {"type": "subprocess"}},
        },
        "model": "expert",
        "client": {"base_url": model, "api_key_var": "ANY_KEY"},
        "output_dir": "out",
        "push": False,
        "rich": None,
    }
