"""Models sit the exam of synth.testing: the expert in process, over real HTTP, and out of a
record.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from synth.core.models.emission import completion_event
from synth.core.models.openai.endpoint import Endpoint
from synth.core.models.openai.model import OpenAIModel
from synth.core.models.replay.model import ReplayModel
from synth.core.models.replay.records import Records
from synth.core.models.scripted.expert import ScriptedModel
from synth.ext.serving.openai_server import serve
from synth.model import Model
from synth.task import Task
from synth.testing import ModelConformance
from tests.e2e.expert_endpoint import Expert
from tests.sample_rows import row, write_run


class TestScripted(ModelConformance):
    @asynccontextmanager
    async def opened(self, task: Task) -> AsyncGenerator[Model]:
        yield ScriptedModel()


class TestOpenAI(ModelConformance):
    @asynccontextmanager
    async def opened(self, task: Task) -> AsyncGenerator[Model]:
        async with serve(Expert([task]), models=("expert",)) as url:
            model = OpenAIModel(Endpoint("expert", url))
            try:
                yield model
            finally:
                await model.aclose()


class TestStreamed(ModelConformance):
    @asynccontextmanager
    async def opened(self, task: Task) -> AsyncGenerator[Model]:
        async with serve(Expert([task]), models=("expert",)) as url:
            model = OpenAIModel(Endpoint("expert", url, stream=True))
            try:
                yield model
            finally:
                await model.aclose()


class TestReplay(ModelConformance):
    @asynccontextmanager
    async def opened(self, task: Task) -> AsyncGenerator[Model]:
        with tempfile.TemporaryDirectory() as home:
            messages, completions = await self.play(ScriptedModel(), task)
            events = [completion_event(each).to_json() for each in completions]
            said = row(0, messages=messages, events=events, task_id=task.id, seed=1)
            yield ReplayModel(Records(write_run(Path(home) / "run", [said])))
