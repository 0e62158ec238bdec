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
from synth.types import Completion, Delta, Message, Task

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

    async def play(
        self, model: Model, task: Task, heard: list[list[Delta]] | None = None
    ) -> tuple[list[Message], list[Completion]]:
        """Work on the task until a turn without calls; every message and completion. ``heard`` gets what was told meanwhile."""
        memory = ConversationMemory(
            [{"role": "system", "content": task.system}, {"role": "user", "content": task.prompt}]
        )
        conversation: Conversation = model.start(task, TOOLS, seed=1)
        completions: list[Completion] = []
        for _ in range(MAX_TURNS):
            shown = copy.deepcopy(memory.messages)
            if heard is None:
                completion = await conversation.complete(memory.messages)
            else:
                heard.append([])
                completion = await conversation.complete(memory.messages, heard[-1].append)
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

    async def test_a_listener_changes_nothing_and_hears_what_is_said(self) -> None:
        """A model may tell nothing while it answers; what it tells, put together, is its answer."""
        async with self.opened(exam_task(4)) as model:
            alone, _ = await self.play(model, exam_task(4))
            heard: list[list[Delta]] = []
            messages, completions = await self.play(model, exam_task(4), heard)
            assert [_unnamed(each) for each in messages] == [_unnamed(each) for each in alone]
            for each, deltas in zip(completions, heard, strict=True):
                assert {delta.kind for delta in deltas} <= {"content", "reasoning", "tool_call"}
                if deltas:
                    assert _joined(deltas, "content") == each.content
                    assert _joined(deltas, "reasoning") == (each.reasoning_content or "")
                    assert _joined(deltas, "tool_call") == "".join(f"{c.name}{c.arguments}" for c in each.tool_calls)

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


def _joined(deltas: Sequence[Delta], kind: str) -> str:
    return "".join(each.text for each in deltas if each.kind == kind)


def _unnamed(message: Message) -> Message:
    """A message without the ids of its calls, which may be drawn anew each time."""
    calls = [call["function"] for call in message.get("tool_calls", ())]
    return {"role": message["role"], "content": message["content"], "calls": calls}


def answered(call: ToolCall) -> ToolOutcome:
    """The exam's one tool."""
    number = json.loads(call.arguments)["number"]
    result = ToolResult({"result": 2 * number})
    return ToolOutcome(call, result, result.content())
