"""Which user a run has: by name or by path, and what is refused before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.config import difference, from_dict, problems
from synth.errors import OperatorError
from synth.models.base import Model
from synth.preparation import prepare, worker_setup
from synth.users.scripted import ScriptedUser
from synth.worker import make_user
from tests.unit import small_world, talking_world


def config(world: Path, kind: str, families: list[str] | None = None):
    return from_dict(
        {"env": {"path": str(world)}, "users": {"kind": kind}, "tasks": {"count": 3, "families": families}}
    )


def test_without_a_user_families_that_need_one_are_refused_with_what_to_say(tmp_path: Path):
    world = talking_world.make(tmp_path / "world")
    with pytest.raises(OperatorError) as refused:
        prepare(config(world, "none"))
    assert str(refused.value) == (
        "users=none: nobody would answer the agent in plan_asked, plan_declined; "
        "say users=scripted or 'tasks.families=[price]'"
    )
    with pytest.raises(OperatorError, match=r"in plan_asked; say users=scripted$"):
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
    with pytest.raises(OperatorError, match="nobody would answer the agent in ask_first; say users=scripted or "):
        prepare(config(world, "none"))


def test_the_worker_gets_the_user_that_was_named(tmp_path: Path):
    world = talking_world.make(tmp_path / "world")
    scripted = worker_setup(prepare(config(world, "scripted")), b"")
    assert isinstance(make_user(scripted), ScriptedUser)
    nobody = worker_setup(prepare(config(world, "none", ["price"])), b"")
    assert make_user(nobody) is None
    own = worker_setup(prepare(config(world, f"{__name__}:make_own")), b"")
    user = make_user(own)
    assert user is not None
    assert user.name == f"{__name__}:make_own None"


class Own(ScriptedUser):
    def __init__(self, name: str) -> None:
        self.name = name


def make_own(options: dict[str, str], model: Model | None) -> Own:
    """A factory as an extension would have it; it is given the config's section, and the model that it names."""
    return Own(f"{options['kind']} {None if model is None else model.name}")


def test_a_misspelt_user_is_told_the_nearest():
    (line,) = problems({"env": {"name": "shop"}, "users": {"kind": "scriptet"}})
    assert line.startswith(
        "users.kind: must be scripted, simulated, replay, none or package.module:attribute, not 'scriptet'"
    )
    assert "scripted?" in line


def test_another_user_is_another_dataset():
    old, new = (from_dict({"env": {"name": "shop"}, "users": {"kind": kind}}) for kind in ("scripted", "none"))
    assert difference(old, new) == ["users.kind: scripted -> none"]
