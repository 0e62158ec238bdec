"""A task to play: messages, tools, ``await call(...)``, and a score that the player cannot reach into.

The rollout is built on it; so are notebooks and adapters for reinforcement learning::

    with synth.open("ehr_db", family="record_heart_rate") as episode:
        print(episode.messages, episode.tools)
        outcome = await episode.call("find_patients", {"name": "Ada"})
        print(episode.score().reward)
"""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import TracebackType
from typing import Any, Self

from envs.database import DatabaseExecutableEnvironment
from envs.folder import World
from envs.sandboxes.base import Template
from envs.tool import Tool
from envs.toolbox import Toolbox
from envs.types import Limits, Pins, StateDiff, ToolCall, ToolOutcome, ToolResult
from synth.canonical import canonical
from synth.types import Message, Task, Verdict
from synth.verifiers import CallRecord, Evidence, judge, reward

Json = Any

SUBMIT = "submit"
SUBMIT_DESCRIPTION = "Hand in the final answer, once, when the work is done. Then reply to the user in words."


@dataclass(frozen=True)
class Score:
    """The verdicts and what they come to; ``reward`` is None where a verifier could not judge."""

    verdicts: Sequence[Verdict]
    reward: float | None


class Episode:
    """One task on one fresh sandbox. Single use; close it, or use it as a context manager."""

    def __init__(
        self, task: Task, world: World, template: Template, limits: Limits | None = None, *, unordered: bool = False
    ) -> None:
        self.task = task
        self.messages: list[Message] = [{"role": "system", "content": task.system}] if task.system else []
        self.messages.append({"role": "user", "content": task.prompt})
        self.submitted: Mapping[str, Json] | None = None
        self.calls: list[CallRecord] = []
        self._template = template
        self._environment: DatabaseExecutableEnvironment = world.environment(
            template, Pins(task.now, task.seed), limits, unordered=unordered
        )
        self._submit = None if task.answer is None else _submit_box(canonical(task.answer))
        shown: list[Tool] = [*self._environment.tools, *(self._submit.tools if self._submit else ())]
        self.tools: list[Json] = [each.to_openai() for each in shown]
        self.state_hash_before = self._environment.state_hash()

    async def call(self, call: ToolCall | str, arguments: Mapping[str, Json] | None = None) -> ToolOutcome:
        """Execute a tool call, given as the model emitted it or as a name with arguments.

        Raises :class:`envs.errors.ExecutorError` for a bug of the world's author and
        :class:`envs.errors.SandboxError` for broken infrastructure.
        """
        if isinstance(call, str):
            call = ToolCall.of(call, arguments or {}, f"call_{len(self.calls)}")
        if self._submit is not None and call.name == SUBMIT:
            outcome, read_only = self._hand_in(call, self._submit), True
        else:
            environment = self._environment
            known = call.name in environment.toolbox
            read_only = known and environment.toolbox[call.name].read_only
            outcome = (
                environment.call(call) if environment.in_place else await asyncio.to_thread(environment.call, call)
            )
        result = outcome.result
        self.calls.append(
            CallRecord(call.name, outcome.arguments, result.ok, result.category, read_only, outcome.changes)
        )
        return outcome

    def _hand_in(self, call: ToolCall, box: Toolbox) -> ToolOutcome:
        parsed = box.parse(call)
        if isinstance(parsed, ToolResult):
            return ToolOutcome(call, parsed, parsed.content())
        arguments = parsed[1]
        if self.submitted is not None:
            result = ToolResult.failure("An answer was handed in already; the first one counts.", category="duplicate")
        else:
            self.submitted = copy.deepcopy(arguments)  # whoever keeps the outcome cannot change the answer
            result = ToolResult({"status": "received"})
        return ToolOutcome(call, result, result.content(), arguments)

    def diff(self) -> StateDiff:
        """The net row changes so far."""
        return self._environment.diff()

    def state_hash(self) -> str:
        return self._environment.state_hash()

    def evidence(self) -> Evidence:
        """What the verifiers judge."""
        return Evidence(self.task, self.diff().changes, self.calls, self.submitted, self._template.tables)

    def score(self) -> Score:
        """Judge the present state. Asking changes nothing, and nothing of it is shown to the player."""
        verdicts = judge(self.evidence())
        return Score(verdicts, reward(verdicts))

    def close(self) -> None:
        self._environment.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@lru_cache(maxsize=256)
def _submit_box(answer: str) -> Toolbox:
    """The submit tool of an answer's schema (as canonical JSON), its validator compiled once per family."""
    schema: dict[str, Json] = json.loads(answer)

    def never(arguments: dict[str, Json], db: object) -> ToolResult:
        raise AssertionError("submit is handled by the episode")

    return Toolbox([Tool(SUBMIT, SUBMIT_DESCRIPTION, schema, never, read_only=True)])
