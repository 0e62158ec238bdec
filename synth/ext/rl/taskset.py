"""Tasks of a world as a taskset of verifiers 1, with the harness that plays them.

verifiers is installed beside synth; only ``synth_worlds.py`` imports this module. ``overrides`` are
written as for ``synth run``::

    vf-eval synth-worlds --model my-model --env.taskset.overrides '["env=shop", "tasks.count=20"]'
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import verifiers.v1 as vf
from pydantic import Field

from synth.core.dataset.sanitize import sanitize
from synth.core.models.openai.endpoint import Endpoint
from synth.core.models.openai.model import OpenAIModel
from synth.core.renaming.opening import opening_of, rules_of
from synth.errors import ModelError, OperatorError
from synth.ext.rl.planned_tasks import PlannedTasks

LONGEST_ANSWER_S = 3600.0  # verifiers has a time-out for the rollout


class _SynthData(vf.TaskData):
    """A task, and the overrides that its process plans it by."""

    id: str
    overrides: list[str]


class SynthTask(vf.Task[_SynthData]):
    """A task, rewarded by the verdict on the end of its sandbox."""

    @property
    def key(self) -> str:
        return self.data.id

    @vf.reward
    async def synth(self, trace: vf.Trace) -> float:
        """The reward. Raises :class:`OperatorError` for a rollout that is not judged."""
        judged = trace.info.get("synth")
        if judged is None:
            raise OperatorError(
                "no verdict: no completion came, or --env.agent.harness.id is not synth-worlds"
            )
        if judged["reward"] is None:
            raise OperatorError(f"a verifier could not judge: {judged['verdicts']}")
        return judged["reward"]

    @vf.metric
    async def verdicts(self, trace: vf.Trace) -> dict[str, float]:
        """Each verifier's score."""
        found = trace.info.get("synth", {}).get("verdicts", ())
        return {one["verifier"]: one["score"] for one in found if one["score"] is not None}


class _SynthConfig(vf.TasksetConfig):
    """``overrides`` as ``synth run`` takes them, such as ``env=shop`` and ``tasks.count=20``."""

    overrides: list[str] = Field(default_factory=list[str])


class SynthTaskset(vf.Taskset[SynthTask, _SynthConfig]):
    """The tasks that ``synth run`` with the same overrides would play."""

    def load(self) -> Iterator[SynthTask]:
        """The tasks in the plan's order. The program ends where the overrides are wrong."""
        overrides = self.config.overrides
        try:
            tasks = _tasks_of(tuple(overrides)).tasks
        except OperatorError as error:
            raise SystemExit(f"error: {error}") from None
        for number, task in enumerate(tasks):
            data = _SynthData(
                idx=number,
                id=task.id,
                name=f"{task.family} {task.id}",
                system_prompt=rules_of(task) or None,
                prompt=opening_of(task)[-1]["content"],
                overrides=overrides,
            )
            yield SynthTask(data, self.config.task)


class SynthHarness(vf.Harness[vf.HarnessConfig]):
    """The agent of ``synth run``, in process; it asks the endpoint of verifiers' interception."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: Any,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: _SynthData,
    ) -> vf.ProgramResult:
        """Play a task and keep its verdicts in ``trace.info``, also where a limit stops it."""
        tasks = _tasks_of(tuple(data.overrides))
        task = await tasks.task(data.id)
        place = Endpoint(ctx.model, endpoint, timeout_s=LONGEST_ANSWER_S, max_retries=2)
        model = OpenAIModel(place, api_key=secret)
        try:
            with tasks.episode(task) as episode:
                agent = episode.agent(model, tasks.limits)
                parts = {"system": data.system_prompt, "user": data.prompt}
                opening = [{"role": key, "content": text} for key, text in parts.items() if text]
                try:
                    await agent.run(opening, episode.say)
                except ModelError:
                    if trace.stop_condition is None:
                        raise
                finally:
                    if agent.so_far is not None and agent.so_far.completions:
                        episode.said = sanitize(agent.so_far.said)[0]
                        score = await episode.scored()
                        trace.info["synth"] = {
                            "stop_reason": agent.so_far.stop_reason,
                            "reward": score.reward,
                            "verdicts": [one.to_json() for one in score.verdicts],
                        }
        finally:
            await model.aclose()
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


class _SynthEnvConfig(vf.SingleAgentEnvConfig):
    """The agent is part of this process, whose runtime is a folder on this machine."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class SynthEnv(vf.SingleAgentEnv, vf.Env[_SynthEnvConfig]):
    """One agent on one task."""


@lru_cache(maxsize=4)
def _tasks_of(overrides: tuple[str, ...]) -> PlannedTasks:
    """The tasks of a plan, made once in a process."""
    return PlannedTasks(overrides)
