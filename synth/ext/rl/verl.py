"""The tasks of a run as an agent loop of verl.

verl is installed beside synth, and imported here: nothing else of synth imports this module. A file
that ``actor_rollout_ref.rollout.agent.agent_loop_config_path`` names tells verl of it::

    - name: synth
      _target_: synth.ext.rl.verl.VerlAgentLoop
      run: out/first

The rows come from ``synth export out/first --to verl --option agent=synth``.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUntypedBaseClass=false, reportUnknownParameterType=false

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from uuid import uuid4

from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopMetrics, AgentLoopOutput
from verl.utils.profiler import simple_timer

from envs.errors import SandboxError
from envs.tools.toolbox import parse_arguments
from envs.types import ToolResult
from synth.core.api.episodes import RecordedTasks
from synth.episode import Episode, Score
from synth.errors import OperatorError
from synth.ext.rl.token_answers import message_of
from synth.task import Message

_log = logging.getLogger(__name__)


@dataclass
class _Rollout:
    """The tokens of a rollout, prompt and response. ``mask`` is 1 for the model's; it covers
    the response, as ``logprobs`` does, which is None where the engine gives none.
    """

    request: str
    sampling: Mapping[str, Any]
    length: int
    """Of the response, at most."""
    tokens: list[int]
    mask: list[int] = field(default_factory=list)
    logprobs: list[float] | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    """Spent on generation, tools and judging."""
    extra: dict[str, Any] = field(default_factory=dict)
    """The engine's remarks on its answers, such as the versions of the policy."""

    @property
    def full(self) -> bool:
        return len(self.mask) >= self.length

    @property
    def prompt(self) -> list[int]:
        return self.tokens[: len(self.tokens) - len(self.mask)]

    @property
    def response(self) -> list[int]:
        return self.tokens[len(self.prompt) :][: self.length]


class VerlAgentLoop(AgentLoopBase):
    """Plays the task of a row in a sandbox of its own and returns the verifiers' reward.

    ``run`` is the run directory that the rows were exported from, ``trust=True`` executes its world
    even if it was not made on this machine. Calls are read from the model's text in any form that
    ``agent.text_calls`` knows. Words without a call go to the scripted user, whose answer is a turn
    of its own. Raises :class:`OperatorError` for a row without a task of that run.
    """

    def __init__(self, *args: Any, run: str, trust: bool = False, **more: Any) -> None:
        super().__init__(*args, **more)
        self._tasks = _tasks_of(run, trust)

    async def run(
        self, sampling_params: dict[str, Any], priority: int = 0, **row: Any
    ) -> AgentLoopOutput:
        """Play one rollout; ``row`` has the columns of the exported file."""
        task_id = (row.get("extra_info") or {}).get("task_id")
        if not isinstance(task_id, str):
            raise OperatorError(
                "a row has no extra_info.task_id: export the rows with"
                " `synth export RUN --to verl --option agent=synth`"
            )
        request = f"det-{int(priority)}" if self.rollout_config.full_determinism else uuid4().hex
        with await asyncio.to_thread(self._tasks.open, task_id) as episode:
            tokens = await self.ct_build_initial_tokens(episode.messages, tools=episode.tools)
            length = self.rollout_config.response_length
            rollout = _Rollout(request, sampling_params, length, tokens)
            score = Score((), None)
            try:
                await self._play(episode, rollout)
                with simple_timer("compute_score", rollout.seconds):
                    score = await episode.scored()
            except SandboxError as error:  # a lost server, say, must not end the training
                _log.warning("task %s: a rollout is not judged: %s", task_id, error)
        return _output(episode, rollout, score)

    async def _play(self, episode: Episode, rollout: _Rollout) -> None:
        """Play until the conversation or the room for it is over."""
        most = self.rollout_config.multi_turn.max_assistant_turns
        messages = list(episode.messages)
        turns = 0
        while not episode.done:
            with simple_timer("generate_sequences", rollout.seconds):
                answer = await self.server_manager.generate(
                    request_id=rollout.request,
                    prompt_ids=rollout.tokens,
                    sampling_params=dict(rollout.sampling),
                )
            turns += 1
            last = answer.extra_fields.get("max_global_steps")
            rollout.extra = answer.extra_fields | rollout.extra | {"max_global_steps": last}
            await self._add_answer(rollout, answer)
            if rollout.full:
                break  # its end may be cut off
            message = message_of(self.tokenizer, answer.token_ids, episode.infos, turns)
            with simple_timer("tool_calls", rollout.seconds):
                follow = await episode.step(message)
            messages.append(_for_template(message))
            if episode.done or (most and turns >= most):
                break
            await self._add_context(rollout, messages, follow, episode.tools)
            messages += follow
            if rollout.full:
                break

    async def _add_answer(self, rollout: _Rollout, answer: Any) -> None:
        logprobs = rollout.logprobs
        if logprobs is None and answer.log_probs and not rollout.mask:
            logprobs = []
        merged, rollout.mask, rollout.logprobs = await self.ct_merge_assistant_token(
            rollout.tokens,
            answer.token_ids,
            rollout.mask,
            logprobs,
            assistant_logprobs=None if logprobs is None else answer.log_probs,
        )
        rollout.tokens = merged.token_ids

    async def _add_context(
        self,
        rollout: _Rollout,
        messages: Sequence[Message],
        follow: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
    ) -> None:
        """Add the results of calls, or the user's words, in the form of the chat template."""
        merged, rollout.mask, rollout.logprobs = await self.ct_merge_context_msg(
            list(messages),
            [*messages, *follow],
            rollout.tokens,
            rollout.mask,
            rollout.logprobs,
            tools=list(tools),
        )
        rollout.tokens = merged.token_ids


@lru_cache(maxsize=4)
def _tasks_of(run: str, trust: bool) -> RecordedTasks:
    """The tasks of a run, opened once in a process."""
    return RecordedTasks(run, trust=trust)


def _for_template(message: Mapping[str, Any]) -> dict[str, Any]:
    """The message with its arguments as objects, as chat templates want them. Arguments that are no
    JSON object become {}.
    """
    if "tool_calls" not in message:
        return dict(message)
    calls: list[dict[str, Any]] = []
    for call in message["tool_calls"]:
        arguments = parse_arguments(call["function"]["arguments"])
        function = {
            "name": call["function"]["name"],
            "arguments": {} if isinstance(arguments, ToolResult) else arguments,
        }
        calls.append({**call, "function": function})
    return {**message, "tool_calls": calls}


def _output(episode: Episode, rollout: _Rollout, score: Score) -> AgentLoopOutput:
    """The rollout as verl takes it. One that a verifier could not judge trains nothing: no token of
    it is the model's.
    """
    judged = score.reward is not None
    mask = rollout.mask[: rollout.length]
    logprobs = rollout.logprobs
    return AgentLoopOutput(
        prompt_ids=rollout.prompt,
        response_ids=rollout.response,
        response_mask=mask if judged else [0] * len(mask),
        response_logprobs=None if logprobs is None else logprobs[: rollout.length],
        reward_score=score.reward if judged else 0.0,
        num_turns=sum(message["role"] != "system" for message in episode.messages),
        metrics=AgentLoopMetrics(**rollout.seconds),
        extra_fields={
            **rollout.extra,
            "turn_scores": [],
            "tool_rewards": [],
            "reward_extra_info": {"solved": float(score.solved), "judged": float(judged)},
        },
    )
