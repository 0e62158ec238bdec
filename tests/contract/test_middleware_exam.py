"""Every middleware that ships sits the exam, under options that make it act."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from importlib import import_module
from typing import Any

from synth.agent.middleware import MIDDLEWARE
from synth.agent.middleware.base import MiddlewareHome, MiddlewareMaker
from synth.config_agent import MIDDLEWARES, AgentConfig
from synth.testing import MiddlewareExam


def options(name: str, **changed: Any) -> Mapping[str, Any]:
    return {**asdict(getattr(AgentConfig(), name)), **changed}


class Shipped(MiddlewareExam):
    name = ""

    def make(self, options: Mapping[str, Any], home: MiddlewareHome) -> MiddlewareMaker:
        module, _, attribute = MIDDLEWARE[self.name].partition(":")
        return getattr(import_module(module), attribute)(options, home)


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


def test_the_table_and_the_config_name_the_same():
    assert set(MIDDLEWARES) == set(MIDDLEWARE)
