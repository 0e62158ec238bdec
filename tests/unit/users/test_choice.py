"""Which user a run has: by name or by path, and what is refused before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.config import from_dict, problems
from synth.core.config.fingerprints import difference
from synth.core.runner.build import build_user
from synth.core.runner.rate_limits.limiter import LeasedRateLimiter
from synth.core.users import AbsentUser
from synth.core.users.scripted.user import ScriptedUser
from synth.errors import OperatorError
from synth.model import Model
from synth.prepare import prepare
from tests.unit import small_world, talking_world


def config(world: Path, kind: str, families: list[str] | None = None):
    return from_dict(
        {
            "env": {"path": str(world)},
            "users": {"kind": kind},
            "tasks": {"count": 3, "families": families},
        }
    )


def test_without_a_user_families_that_need_one_are_refused_with_what_to_say(tmp_path: Path):
    world = talking_world.make(tmp_path / "world")
    with pytest.raises(OperatorError) as refused:
        prepare(config(world, "none"))
    assert str(refused.value) == (
        "users=none: nobody would answer the agent in plan_asked, plan_declined; "
        "use users=scripted or 'tasks.families=[price]'"
    )
    with pytest.raises(OperatorError, match=r"in plan_asked; use users=scripted$"):
        prepare(config(world, "none", ["plan_asked"]))
    assert prepare(config(world, "none", ["price"])).plan.jobs == 3
    assert prepare(config(world, "scripted")).plan.jobs == 3
    assert prepare(config(small_world.make(tmp_path / "silent"), "none")).plan.jobs == 3


def test_families_in_python_count_too(tmp_path: Path):
    world = small_world.make(tmp_path / "world")
    (world / "tasks.py").write_text(
        """
def ask_first(db):
    for name in ("Chair", "Desk"):
        talks = {"knows": {"day": "On 2026-04-01."}} if name == "Desk" else {}
        steps = [{"ask": "day"}] if talks else []
        yield {"slots": {"name": name}, "key": name, "user": {"says": "Plan {name}.", **talks},
               "gold": [*steps, {"plan_item": {"name": "{name}", "due": "2026-04-01"}}, {"say": "Done."}]}
""",
        "utf-8",
    )
    with pytest.raises(
        OperatorError, match="nobody would answer the agent in ask_first; use users=scripted or "
    ):
        prepare(config(world, "none"))


def test_the_worker_gets_the_user_that_was_named(tmp_path: Path):
    world = talking_world.make(tmp_path / "world")
    scripted = prepare(config(world, "scripted")).worker_setup(b"")
    assert isinstance(build_user(scripted.spec), ScriptedUser)
    nobody = prepare(config(world, "none", ["price"])).worker_setup(b"")
    assert isinstance(build_user(nobody.spec), AbsentUser)
    own = prepare(config(world, f"{__name__}:make_own")).worker_setup(b"")
    user = build_user(own.spec)
    assert user is not None
    assert user.name == f"{__name__}:make_own None"


@pytest.mark.parametrize(
    ("other", "shared"),
    [
        ({}, True),
        ({"name": "n"}, False),
        ({"base_url": "http://127.0.0.1:8/v1"}, False),
        ({"max_retries": 9}, True),
    ],
)
def test_the_agents_gate_stands_before_the_user_too_where_both_are_one_model(
    tmp_path: Path, other: dict[str, object], shared: bool
):
    """Rates and requests at once are an endpoint's: whoever asks it, waits for them."""
    model = {
        "kind": "openai",
        "name": "m",
        "base_url": "http://127.0.0.1:9/v1",
        "api_key_env": None,
    }
    users = {"kind": f"{__name__}:make_own", "model": "user"}
    world = talking_world.make(tmp_path / "world")
    config = from_dict(
        {
            "env": {"path": str(world)},
            "model": model,
            "models": {"user": model | other},
            "users": users,
        }
    )
    gate = LeasedRateLimiter(lambda: None)
    user = build_user(prepare(config).spec, gate)
    assert isinstance(user, Own)
    assert user.model is not None
    assert (user.model.limiter is gate) is shared
    assert shared or user.model.limiter is None


class Own(ScriptedUser):
    def __init__(self, name: str, model: Model | None = None) -> None:
        self.name, self.model = name, model


def make_own(options: dict[str, str], model: Model | None) -> Own:
    """A factory as an extension would have it; it is given the config's section, and the model that
    it names.
    """
    return Own(f"{options['kind']} {None if model is None else model.name}", model)


def test_a_misspelt_user_is_told_the_nearest():
    (line,) = problems({"env": {"name": "shop"}, "users": {"kind": "scriptet"}})
    assert line.startswith(
        "users.kind: unknown user 'scriptet'; did you mean scripted? (known: scripted, simulated,"
        " replay, none; an extension of your own is named package.module:attribute)"
    )


def test_another_user_is_another_dataset():
    old, new = (
        from_dict({"env": {"name": "shop"}, "users": {"kind": kind}})
        for kind in ("scripted", "none")
    )
    assert difference(old, new) == ["users.kind: scripted -> none"]
