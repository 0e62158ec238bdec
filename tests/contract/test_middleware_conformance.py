"""Every middleware that ships sits the exam, under options that make it act."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from synth.core.config.agent import AgentConfig
from synth.middleware import MiddlewareHome, MiddlewareMaker
from synth.plugins import MIDDLEWARES
from synth.testing import MiddlewareConformance


def options(name: str, **changed: Any) -> Any:
    return replace(getattr(AgentConfig(), name), **changed)


class Shipped(MiddlewareConformance):
    name = ""

    def make(self, options: Mapping[str, Any], home: MiddlewareHome) -> MiddlewareMaker:
        return MIDDLEWARES.load(self.name)(options, home)


class TestLogging(Shipped):
    name = "logging"
    options = options("logging", level="debug", contents=True)


class TestApproval(Shipped):
    name = "approval"
    options = options("approval", mode="strict")


class TestRetry(Shipped):
    name = "retry"
    options = options("retry")


class TestFaults(Shipped):
    name = "faults"
    options = options("faults", rate=0.5, slow_s=0.001)


class TestCompaction(Shipped):
    name = "compaction"
    options = options("compaction", threshold_tokens=200, keep_turns=1)


class TestOffload(Shipped):
    name = "offload"
    options = options("offload", max_chars=500, head_chars=100, tail_chars=50)


def test_each_middleware_that_ships_has_a_section_of_the_config():
    config = AgentConfig()
    for name, extension in ((name, MIDDLEWARES.load(name)) for name in MIDDLEWARES.builtin):
        assert type(getattr(config, name)) is extension.Options
