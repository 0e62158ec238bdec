"""The runtimes pass the contract tests: inline, Ray, and a stranger's subclass."""

from __future__ import annotations

import pytest

from synth.config import RuntimeConfig
from synth.core.runner.runtimes.base import Runtime, make_runtime
from synth.core.runner.runtimes.inline import InlineRuntime
from synth.plugins import RUNTIMES
from synth.testing import RuntimeConformance

pytestmark = pytest.mark.slow


class TestInline(RuntimeConformance):
    def make(self) -> Runtime:
        return RUNTIMES.load("inline")()


@pytest.mark.ray
class TestRay(RuntimeConformance):
    def make(self) -> Runtime:
        return RUNTIMES.load("ray")()


class Stranger(InlineRuntime):
    name = "stranger"


class TestStranger(RuntimeConformance):
    def make(self) -> Runtime:
        return make_runtime(RuntimeConfig(kind=f"{__name__}:Stranger"))
