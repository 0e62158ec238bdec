"""Models sit the exam of synth.testing: the expert in process, and the same over real HTTP."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from synth.models.base import Model
from synth.models.openai import OpenAIModel
from synth.models.scripted import ScriptedModel
from synth.models.server import serve
from synth.testing import ModelExam
from synth.types import Task
from tests.e2e.expert_endpoint import Expert


class TestScripted(ModelExam):
    @asynccontextmanager
    async def opened(self, task: Task) -> AsyncGenerator[Model]:
        yield ScriptedModel()


class TestOpenAI(ModelExam):
    @asynccontextmanager
    async def opened(self, task: Task) -> AsyncGenerator[Model]:
        async with serve(Expert([task]), models=("expert",)) as url:
            model = OpenAIModel("expert", url)
            try:
                yield model
            finally:
                await model.aclose()
