"""A model, a user and a middleware from a module outside of the tree pass the tests of their kind."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from synth.config import from_dict, problems
from synth.core.config.options import load_extension, options_for
from synth.core.runner.build import build_model, build_user
from synth.errors import ConfigProblems, OperatorError
from synth.middleware import MiddlewareHome, MiddlewareMaker
from synth.model import Model, Sampling
from synth.plugins import MIDDLEWARES, MODELS, USERS
from synth.prepare import prepare
from synth.task import Task
from synth.testing import MiddlewareConformance, ModelConformance, UserConformance
from synth.user import User, UserRole
from tests.unit import talking_world

MODULE = '''
from dataclasses import dataclass
from pydantic import BaseModel
from synth.middleware import AgentMiddleware, MiddlewareInstance
from synth.core.models.scripted.expert import ScriptedModel
from synth.core.users.scripted.user import ScriptedUser


class PatientModel(ScriptedModel):
    """An expert with a schedule of temperatures."""

    asks_endpoint = False

    @dataclass(frozen=True)
    class Options:
        temperature_schedule: list[float]
        name: str = "patient"

    def __init__(self, options, sampling, api_key):
        super().__init__(options.name)
        self.schedule = options.temperature_schedule


class PoliteUser(ScriptedUser):
    asks_model = False

    class Options(BaseModel):
        courtesy: int = 1

    def __init__(self, options, model):
        super().__init__()
        self.courtesy = options.courtesy


@dataclass(frozen=True)
class CountOptions:
    most: int


class Counter(AgentMiddleware):
    def __init__(self, options):
        self.options = options


def count(options, home):
    return MiddlewareInstance(lambda: Counter(options))


count.Options = CountOptions
'''


@pytest.fixture(autouse=True)
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "stranger_module.py").write_text(MODULE, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "stranger_module"
    sys.modules.pop("stranger_module", None)


class TestModel(ModelConformance):
    @asynccontextmanager
    async def opened(self, task: Task) -> AsyncGenerator[Model]:
        factory = MODELS.load("stranger_module:PatientModel")
        options = options_for(factory, {}, {"temperature_schedule": [1, 0.5]}, "model.options")
        yield factory(options, Sampling(), None)


class TestUser(UserConformance):
    @asynccontextmanager
    async def opened(self, role: UserRole) -> AsyncGenerator[User]:
        factory = USERS.load("stranger_module:PoliteUser")
        yield factory(options_for(factory, {}, {}, "users.options"), None)


class TestMiddleware(MiddlewareConformance):
    options: Any = None

    def make(self, options: Any, home: MiddlewareHome) -> MiddlewareMaker:
        factory = MIDDLEWARES.load("stranger_module:count")
        return factory(options_for(factory, {}, {"most": 3}, "agent.options"), home)


def config(world: Path, **sections: dict[str, Any]) -> dict[str, Any]:
    return {
        "env": {"path": str(world)},
        "tasks": {"count": 2},
        "model": {
            "kind": "stranger_module:PatientModel",
            "options": {"temperature_schedule": [1.0, 0.2]},
        },
        "users": {"kind": "stranger_module:PoliteUser", "options": {"courtesy": 7}},
        "agent": {
            "middleware": ["stranger_module:count"],
            "options": {"stranger_module:count": {"most": 2}},
        },
    } | sections


def test_a_run_takes_them_with_typed_options(tmp_path: Path):
    world = talking_world.make(tmp_path / "world")
    chosen = from_dict(config(world, model=config(world)["model"] | {"name": "mine"}))
    settings = prepare(chosen).spec
    model: Any = build_model(settings.model)
    user: Any = build_user(settings)
    assert (model.name, model.schedule, user.courtesy) == ("mine", [1.0, 0.2], 7)
    (middleware,) = settings.middlewares
    assert middleware.options.most == 2
    assert settings.model.api_key is None  # asks_endpoint is False: no variable has to be set
    assert not settings.asks_endpoint


@pytest.mark.parametrize(
    ("section", "message"),
    [
        (
            {
                "model": {
                    "kind": "stranger_module:PatientModel",
                    "options": {"temperature_schedule": 3},
                }
            },
            "model.options.temperature_schedule: must be a list, not 3",
        ),
        (
            {
                "model": {
                    "kind": "stranger_module:PatientModel",
                    "options": {"temperature_schedule": [], "temperture": 1},
                }
            },
            "model.options.temperture: unknown key; did you mean temperature_schedule?",
        ),
        (
            {"users": {"kind": "stranger_module:PoliteUser", "options": {"courtesy": "much"}}},
            "users.options.courtesy: ",
        ),
        (
            {
                "agent": {
                    "middleware": ["stranger_module:count"],
                    "options": {"stranger_module:count": {"most": "a"}},
                }
            },
            "agent.options.stranger_module:count.most: must be a whole number, not 'a'",
        ),
        (
            {"model": {"kind": "stranger_module:PatientModel"}},
            "model.options.temperature_schedule: is required",
        ),
        ({"users": {"options": {"a": 1}}}, "users.options.a: unknown key (known: none)"),
        ({"model": {"options": {"a": 1}}}, "model.options.a: unknown key (known: name, "),
    ],
)
def test_wrong_options_are_refused_by_their_key(
    tmp_path: Path, section: dict[str, Any], message: str
):
    world = talking_world.make(tmp_path / "world")
    given = from_dict(config(world, **section))
    with pytest.raises(ConfigProblems) as refused:
        prepare(given)
    assert any(line.startswith(message) for line in refused.value.problems), refused.value.problems


def test_an_extension_that_cannot_be_imported_is_refused_by_its_key(tmp_path: Path):
    with pytest.raises(OperatorError, match=r"^model\.kind: 'stranger_module:Nothing': "):
        load_extension(MODELS, "stranger_module:Nothing", "model.kind")
    world = talking_world.make(tmp_path / "world")
    with pytest.raises(OperatorError, match=r"^agent\.middleware: "):
        prepare(from_dict(config(world, agent={"middleware": ["nowhere_at_all:make"]})))


def test_a_misspelt_short_name_is_refused_with_the_nearest():
    for section, key in (("model", "model.kind"), ("users", "users.kind")):
        (line,) = problems({"env": {"name": "shop"}, section: {"kind": "scriptid"}})
        assert line.startswith(f"{key}: unknown ")
        assert "did you mean scripted?" in line
    (line,) = problems({"env": {"name": "shop"}, "agent": {"middleware": ["loging"]}})
    assert "did you mean logging?" in line
