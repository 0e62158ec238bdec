"""Whole runs in which a model plays the user, behind real HTTP: rewards, blame, replay, grading,
budgets, errors.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from synth.core.dataset.reader import Dataset
from synth.errors import ModelError
from tests.e2e.command import stable_rows, synth
from tests.e2e.expert_endpoint import endpoint
from tests.e2e.test_serve_model import differing
from tests.unit import talking_world
from tests.user_endpoint import Player, obedient

TALKS = "misread_number,cancel_which_order,swap_for_another_colour,return_of_a_device,some_are_broken,refund_to_where"


def user(url: str, *more: str) -> tuple[str, ...]:
    model = (
        "users.model=player",
        "models.player.name=expert",
        f"models.player.base_url={url}",
        "models.player.api_key_env=null",
    )
    return ("users=simulated", *model, "runtime=inline", *more)


def rows_of(run: Path) -> list[dict[str, Any]]:
    return list(Dataset.open(run).rows())


def turns_of(row: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in row["events"] if each["event"] == "user_turn"]


def test_where_the_model_behaves_rewards_are_full_and_the_run_can_be_replayed_and_graded(
    tmp_path: Path,
):
    player = Player(obedient)
    job = (
        "run",
        "env=shop",
        f"tasks.families=[{TALKS}]",
        "tasks.count=18",
        "seed=5",
        "output.dir=run",
    )
    prices = (
        "models.player.price_input_usd_per_mtok=1",
        "models.player.price_output_usd_per_mtok=2",
    )
    with endpoint(player) as url:
        synth(*job, *user(url, *prices), cwd=tmp_path)
    rows = rows_of(tmp_path / "run")
    assert [row["reward"] for row in rows] == [1.0] * 18
    assert not [each for row in rows for each in turns_of(row) if each.get("discarded")]
    talked = [row for row in rows if row["user_input_tokens"]]
    assert {row["user_model"] for row in talked} == {"expert"}
    assert sum(row["user_input_tokens"] for row in talked) == 100 * len(player.requests)
    assert all(row["user_cost_usd"] > 0 for row in talked)
    assert all(row["cost_usd"] is None or row["cost_usd"] == 0 for row in rows), (
        "the user's cost stands apart"
    )
    asked = len(player.requests)
    replayed = synth("replay", "run", "--json", cwd=tmp_path)
    assert json.loads(replayed.stdout)["identical"]
    synth("grade", "run", "--json", cwd=tmp_path)
    again = (
        "model=replay",
        "model.path=run",
        "users=replay",
        "users.path=run",
        "runtime=inline",
        "output.dir=again",
    )
    synth(*job[:-1], *again, cwd=tmp_path)
    assert differing(stable_rows(tmp_path / "again"), stable_rows(tmp_path / "run")) == {
        "config_digest"
    }
    assert len(player.requests) == asked, "none of them asks anybody"


def test_a_recorded_user_answers_what_it_heard_and_nothing_else(tmp_path: Path):
    """The expert says what was said; one that errs says something else, and its rollouts are errors
    that name it.
    """
    job = ("run", "env=shop", "tasks.families=[misread_number]", "tasks.count=4", "runtime=inline")
    synth(*job, "output.dir=run", cwd=tmp_path)
    back = (*job, "users=replay", "users.path=run")
    synth(*back, "output.dir=same", cwd=tmp_path)
    assert differing(stable_rows(tmp_path / "same"), stable_rows(tmp_path / "run")) == {
        "config_digest"
    }
    synth(*back, "seed=9", "output.dir=other", cwd=tmp_path, code=3)
    with Dataset.open(tmp_path / "other") as dataset:
        errors = [str(each) for each in dataset.errors()]
    assert len(errors) == 4
    assert all("is not there; a replay answers the jobs of its own plan" in each for each in errors)
    for wrong, words in (
        (["users=replay"], "users.path: users=replay needs the directory of a recorded run"),
        (
            ["users=scripted", "users.path=run"],
            "users.path: only users=replay plays a recorded user back",
        ),
        (["users=replay", "users.path=nowhere"], "users.path: "),
    ):
        refused = synth(*job, *wrong, "output.dir=refused", cwd=tmp_path, code=2)
        assert words in refused.stderr
        assert not (tmp_path / "refused").exists()


def test_an_endpoint_of_the_users_that_breaks_makes_error_rows_and_a_resume_heals_them(
    tmp_path: Path,
):
    world = talking_world.make(tmp_path / "world")
    broken = {"now": True}

    def say(request: Any) -> str:
        if broken["now"]:
            raise ModelError("out of order", True, 503)
        return obedient(request)

    asked = ("tasks.count=4", "tasks.families=[plan_asked]", "output.dir=run")
    job = ("run", f"env.path={world}", *asked)
    with endpoint(Player(say)) as url:
        synth(*job, *user(url, "models.player.max_retries=0"), cwd=tmp_path, code=3)
        broke = Dataset.open(tmp_path / "run").errors()
        assert {each["error_type"] for each in broke} == {"ModelError"}
        assert all(
            each["message"].startswith("the user's model: ") and each["retryable"] for each in broke
        )
        broken["now"] = False
        synth("run", "--resume", "run", cwd=tmp_path)
    assert [row["reward"] for row in rows_of(tmp_path / "run")] == [1.0] * 4


def test_what_is_missing_is_said_before_anything_starts(tmp_path: Path):
    nameless = synth("run", "users=simulated", cwd=tmp_path, code=2)
    assert "users.model: the scripted model plays agents only" in nameless.stderr
    keyless = synth(
        "run",
        "users=simulated",
        "users.model=player",
        "models.player.name=m",
        "models.player.api_key_env=NOT_SET_HERE",
        cwd=tmp_path,
        code=2,
    )
    assert "models.player.api_key_env: the variable NOT_SET_HERE is not set" in keyless.stderr
    nobody = user("http://127.0.0.1:9/v1", "models.player.max_retries=0")
    unreachable = synth("run", "tasks.count=1", *nobody, cwd=tmp_path, code=2)
    assert "the user's model: http://127.0.0.1:9/v1/models did not answer" in unreachable.stderr
    assert not list(tmp_path.iterdir()) or unreachable.stdout == ""
