"""Gitlawb/openclaude#67, 0xsline/OpenChatCut#6, labring/aiproxy#450, charmbracelet/crush#2696,
MoonshotAI/kimi-cli#2141, earendil-works/pi#3636: what an endpoint sends has to come back to it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from synth.core.dataset.reader import Dataset
from tests.cases.strict_endpoint import SIGNED, strict_endpoint
from tests.e2e.command import synth

JOB = ("env=library", "tasks.families=[lend_book]", "tasks.count=2", "preflight=false")
LOOKS_UP = ("find_member", {"name": "Ada Kern"})

pytestmark = pytest.mark.slow


def test_signatures_of_calls_come_back_in_run_and_branch(tmp_path: Path):
    with strict_endpoint("signature", *LOOKS_UP) as endpoint:
        done = synth("run", *JOB, *endpoint.overrides, "output.dir=first", cwd=tmp_path)
        branch = ("branch", "first", "--at", "1", "--samples", "1", *endpoint.overrides)
        synth(*branch, "output.dir=branch", cwd=tmp_path)
    assert not endpoint.refused
    warning = "warning: the endpoint answered with the model m instead of strict (requests: 6)\n"
    assert warning in done.stdout
    assert "m instead of strict" in synth("inspect", "branch", "--json", cwd=tmp_path).stdout
    for run in ("first", "branch"):
        rows = list(Dataset.open(tmp_path / run).rows())
        assert len(rows) == 2
        for row in rows:
            echoes = [turn["echo"]["calls"] for turn in row["provider_fields"] if "echo" in turn]
            assert [list(calls.values()) for calls in echoes] == [[{"extra_content": SIGNED}]] * 2
            assert "thought_signature" not in json.dumps([row["messages"], row["events"]])
    counts = json.loads((tmp_path / "first" / "manifest.json").read_text())["counts"]
    fields = {"kept": {"echo": 4, "model": 6}, "left_out": {"trace": 6}}
    assert counts["provider_fields"] == fields
    replayed = ("run", *JOB, "model=replay", "model.path=first", "output.dir=again")
    synth(*replayed, "runtime=inline", cwd=tmp_path)


def test_reasoning_comes_back_with_every_message_once_the_option_is_set(tmp_path: Path):
    with strict_endpoint("reasoning", *LOOKS_UP, turns=3) as endpoint:
        run = ("run", *JOB, *endpoint.overrides)
        done = synth(*run, "output.dir=without", cwd=tmp_path, code=None)
        option = "model.options.echo_reasoning=reasoning_content"
        assert f"with every message ({option} sends" in done.stdout
        refused = len(endpoint.refused)
        assert refused == 2
        synth(*run, option, "output.dir=with", cwd=tmp_path)
        assert len(endpoint.refused) == refused
    rows = list(Dataset.open(tmp_path / "with").rows())
    assert [row["num_turns"] for row in rows] == [4, 4]


def test_an_endpoint_that_refuses_what_it_sends_is_asked_without_it(tmp_path: Path):
    with strict_endpoint("closed", *LOOKS_UP) as endpoint:
        synth("run", *JOB, *endpoint.overrides, "output.dir=out", cwd=tmp_path)
    assert 1 <= len(endpoint.refused) <= 2, "both rollouts may be under way at the first refusal"
    rows = list(Dataset.open(tmp_path / "out").rows())
    assert [row["num_turns"] for row in rows] == [3, 3]
    assert all(row["provider_fields"][0]["echo"]["message"] == {"citations": ["a"]} for row in rows)
