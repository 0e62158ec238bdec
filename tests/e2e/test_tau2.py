"""tau2-bench's domains as worlds, and its lists of tasks: proved, played, replayed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import synth
from tests.e2e.isolated import make_environment

EXAMPLE = Path(__file__).parents[2] / "examples" / "tau2"
PACKAGE = "inspect-evals==0.26.0"
PROVED = {"airline": 36, "retail": 100, "telecom": 114, "banking_knowledge": 76}
"""Tasks of the lists that prove themselves, of 50, 114, 114 and 97."""
FOUND = {
    "airline": {
        "0": "nothing can be judged",
        "9": "names 'IFOYYZ', which get_reservation_details finds, and no call of gold is about it",
        "14": "the output '44' is supported by no row",
        "35": "passengers[].dob='1985-04-04', which nobody could know",
    },
    "retail": {
        "12": "The money goes to a gift card, or where it came from",
        "64": "The order is not delivered: pending",
        "105": "The gift card holds too little",
        "110": "gold call 2 (modify_user_address) changes nothing",
    },
    "telecom": {},
    "banking_knowledge": {
        "task_039": "the user says 'Before I agree, spell out exactly what you will do.'",
        "task_083": "'customer_max_liability_amount' is required",
        "task_093": "amount=33.0, which nobody could know",
    },
}


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("tau2")
    python = make_environment(home / "package", [], [PACKAGE])
    (data,) = python.parent.parent.glob("lib/*/site-packages/inspect_evals/tau2/data/domains")
    made = subprocess.run(
        [sys.executable, EXAMPLE / "make_worlds.py", home / "worlds", "--data", data],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    return home / "worlds"


@pytest.mark.long
@pytest.mark.parametrize("name", PROVED)
def test_the_lists_are_proved_played_and_replayed(name: str, worlds: Path):
    shown = synth(
        *("check", name, "--tasks-file", f"{name}/actions.json", "--json"),
        cwd=worlds,
        timeout=1800,
        code=int(bool(FOUND[name])),
    )
    report: dict[str, Any] = json.loads(shown.stdout)
    reasons = {item["id"]: str(item.get("reasons")) for item in report["findings"]}
    for task, words in FOUND[name].items():
        assert words in reasons[task]
    assert report["proved"] == PROVED[name]
    run = [f"env.path={name}", "tasks=actions", f"tasks.path={name}/actions.json"]
    out = f"output.dir={name}-run"
    run += ["agent.max_turns=60", f"tasks.count={PROVED[name]}", out]
    synth("run", *run, cwd=worlds, timeout=1800)
    rewards = json.loads(synth("inspect", f"{name}-run", "--json", cwd=worlds).stdout)["rewards"]
    assert (rewards["mean"], rewards["scored"]) == (1.0, PROVED[name])
    synth("replay", f"{name}-run", cwd=worlds, timeout=1800)


def test_without_the_data_one_message_says_where_they_are(tmp_path: Path):
    for arguments in (["out"], ["out", "--data", "nowhere"]):
        made = subprocess.run(
            [sys.executable, EXAMPLE / "make_worlds.py", *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert made.returncode == 2
        assert "install inspect-evals" in made.stderr
        assert "Traceback" not in made.stderr
    assert not list(tmp_path.iterdir())
