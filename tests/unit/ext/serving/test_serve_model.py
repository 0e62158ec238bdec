"""The run that ``synth serve-model`` prints is the one that it serves, in the words of a shell and
of Hydra.
"""

from __future__ import annotations

import shlex

import pytest

from synth.config import flat, from_dict, to_dict
from synth.core.config.compose import compose
from synth.ext.serving.known_rollouts import (
    RecordedRolloutIndex,
    Served,
    plan_overrides,
    run_command,
)

URL = "http://[::1]:8000/v1"


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {
            "seed": 2**62,
            "tasks": {"count": 3, "samples": 2, "families": ["a", "b_2"], "held_out": None},
        },
        {"tasks": {"universes": 4, "splits": {"train": [0, 2], "test": [1, 3]}, "held_out": ["a"]}},
        {
            "agent": {
                "max_turns": 5,
                "max_total_tokens": 9,
                "timeout_s": 1e-7,
                "error_style": "plain",
            }
        },
        {"env": {"path": "/a world/O'Brien's \\"}, "users": {"kind": "mine.users:Person"}},
        {"env": {"path": "/ends/with/quote\\'"}},
        {"env": {"path": "null"}},
        {"model": {"name": "Qwen/Qwen3-8B", "mistakes": ["stray_write"]}},
        {"model": {"name": "a, b={c}"}},
    ],
)
@pytest.mark.slow
def test_the_printed_run_composes_to_the_same_plan(changes: dict[str, object]):
    config = from_dict({"env": {"name": "shop"}, **changes})
    name = config.model.name or "scripted"
    served = Served(name, RecordedRolloutIndex([]), "nothing", plan_overrides(to_dict(config)))
    words = shlex.split(shlex.join(run_command(served, URL, "SERVED_KEY")))
    assert words[:2] == ["synth", "run"]
    (composed,) = compose(words[2:])
    ours, theirs = flat(to_dict(config)), flat(to_dict(composed.config))
    assert {
        key for key in ours if ours[key] != theirs[key] and not key.startswith("model.")
    } == set()
    model = composed.config.model
    assert (model.kind, model.name, model.base_url) == ("openai", name, URL)
    assert (model.api_key_env, model.send_seed) == ("SERVED_KEY", True)


def test_no_key_is_said_so():
    served = Served("m", RecordedRolloutIndex([]), "nothing", ["env=shop"])
    assert run_command(served, URL, None) == [
        *("synth", "run", "env=shop", "model=openai", "model.name=m", f'model.base_url="{URL}"'),
        *("model.api_key_env=null", "model.send_seed=true"),
    ]
