"""Tests for :mod:`synth.core.config.unread`: each key that changes nothing in a run is named."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth import run
from synth.config import KEYS, RunConfig, flat, to_dict
from synth.core.config.compose import compose
from synth.core.config.unread import _SWITCHES, unread
from synth.core.foundation.shipped import configs_dir

NEEDED = {
    "model=openai": ["model.name=m"],
    "model=replay": ["model.path=out"],
    "users=simulated": ["models.m.name=m", "users.model=m"],
    "users=replay": ["users.path=out"],
}
"""What a choice of a config group does not go without."""


def left_out(*overrides: str) -> dict[str, str]:
    account = unread(compose(overrides)[0].config)
    account.check()
    return {entry.name: entry.why for entry in account.entries}


@pytest.mark.parametrize(
    ("overrides", "key", "why"),
    [
        (["model.temperature=0.3"], "model.temperature", "model=scripted asks no endpoint"),
        (["model.name=gpt-4.1"], "model.name", "model=scripted asks no endpoint; see model=openai"),
        (
            ["model=openai", "model.name=m", "model.tool_retries=4"],
            "model.tool_retries",
            "model=openai does not read it; see model=scripted",
        ),
        (["models.m.name=m", "users.model=m"], "users.model", "users=scripted asks no model"),
        (["models.m.name=m"], "models.m", "nobody asks it"),
        (["runtime=inline", "runtime.workers=3"], "runtime.workers", "runtime=inline does not"),
        (["runtime=inline", "runtime.address=auto"], "runtime.address", "see runtime=ray"),
        (["branch.at=each_turn"], "branch.at", "branch.path is not set"),
        (["rewards.judge.votes=5"], "rewards.judge.votes", "rewards.judge.model is not set"),
        (["agent.retry.max_retries=3"], "agent.retry.max_retries", "does not list retry"),
        (["telemetry.otel.sample=0.5"], "telemetry.otel.sample", "does not list otel"),
        (["tasks.suite=5"], "tasks.suite", "see tasks=bird"),
    ],
)
def test_a_key_that_nobody_reads_is_named_with_the_reason(overrides, key, why):
    found = left_out(*overrides)
    assert list(found) == [key]
    assert why in found[key]


@pytest.mark.parametrize("group", ["agent", "env", "model", "output", "runtime", "users"])
def test_the_files_that_ship_set_nothing_that_nobody_reads(group):
    for file in sorted((configs_dir() / group).glob("*.yaml")):
        choice = f"{group}={file.stem}"
        assert left_out(choice, *NEEDED.get(choice, [])) == {}


@settings(max_examples=30, deadline=None)
@given(st.sets(st.sampled_from(["model.top_p=0.5", "seed=3", "tasks.count=2",
                                "branch.where=x", "runtime.concurrency=2", "model.stream=true"])))  # fmt: skip
def test_the_account_of_drawn_overrides_is_complete(overrides):
    config = compose(sorted(overrides))[0].config
    account = unread(config)
    values, usual = flat(to_dict(config)), flat(to_dict(RunConfig()))
    changed = sum(values[key] != usual[key] for key in KEYS)
    counts = account.counts()["override"]
    assert counts["found"] == changed == counts["used"] + counts["left_out"]


def test_every_switch_is_a_key_of_the_config():
    assert set(_SWITCHES.values()) <= set(KEYS)
    assert all(any(f"{key}.".startswith(f"{part}.") for key in KEYS) for part in _SWITCHES)


def test_a_run_keeps_the_account_in_its_manifest(tmp_path: Path):
    run(
        "env=library", "tasks.count=1", "tasks.families=[lend_book]", "runtime=inline",
        "model.temperature=0.3", f"output.dir={tmp_path / 'out'}", progress=False,
    )  # fmt: skip
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    entries = manifest["account"]["entries"]
    assert [entry["name"] for entry in entries if entry["kind"] == "override"] == [
        "model.temperature"
    ]


def test_settings_of_users_are_named_where_no_task_has_a_user():
    config = compose(["users=simulated", *NEEDED["users=simulated"]])[0].config
    account = unread(config, talks=False)
    account.check()
    assert {entry.why for entry in account.entries} == {"no task of this run has a user"}
