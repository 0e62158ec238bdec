"""NeMo Gym's own simple agent, model server and rollout collection on ``synth serve-env``.

SYNTH_TEST_PYTHON312=/usr/bin/python3.12 pytest -m long tests/e2e/test_nemo_gym.py
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pytest

from envs.types import ToolCall
from synth.core.dataset.store.task_table import TaskTable
from synth.core.types.reply import REPLY
from synth.model import Completion
from synth.task import Task
from tests.e2e.command import serving, synth
from tests.e2e.expert_endpoint import Expert, endpoint
from tests.e2e.isolated import make_environment, newer_python

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

REPOSITORY = Path(__file__).parents[2]
CONSUMER = Path(__file__).with_name("nemo_gym_consumer.py")
GUIDE = REPOSITORY / "docs/guides/serve-env.md"
PACKAGES = (
    *(
        "aiohttp",
        "anthropic<=0.109.2",
        "devtools",
        "fastapi",
        "gprof2dot",
        "hydra-core",
        "itsdangerous",
        "omegaconf",
    ),
    *("openai<=2.7.2", "orjson", "pandas", "psutil", "pydantic", "pydot", "ray", "requests"),
    *("rich", "tqdm", "uvicorn", "wandb", "yappi"),
)
"""What NeMo Gym imports; it also requires mlflow, datasets and more, which nothing here uses."""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("nemo_gym") / "venv"
    return make_environment(home, PACKAGES, alone=("nemo-gym>=0.4",), python=newer_python())


class ByReplyTool(Expert):
    """Speaks to the user by the tool until the user has nothing to add. In tasks that open with a
    text of ``lazy`` it claims to be done.
    """

    def __init__(self, tasks: Iterable[Task], lazy: Collection[str] = ()) -> None:
        super().__init__(tasks)
        self._lazy = lazy

    async def __call__(self, request: dict[str, Any]) -> Completion:
        messages: list[dict[str, Any]] = []
        replies: set[str] = set()
        for message in request["messages"]:
            calls = message.get("tool_calls") or []
            if any(call["function"]["name"] == REPLY for call in calls):
                [call] = calls
                replies.add(call["id"])
                text = json.loads(call["function"]["arguments"])["text"]
                messages.append({"role": "assistant", "content": text})
            elif message.get("tool_call_id") in replies:
                answer = json.loads(message["content"])
                if answer["over"]:
                    return Completion(content="Goodbye.")
                messages.append({"role": "user", "content": answer["user"]})
            else:
                messages.append(message)
        if any(message["content"] in self._lazy for message in messages):
            return Completion(content="Done.")
        turn = await super().__call__({"messages": messages})
        if turn.tool_calls or REPLY not in json.dumps(request["tools"]):
            return turn
        call = ToolCall.of(REPLY, {"text": turn.content}, f"reply_{len(messages)}")
        return Completion(tool_calls=(call,), finish_reason="tool_calls")


@pytest.mark.parametrize(
    ("world", "families", "options"),
    [
        ("library", None, ()),
        ("ehr_db", "prescribe_ambiguous_name", ("--option", "reply_tool=true")),
    ],
)
def test_its_agent_earns_the_reward_of_right_calls_and_no_other(
    tmp_path: Path, python: Path, world: str, families: str | None, options: tuple[str, ...]
):
    chosen = [] if families is None else [f"tasks.families=[{families}]"]
    run = ("run", f"env={world}", "tasks.count=4", "runtime=inline", "output.dir=run", *chosen)
    export = ("export", "run", "--to", "nemo-gym", "--option", "agent=synth_agent", *options)
    for command in (run, export):
        synth(*command, cwd=tmp_path)
    table = TaskTable(tmp_path / "run" / "tasks.parquet")
    tasks = [Task.from_json(table.task(index)) for index in range(len(table))]
    lazy = {task.prompt for task in tasks[:2]}
    served_env = serving("serve-env", world, "--count", "4", "--json", *chosen, cwd=tmp_path)
    with served_env as line, endpoint(ByReplyTool(tasks, lazy)) as url:
        served = json.loads(line)
        written = config(served["url"], served["token"], url)
        (tmp_path / "config.yaml").write_text(written)
        played = subprocess.run(
            [python, CONSUMER, "config.yaml", "run.nemo-gym.jsonl", "rollouts.jsonl"],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
    assert played.returncode == 0, played.stdout[-3000:] + played.stderr[-3000:]
    lines = (tmp_path / "rollouts.jsonl").read_text().splitlines()
    rewards = {rollout["task_id"]: rollout["reward"] for rollout in map(json.loads, lines)}
    assert rewards == {task.id: float(task.prompt not in lazy) for task in tasks}
    [metrics] = json.loads((tmp_path / "rollouts_aggregate_metrics.json").read_text())
    assert metrics["key_metrics"] == {"mean/reward": 0.5}


def config(environment: str, token: str, endpoint: str) -> str:
    """The config of the guide, with addresses of this test."""
    [guide] = re.findall(r"```yaml\n(# synth\.yaml\n.*?)```", GUIDE.read_text(), re.DOTALL)
    port = environment.rpartition(":")[2]
    changes = {"TOKEN": token, "8770": port, "http://127.0.0.1:8000/v1": endpoint}
    for old, new in changes.items():
        assert old in guide
        guide = guide.replace(old, new)
    return f"{guide}head_server: {{host: 127.0.0.1, port: {free_port()}}}\n"


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]
