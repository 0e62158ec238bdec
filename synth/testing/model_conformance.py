"""Contract tests of :class:`synth.model.Model`, on a small task."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from envs.types import ToolCall, ToolOutcome, ToolResult
from synth.core.agent.memory import ConversationMemory
from synth.core.types.steps import CallStep, ReplyStep
from synth.model import Completion, Conversation, Delta, Model
from synth.task import Message, Task

TOOLS: Sequence[object] = (
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


def _exam_task(number: int) -> Task:
    """Return a task: double a number with the tool, twice, and say the result."""
    return Task(
        id=f"double-{number}",
        family="double",
        env="exam",
        prompt=f"Double {number} with the tool, then double the result,"
        " then tell me what came out.",
        system="Use the tool for every doubling.",
        gold=[
            CallStep("double", {"number": number}, {"once": "$.result"}),
            CallStep("double", {"number": {"$": "once"}}, {"twice": "$.result"}),
            ReplyStep({"$text": ["It is ", {"$": "twice"}, "."]}),
        ],
    )


class ModelConformance(ABC):
    """Contract tests of a model. Subclass it as ``Test...`` and open the model."""

    @abstractmethod
    def opened(self, task: Task) -> AbstractAsyncContextManager[Model]:
        """Open the model, ready to work on tasks like this one (an endpoint may need to know
        them).
        """

    async def play(
        self, model: Model, task: Task, heard: list[list[Delta]] | None = None
    ) -> tuple[list[Message], list[Completion]]:
        """Work on the task until a turn without calls. Returns every message and completion.

        ``heard`` receives the deltas of each turn.
        """
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
        async with self.opened(_exam_task(4)) as model:
            assert model.name
            assert all(isinstance(warning, str) for warning in await model.preflight())

    async def test_it_calls_tools_reads_their_results_and_answers_in_words(self) -> None:
        async with self.opened(_exam_task(4)) as model:
            messages, completions = await self.play(model, _exam_task(4))
            calls = [call for completion in completions for call in completion.tool_calls]
            assert [json.loads(call.arguments) for call in calls] == [{"number": 4}, {"number": 8}]
            assert "16" in messages[-1]["content"]

    async def test_a_completion_is_plain_data(self) -> None:
        async with self.opened(_exam_task(4)) as model:
            _, completions = await self.play(model, _exam_task(4))
            for completion in completions:
                assert isinstance(completion.content, str)
                assert all(isinstance(call.arguments, str) for call in completion.tool_calls)
                assert completion.cost_usd is None or completion.cost_usd >= 0
                assert copied(completion) == completion

    async def test_a_listener_changes_nothing_and_hears_what_is_said(self) -> None:
        """A model may send no deltas; the deltas that it sends, joined, are its answer."""
        async with self.opened(_exam_task(4)) as model:
            alone, _ = await self.play(model, _exam_task(4))
            heard: list[list[Delta]] = []
            messages, completions = await self.play(model, _exam_task(4), heard)
            assert [_unnamed(message) for message in messages] == [
                _unnamed(message) for message in alone
            ]
            for completion, deltas in zip(completions, heard, strict=True):
                assert {delta.kind for delta in deltas} <= {"content", "reasoning", "tool_call"}
                if deltas:
                    assert _joined(deltas, "content") == completion.content
                    assert _joined(deltas, "reasoning") == (completion.reasoning_content or "")
                    assert _joined(deltas, "tool_call") == "".join(
                        f"{c.name}{c.arguments}" for c in completion.tool_calls
                    )

    async def test_calls_of_one_rollout_have_distinct_ids(self) -> None:
        async with self.opened(_exam_task(4)) as model:
            _, completions = await self.play(model, _exam_task(4))
            ids = [call.id for completion in completions for call in completion.tool_calls]
            assert len(set(ids)) == len(ids)

    async def test_rollouts_beside_each_other_do_not_meet(self) -> None:
        async with self.opened(_exam_task(4)) as model:
            played = await asyncio.gather(*(self.play(model, _exam_task(4)) for _ in range(16)))
            assert len({messages[-1]["content"] for messages, _ in played}) == 1

    async def test_closing_twice_is_safe(self) -> None:
        async with self.opened(_exam_task(4)) as model:
            await model.aclose()
            await model.aclose()


def copied(value: object) -> object:
    """Send a value through pickle, as it travels between processes."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own bytes


def _joined(deltas: Sequence[Delta], kind: str) -> str:
    return "".join(delta.text for delta in deltas if delta.kind == kind)


def _unnamed(message: Message) -> Message:
    """Return a message without the ids of its calls, which may differ each time."""
    calls = [call["function"] for call in message.get("tool_calls", ())]
    return {"role": message["role"], "content": message["content"], "calls": calls}


def answered(call: ToolCall) -> ToolOutcome:
    """Execute a call of the test's one tool."""
    number = json.loads(call.arguments)["number"]
    result = ToolResult({"result": 2 * number})
    return ToolOutcome(call, result, result.content())
