"""Tasks of inspect_ai: ``inspect eval synth/shop -T tasks.count=20``, overrides as in a run."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai._util.package import get_installed_package_name
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, execute_tools
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolCall, ToolDef, ToolParams

from envs.errors import EnvsError
from envs.tools.tool import NAME
from envs.types import ToolCall as OwnCall
from synth.core.agent.memory import UNNAMED
from synth.core.config.overrides import override_lines
from synth.core.foundation.shipped import world_names
from synth.core.renaming.opening import opening_of
from synth.episode import Episode
from synth.errors import SynthError
from synth.ext.rl.planned_tasks import PlannedTasks

KINDS = {"system": ChatMessageSystem, "user": ChatMessageUser}
CUT_OFF = {"max_tokens", "model_length", "content_filter"}
PREFIX = "" if get_installed_package_name(PlannedTasks) else "synth/"  # of a checkout


@task(name=f"{PREFIX}world")
def _world(**overrides: Any) -> Task:
    """The tasks that ``synth run`` with these overrides would play."""
    try:
        rollouts = _Rollouts(PlannedTasks(override_lines(overrides)))
    except (SynthError, EnvsError) as error:
        raise PrerequisiteError(f"synth: {error}") from None
    return Task(
        dataset=[_sample(one) for one in rollouts.planned.tasks],
        setup=_sandbox(rollouts),
        solver=_converse(rollouts),
        scorer=_verdicts(rollouts),
        cleanup=rollouts.close,
    )


def _shipped(name: str) -> None:
    @task(name=f"{PREFIX}{name}")
    def shipped(**overrides: Any) -> Task:
        return _world(env=name, **overrides)


for _name in world_names():
    _shipped(_name)


class _Rollouts:
    """The open episodes of an evaluation, by the uuid of their sample's state."""

    def __init__(self, planned: PlannedTasks) -> None:
        self.planned = planned
        self.open: dict[str, tuple[Episode, ExitStack]] = {}

    async def close(self, state: TaskState) -> None:
        self.open.pop(state.uuid, (None, ExitStack()))[1].close()


@solver(name="sandbox")
def _sandbox(rollouts: _Rollouts) -> Solver:
    """Opens the task's sandbox and offers its tools, to any solver."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        proved, held = await rollouts.planned.task(str(state.sample_id)), ExitStack()
        episode = held.enter_context(rollouts.planned.episode(proved))
        rollouts.open[state.uuid] = episode, held
        state.tools = [_tool(episode, **one["function"]).as_tool() for one in episode.tools]
        return state

    return solve


@solver(name="converse")
def _converse(rollouts: _Rollouts) -> Solver:
    """The agent of ``synth run``: its calls go to the world, its words to the scripted user."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        episode, _ = rollouts.open[state.uuid]
        limits = rollouts.planned.limits.for_requests(episode.task.request_count)
        for _ in range(limits.max_turns):
            state = await generate(state, tool_calls="none")
            message, room = state.output.message, limits.max_tool_calls - len(episode.calls)
            if state.output.stop_reason in CUT_OFF or not (message.tool_calls or message.text):
                episode.said = episode.utter(message.text)
                break
            if message.tool_calls:
                episode.utter(message.text)
                for call in message.tool_calls[:room]:
                    if not NAME.fullmatch(call.function):
                        call.function = UNNAMED  # endpoints refuse a history with such a name
                    tool = _tool(episode, call.function, call.function, {}, call)
                    parsed = [replace(call, parse_error=None)]
                    one = ChatMessageAssistant(content="", tool_calls=parsed)
                    state.messages += (await execute_tools([one], [tool])).messages
                if len(message.tool_calls) > room:
                    break
                continue
            if (turn := await episode.say(message.text)).ends:
                break
            state.messages.append(ChatMessageUser(content=turn.text))
        return state

    return solve


@scorer(metrics=[mean(), stderr()], name="verdicts")
def _verdicts(rollouts: _Rollouts) -> Scorer:
    """The reward, NaN without a completion or a verdict; the explanation has the findings."""

    async def score(state: TaskState, target: Target) -> Score:
        judged = await rollouts.open[state.uuid][0].scored()
        said = "\n".join(f"{one.verifier}: {one.score} {one.reason}" for one in judged.verdicts)
        reward = judged.reward if any(one.role == "assistant" for one in state.messages) else None
        return Score(value=float("nan") if reward is None else reward, explanation=said)

    return score


def _sample(one: Any) -> Sample:
    messages = [KINDS[said["role"]](content=said["content"]) for said in opening_of(one)]
    return Sample(input=messages, id=one.id)


def _tool(
    episode: Episode, name: str, description: str, parameters: Any, call: ToolCall | None = None
) -> ToolDef:
    """A tool that answers as the world does, with its own errors; ``call`` is the one it is for."""

    async def run(**kwargs: Any) -> str:
        text = (call and call.parse_error) or json.dumps(kwargs, ensure_ascii=False)
        own = OwnCall(call.id if call else f"call_{len(episode.calls)}", name, text)
        return (await episode.call(own)).result.content(episode.error_style)

    shape = ToolParams.model_validate(parameters or {"additionalProperties": True})
    return ToolDef(run, name, description, shape, max_output=0)
