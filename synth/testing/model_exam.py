"""What :class:`synth.models.base.Model` promises, as questions about a small task that it has to work on."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from envs.types import ToolCall, ToolOutcome, ToolResult
from synth.agent.memory import ConversationMemory
from synth.models.base import Conversation, Model
from synth.types import Completion, Message, Task

Json = Any

TOOLS: Sequence[Json] = (
    {
        "type": "function",
        "function": {
            "name": "double",
            "description": "Give twice a number.",
            "parameters": {
                "type": "object",
                "properties": {"number": {"type": "integer", "description": "The number."}},
                "required": ["number"],
                "additionalProperties": False,
            },
        },
    },
)

MAX_TURNS = 8


def exam_task(number: int) -> Task:
    """Double a number by the tool, twice, and say the result."""
    return Task(
        id=f"double-{number}",
        family="double",
        env="exam",
        prompt=f"Double {number} with the tool, then double the result, then tell me what came out.",
        system="Use the tool for every doubling.",
        gold=[
            {
                "do": "call",
                "tool": "double",
                "arguments": {"number": number},
                "save": {"once": "$.result"},
                "fails": None,
            },
            {
                "do": "call",
                "tool": "double",
                "arguments": {"number": {"$": "once"}},
                "save": {"twice": "$.result"},
                "fails": None,
            },
            {"do": "say", "text": {"$text": ["It is ", {"$": "twice"}, "."]}},
        ],
    )


class ModelExam:
    """Subclass it and say how the model is opened."""

    @abstractmethod
    def opened(self, task: Task) -> AbstractAsyncContextManager[Model]:
        """The model, ready to work on tasks like this one (an endpoint may need to know them)."""
        raise AssertionError("an exam says how its model is opened")

    async def play(self, model: Model, task: Task) -> tuple[list[Message], list[Completion]]:
        """Work on the task until a turn without calls; every message and completion."""
        memory = ConversationMemory(
            [{"role": "system", "content": task.system}, {"role": "user", "content": task.prompt}]
        )
        conversation: Conversation = model.start(task, TOOLS, seed=1)
        completions: list[Completion] = []
        for _ in range(MAX_TURNS):
            shown = copy.deepcopy(memory.messages)
            completion = await conversation.complete(memory.messages)
            assert memory.messages == shown, "a model changed the messages that it was shown"
            completions.append(completion)
            calls = memory.add_completion(completion)
            for call in calls:
                memory.add_result(answered(call), answered(call).content)
            if not calls:
                return memory.messages, completions
        raise AssertionError(f"no answer within {MAX_TURNS} turns")

    async def test_it_has_a_name_and_its_preflight_gives_warnings(self) -> None:
        async with self.opened(exam_task(4)) as model:
            assert model.name
            assert all(isinstance(each, str) for each in await model.preflight())

    async def test_it_calls_tools_reads_their_results_and_answers_in_words(self) -> None:
        async with self.opened(exam_task(4)) as model:
            messages, completions = await self.play(model, exam_task(4))
            calls = [call for each in completions for call in each.tool_calls]
            assert [json.loads(each.arguments) for each in calls] == [{"number": 4}, {"number": 8}]
            assert "16" in messages[-1]["content"]

    async def test_a_completion_is_plain_data(self) -> None:
        async with self.opened(exam_task(4)) as model:
            _, completions = await self.play(model, exam_task(4))
            for each in completions:
                assert isinstance(each.content, str)
                assert all(isinstance(call.arguments, str) for call in each.tool_calls)
                assert each.cost_usd is None or each.cost_usd >= 0
                assert pickle.loads(pickle.dumps(each)) == each  # noqa: S301 - our own bytes

    async def test_calls_of_one_rollout_have_distinct_ids(self) -> None:
        async with self.opened(exam_task(4)) as model:
            _, completions = await self.play(model, exam_task(4))
            ids = [call.id for each in completions for call in each.tool_calls]
            assert len(set(ids)) == len(ids)

    async def test_rollouts_beside_each_other_do_not_meet(self) -> None:
        async with self.opened(exam_task(4)) as model:
            played = await asyncio.gather(*(self.play(model, exam_task(4)) for _ in range(16)))
            assert len({messages[-1]["content"] for messages, _ in played}) == 1

    async def test_closing_twice_is_safe(self) -> None:
        async with self.opened(exam_task(4)) as model:
            await model.aclose()
            await model.aclose()


def answered(call: ToolCall) -> ToolOutcome:
    """The exam's one tool."""
    number = json.loads(call.arguments)["number"]
    result = ToolResult({"result": 2 * number})
    return ToolOutcome(call, result, result.content())
